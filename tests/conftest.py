"""What every test runs under: the number of examples where a property test names none, and no place of the user's."""

from __future__ import annotations

import asyncio
import gc
import inspect
import os
from collections.abc import Generator, Iterator
from functools import wraps
from pathlib import Path

import certifi
import pytest
from hypothesis import HealthCheck, settings

from tests.examples import times
from tests.folders import OF_RUN, folder_of_run, left_behind, own_data_folder

# Nothing that is imported dies: to look through it again and again takes a third of the time of collecting the tests.
gc.disable()

BEGAN_THE_RUN = OF_RUN not in os.environ
FOLDER = folder_of_run()

# How fast examples are made says something of the machine.
SLOW = [HealthCheck.too_slow]
settings.register_profile("ireneo", settings(), max_examples=times(14), deadline=None, suppress_health_check=SLOW)
settings.load_profile("ireneo")

own_data_folder()


def one_certificate() -> Path:
    """A file with the first of the certificates that clients trust: to load all takes each new client 50 ms."""
    path = FOLDER / "one.pem"
    if path.exists():
        return path
    first, end, _ = Path(certifi.where()).read_text(encoding="utf-8").partition("-----END CERTIFICATE-----\n")
    written = FOLDER / f"one.pem.{os.getpid()}"
    written.write_text(first + end, encoding="utf-8")
    return written.replace(path)


# Every server that a test speaks to is on this machine, and none of them uses TLS.
os.environ["SSL_CERT_FILE"] = str(one_certificate())

# To look for plugins of pydantic, of which there are none, takes each process that loads a client of models 0.2 s.
os.environ["PYDANTIC_DISABLE_PLUGINS"] = "1"


# What is told and found must not depend on what embedder whoever runs the tests has set.
os.environ["IRENEO_EMBEDDER"] = "none"


def pytest_collection_finish(session: pytest.Session) -> None:
    """Leave what was imported to itself: to look through it again and again takes a fifth of the time of all tests."""
    gc.freeze()
    gc.enable()
    gc.set_threshold(200_000, 20, 20)


@pytest.fixture
def runner() -> Iterator[asyncio.Runner]:
    """The loop of a test that waits for something, and of its fixtures."""
    with asyncio.Runner() as loop:
        yield loop


@pytest.hookimpl(tryfirst=True)
def pytest_pyfunc_call(pyfuncitem: pytest.Function) -> bool | None:
    """Run a test that waits for something; of a property, each example in a loop of its own."""
    given_test = getattr(pyfuncitem.obj, "hypothesis", None)
    if given_test and inspect.iscoroutinefunction(test := given_test.inner_test):
        given_test.inner_test = wraps(test)(lambda *given, **named: asyncio.run(test(*given, **named)))
    if not inspect.iscoroutinefunction(pyfuncitem.obj):
        return None
    given = inspect.signature(pyfuncitem.obj).parameters
    loop = pyfuncitem._request.getfixturevalue("runner")
    loop.run(pyfuncitem.obj(**{name: pyfuncitem.funcargs[name] for name in given}))
    return True


@pytest.hookimpl(wrapper=True)
def pytest_fixture_setup(
    fixturedef: pytest.FixtureDef[object], request: pytest.FixtureRequest
) -> Generator[None, object, object]:
    """Let a fixture be a coroutine or an asynchronous generator, which runs in the loop of the test."""
    make = fixturedef.func

    def made(**given: object) -> Iterator[object]:
        loop, steps = request.getfixturevalue("runner"), make(**given)

        async def step() -> object:
            return await (anext(steps, None) if inspect.isasyncgen(steps) else steps)

        yield loop.run(step())
        if inspect.isasyncgen(steps):
            loop.run(step())

    if inspect.isasyncgenfunction(make) or inspect.iscoroutinefunction(make):
        fixturedef.func = made
    try:
        return (yield)
    finally:
        fixturedef.func = make


@pytest.hookimpl(trylast=True)
def pytest_sessionfinish(session: pytest.Session, exitstatus: int) -> None:
    """Fail where a test or what it calls left something behind."""
    over = (pytest.ExitCode.OK, pytest.ExitCode.TESTS_FAILED)
    if BEGAN_THE_RUN and exitstatus in over and (left := left_behind(FOLDER)):
        session.exitstatus = pytest.ExitCode.TESTS_FAILED
        print(f"\nleft behind in the folder for temporary files: {', '.join(left)}")
