"""Which workers an address means."""

from __future__ import annotations

import sys
from collections.abc import Mapping
from contextlib import AbstractAsyncContextManager
from typing import TYPE_CHECKING

from ireneo.errors import BadInput, MissingExtra

if TYPE_CHECKING:
    from ireneo.ports.files import Workers

LOCAL, CLUSTER = "local:", "dask://"
"""How the addresses begin."""
MOST_PROCESSES = 256


def open_workers(address: str, module: str, given: Mapping[str, object]) -> AbstractAsyncContextManager[Workers]:
    """Open the workers at an address: each calls `analyse` of a module with a task and with what is `given`.

    The module has `serve` as well, which does that with what comes through a pipe. Raises BadInput, MissingExtra.
    """
    if address.startswith(LOCAL):
        number = address.removeprefix(LOCAL)
        if not number.isdecimal() or not 1 <= int(number) <= MOST_PROCESSES:
            raise BadInput(f"{address} says no number of processes; give {LOCAL}4, say, up to {MOST_PROCESSES}.")
        from ireneo.adapters.fleet.local import local_workers

        # The modules are looked for where this process finds them.
        code = f"import sys; sys.path[:] = {sys.path!r}; from {module} import serve; serve(**{dict(given)!r})"
        return local_workers(int(number), code)
    if not address.startswith(CLUSTER) or not address.removeprefix(CLUSTER).strip("/"):
        raise BadInput(f"{address} is no address of workers; give {LOCAL}4 or {CLUSTER}scheduler:8786.")
    try:
        from ireneo.adapters.fleet.dask import dask_workers
    except ModuleNotFoundError as missing:
        raise MissingExtra(f"{address} needs an extra: pip install 'ireneo[dask]'.") from missing
    server = f"tcp://{address.removeprefix(CLUSTER).strip('/')}"
    called = (
        f"__import__({module!r}, fromlist=['analyse']).analyse(task, {', '.join(f'{name}={name}' for name in given)})"
    )
    return dask_workers(address, server, called, given)
