"""Secrets of many kinds, made when they are asked for: none of them stands in a file, and none opens anything."""

from __future__ import annotations

import base64
import json
import random
import string
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from pathlib import Path

UPPER = string.ascii_uppercase
LOWER = string.ascii_lowercase
DIGITS = string.digits
LETTERS = UPPER + LOWER
WORD = LETTERS + DIGITS
URL_SAFE = WORD + "-_"
BASE64 = WORD + "+/"
HEX = "0123456789abcdef"


@dataclass(frozen=True)
class Planted:
    """A secret as it stands in a text: what may be seen of neither `secrets` afterwards."""

    kind: str
    text: str
    secrets: tuple[str, ...]


Maker = Callable[[random.Random], "tuple[str, tuple[str, ...]]"]


def of(random_: random.Random, alphabet: str, length: int) -> str:
    return "".join(random_.choice(alphabet) for _ in range(length))


def _bare(*parts: str | tuple[str, int]) -> Maker:
    """A token that says by its form what it is, in the middle of a sentence."""

    def make(random_: random.Random) -> tuple[str, tuple[str, ...]]:
        token = "".join(part if isinstance(part, str) else of(random_, *part) for part in parts)
        return f"I called it with {token} and got 401", (token,)

    return make


def _told(text: str, alphabet: str, length: int) -> Maker:
    """A value that only the words before it give away."""

    def make(random_: random.Random) -> tuple[str, tuple[str, ...]]:
        value = of(random_, alphabet, length)
        return text.replace("{}", value), (value,)

    return make


def _pem(label: str, lines: int = 12, *, escaped: bool = False) -> Maker:
    def make(random_: random.Random) -> tuple[str, tuple[str, ...]]:
        body = [of(random_, BASE64, 64) for _ in range(lines)]
        headers = ["", *body] if label.startswith("PGP") else body
        block = "\n".join([f"-----BEGIN {label}-----", *headers, f"-----END {label}-----"])
        return (json.dumps(f"{block}\n")[1:-1] if escaped else f"$ cat key\n{block}\n"), tuple(body)

    return make


def _service_account(random_: random.Random) -> tuple[str, tuple[str, ...]]:
    body = [of(random_, BASE64, 64) for _ in range(10)]
    key = "\n".join(["-----BEGIN PRIVATE KEY-----", *body, "-----END PRIVATE KEY-----", ""])
    held = {"type": "service_account", "project_id": "garden", "private_key_id": of(random_, HEX, 40)}
    return json.dumps({**held, "private_key": key, "client_email": "robot@garden.example"}, indent=2), tuple(body)


def _jwt(random_: random.Random) -> tuple[str, tuple[str, ...]]:
    def sealed(held: object) -> str:
        return base64.urlsafe_b64encode(json.dumps(held).encode()).decode().rstrip("=")

    claims = sealed({"sub": of(random_, DIGITS, 10), "iat": 1767225600})
    signature = of(random_, URL_SAFE, 43)
    head = sealed({"alg": "HS256", "typ": "JWT"})
    return f"cookie session: {head}.{claims}.{signature}", (f"{claims}.{signature}", signature)


def _telegram(random_: random.Random) -> tuple[str, tuple[str, ...]]:
    token = f"{of(random_, '123456789', 10)}:AA{of(random_, URL_SAFE, 33)}"
    return f"curl https://api.telegram.org/bot{token}/getMe", (token,)


def _discord(random_: random.Random) -> tuple[str, tuple[str, ...]]:
    who = base64.b64encode(of(random_, "123456789", 18).encode()).decode().rstrip("=")
    token = f"{who}.{of(random_, WORD, 6)}.{of(random_, URL_SAFE, 38)}"
    return f'client.run("{token}")  # discord bot', (token,)


def _pypi(random_: random.Random) -> tuple[str, tuple[str, ...]]:
    token = "pypi-" + "AgEIcHlwaS5vcmc" + of(random_, URL_SAFE, 140)
    return f"password = {token}", (token,)


def _azure_connection(random_: random.Random) -> tuple[str, tuple[str, ...]]:
    key = of(random_, BASE64, 86) + "=="
    return (
        f"DefaultEndpointsProtocol=https;AccountName=garden;AccountKey={key};EndpointSuffix=core.windows.net",
        (key,),
    )


def _aws_pair(random_: random.Random) -> tuple[str, tuple[str, ...]]:
    name, key = "AKIA" + of(random_, UPPER + "234567", 16), of(random_, BASE64, 40)
    return f"[default]\naws_access_key_id = {name}\naws_secret_access_key = {key}\n", (name, key)


def _aws_environment(random_: random.Random) -> tuple[str, tuple[str, ...]]:
    key, session = of(random_, BASE64, 40), of(random_, BASE64, 180)
    return f"export AWS_SECRET_ACCESS_KEY={key}\nexport AWS_SESSION_TOKEN={session}", (key, session)


def _twilio(random_: random.Random) -> tuple[str, tuple[str, ...]]:
    token = of(random_, HEX, 32)
    return f"TWILIO_ACCOUNT_SID=AC{of(random_, HEX, 32)}\nTWILIO_AUTH_TOKEN={token}", (token,)


def _slack_hook(random_: random.Random) -> tuple[str, tuple[str, ...]]:
    path = f"T{of(random_, UPPER + DIGITS, 10)}/B{of(random_, UPPER + DIGITS, 10)}/{of(random_, WORD, 24)}"
    return "curl -X POST https://hooks.slack.com/" + f"services/{path} -d @-", (path, path.rsplit("/")[-1])


def _discord_hook(random_: random.Random) -> tuple[str, tuple[str, ...]]:
    key = of(random_, URL_SAFE, 68)
    return "https://discord.com/api/" + f"webhooks/{of(random_, '123456789', 18)}/{key}", (key,)


KINDS: dict[str, Maker] = {
    "aws key pair": _aws_pair,
    "aws environment": _aws_environment,
    "aws temporary id": _bare("ASIA", (UPPER + "234567", 16)),
    "github classic": _bare("ghp_", (WORD, 36)),
    "github fine-grained": _bare("github_pat_", (WORD, 22), "_", (WORD, 59)),
    "github app": _bare("ghs_", (WORD, 36)),
    "github oauth": _bare("gho_", (WORD, 36)),
    "gitlab": _bare("glpat-", (URL_SAFE, 20)),
    "slack bot": _bare("xoxb-", (DIGITS, 12), "-", (DIGITS, 12), "-", (WORD, 24)),
    "slack user": _bare("xoxp-", (DIGITS, 12), "-", (DIGITS, 12), "-", (DIGITS, 12), "-", (HEX, 32)),
    "slack app": _bare("xapp-1-A", (UPPER + DIGITS, 10), "-", (DIGITS, 13), "-", (HEX, 64)),
    "slack webhook": _slack_hook,
    "stripe live": _bare("sk_live_", (WORD, 24)),
    "stripe restricted": _bare("rk_live_", (WORD, 24)),
    "stripe webhook": _bare("whsec_", (WORD, 32)),
    "openai": _bare("sk-", (WORD, 20), "T3BlbkFJ", (WORD, 20)),
    "openai project": _bare("sk-proj-", (URL_SAFE, 74), "T3BlbkFJ", (URL_SAFE, 74)),
    "anthropic": _bare("sk-ant-api03-", (URL_SAFE, 93), "AA"),
    "anthropic oauth": _bare("sk-ant-oat01-", (URL_SAFE, 93), "AA"),
    "openrouter": _bare("sk-or-v1-", (HEX, 64)),
    "google api key": _bare("AIza", (URL_SAFE, 35)),
    "google oauth secret": _bare("GOCSPX-", (URL_SAFE, 28)),
    "google oauth token": _bare("ya29.", (URL_SAFE, 120)),
    "google service account": _service_account,
    "azure storage": _azure_connection,
    "azure client secret": _told("AZURE_CLIENT_SECRET={}", WORD + "~._", 40),
    "jwt": _jwt,
    "rsa key": _pem("RSA PRIVATE KEY"),
    "ec key": _pem("EC PRIVATE KEY", 3),
    "openssh key": _pem("OPENSSH PRIVATE KEY", 6),
    "pgp key": _pem("PGP PRIVATE KEY BLOCK"),
    "pkcs8 key": _pem("ENCRYPTED PRIVATE KEY", 9),
    "escaped key": _pem("RSA PRIVATE KEY", escaped=True),
    "npm": _bare("npm_", (WORD, 36)),
    "npmrc": _told("//registry.npmjs.org/:_authToken={}", HEX, 36),
    "pypi": _pypi,
    "twilio": _twilio,
    "twilio key": _bare("SK", (HEX, 32), " (TWILIO_API_KEY)"),
    "sendgrid": _bare("SG.", (URL_SAFE, 22), ".", (URL_SAFE, 43)),
    "mailchimp": _told("MAILCHIMP_API_KEY={}-us14", HEX, 32),
    "mailgun": _told("MAILGUN_API_KEY=key-{}", HEX, 32),
    "telegram": _telegram,
    "discord": _discord,
    "discord webhook": _discord_hook,
    "hugging face": _bare("hf_", (LETTERS, 34)),
    "digitalocean": _bare("dop_v1_", (HEX, 64)),
    "docker": _bare("dckr_pat_", (URL_SAFE, 27)),
    "linear": _bare("lin_api_", (WORD, 40)),
    "vault": _bare("hvs.", (URL_SAFE, 95)),
    "groq": _bare("gsk_", (WORD, 52)),
    "xai": _bare("xai-", (WORD, 80)),
    "perplexity": _bare("pplx-", (WORD, 48)),
    "shopify": _bare("shpat_", (HEX, 32)),
    "age": _bare("AGE-SECRET-KEY-1", ("QPZRY9X8GF2TVDW0S3JN54KHCE6MUA7L", 58)),
    "url": _told("git clone https://robot:{}@git.example.com/a.git", WORD, 20),
    "url with a token": _told("git remote set-url origin https://{}@git.example.com/a.git", WORD, 40),
    "postgres": _told("DATABASE_URL=postgres://app:{}@db.example.com:5432/app", WORD, 16),
    "redis": _told("redis://:{}@cache:6379/0", WORD, 24),
    "mongodb": _told("mongodb+srv://app:{}@cluster0.example.net/test", WORD, 18),
    "odbc": _told("Server=db;Database=app;User Id=sa;Password={};", WORD + "!$", 14),
    "password": _told("password={}", WORD, 12),
    "password in prose": _told("the password is: {}", WORD, 12),
    "password in yaml": _told('  db_password: "{}"', WORD + "!@#$%", 14),
    "json api key": _told('{"api_key": "{}", "retries": 3}', WORD, 32),
    "escaped json": _told('{\\"api_key\\": \\"{}\\", \\"retries\\": 3}', WORD, 32),
    "python constant": _told("API_SECRET = '{}'", WORD, 24),
    "environment": _told("export SECRET_TOKEN={}", WORD, 24),
    "quoted environment": _told('export MY_API_TOKEN="{}"', WORD, 40),
    "bearer": _told("curl -H 'Authorization: Bearer {}' https://api.example.com", URL_SAFE, 40),
    "basic": _told("Authorization: Basic {}", BASE64, 32),
    "header": _told("curl -H 'X-Api-Key: {}' https://api.example.com", WORD, 32),
    "query": _told("GET https://api.example.com/v1?access_token={}&page=2", WORD, 32),
    "flag": _told("mysql -u root --password={} -e 'select 1'", WORD, 16),
    "flag with a space": _told("tool login --token {} --host a.example", WORD, 32),
    "curl user": _told("curl -u admin:{} https://api.example.com", WORD, 18),
    "curl user with symbols": _told("curl -sS --user 'admin:{}' https://api.example.com", WORD + "&!%", 14),
    "mysql password": _told("mysql -uroot -p{} -h db.example.com", WORD, 14),
    "netrc": _told("machine api.example.com login robot password {}", WORD, 16),
    "cookie": _told("Set-Cookie: sessionid={}; HttpOnly", WORD, 32),
}
"""What a text says, and what of it is secret, for each kind."""


def planted(kind: str, seed: int = 0) -> Planted:
    """One of its kind; the same seed gives the same."""
    text, secrets = KINDS[kind](random.Random(f"{kind}/{seed}"))
    return Planted(kind, text, secrets)


def all_planted(seed: int = 0) -> list[Planted]:
    """One of each kind."""
    return [planted(kind, seed) for kind in KINDS]


def left(held: bytes, used: Iterable[Planted]) -> list[str]:
    """The kinds of the secrets of which anything stands in `held`, as it is or as JSON escapes it."""
    return [
        one.kind
        for one in used
        if any(
            form.encode() in held
            for secret in one.secrets
            for form in (secret, json.dumps(secret)[1:-1], json.dumps(json.dumps(secret))[3:-3])
        )
    ]


def bytes_in(folder: Path) -> bytes:
    """Whatever stands in the files of a folder."""
    return b"".join(file.read_bytes() for file in sorted(folder.iterdir()) if file.is_file())
