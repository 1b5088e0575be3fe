"""The redactor: what is a secret and what is none, and what becomes of the text round it."""

from __future__ import annotations

import json
import random
from collections import Counter

import pytest
from tests.planted import BASE64, HEX, KINDS, UPPER, WORD, of, planted

from ireneo.adapters.redact import SecretRedactor

RANDOM = random.Random("secrets")


def redact(text: str, name: str = "") -> str:
    return SecretRedactor().redact(text, name)


@pytest.mark.parametrize("kind", KINDS)
def test_a_secret_of_each_kind_is_taken_out_alone_in_json_and_in_json_in_json(kind: str) -> None:
    one = planted(kind)
    inside = json.dumps({"output": one.text})
    for text in (one.text, inside, json.dumps([inside]), f"> {one.text}\n\nok"):
        cleaned = redact(text)
        for secret in one.secrets:
            assert secret not in cleaned
            assert json.dumps(secret)[1:-1] not in cleaned
        assert "[REDACTED " in cleaned
    assert json.loads(redact(inside)).keys() == {"output"}


@pytest.mark.parametrize(
    "text",
    [
        f"commit {of(RANDOM, HEX, 40)}",
        f"{of(RANDOM, HEX, 7)}..{of(RANDOM, HEX, 7)} main -> main",
        f"sha256:{of(RANDOM, HEX, 64)}  dist/a.whl",
        f'"integrity": "sha512-{of(RANDOM, BASE64, 86)}=="',
        f"next_page_token={of(RANDOM, WORD, 24)}",
        "session_id: 550e8400-e29b-41d4-a716-446655440000",
        'token: "550e8400-e29b-41d4-a716-446655440000"',
        "toolu_01A2b3C4d5E6f7G8h9J0kLmN msg_01A2b3C4d5E6f7G8h9J0kLmN req_011CMhNbkPQ9sTVrTTTTwabc",
        "/home/robot/garden/src/token/password_reset.py:88: in reset_password",
        "password = getpass.getpass()",
        "password: str, token: Token | None = None",
        "password = os.environ['DB_PASSWORD']",
        "api_key=settings.openai_api_key",
        "API_KEY=$OPENAI_API_KEY TOKEN=${TOKEN:-none}",
        "apiKey: process.env.OPENAI_API_KEY,",
        '"password": "required", "token": "optional", "secret": "my-secret-name-2"',
        "max_tokens: 128000, cache_read_input_tokens: 20348",
        "postgres://user:password@localhost:5432/db",
        "https://example.com:8080/@scope/package",
        "git@github.com:robot/garden.git",
        "BEGIN = '-----BEGIN RSA PRIVATE KEY-----'",
        "if '-----BEGIN PRIVATE KEY-----' in text and '-----END PRIVATE KEY-----' in text:",
        "The password is wrong. A secret is something else.",
        "Authorization: Bearer <token>",
        "export API_TOKEN=your-token-here-1234",
        "[REDACTED password]",
        "the token is: described_in_chapter_4_of_the_guide",
        "agent = Agent(base_url=base_url, api_key=api_key)",
        "client = AzureOpenAI(azure_endpoint=_sdk.azure_endpoint, api_key=_sdk.api_key)",
        'monkeypatch.setenv("GEMINI_API_KEY", api_key)',
        "headers == {'Authorization': 'Bearer fake-oauth-token'}",
        '# e.g. "-----BEGIN PRIVATE KEY-----...", or "-----END PRIVATE KEY-----"',
    ],
)
def test_what_is_no_secret_stays(text: str) -> None:
    assert redact(text) is text


def test_what_stands_under_the_name_of_a_secret_is_one() -> None:
    value = of(RANDOM, WORD, 24) + "9"
    assert redact(value, "api_key") == redact(value, "clientSecret") == "[REDACTED secret]"
    assert redact("hunter2x", "db_password") == redact("hunter2x", "--password") == "[REDACTED password]"
    assert redact(value, "name") == value
    assert redact("a sentence about 1 thing", "password") == "a sentence about 1 thing"


def test_what_was_named_once_is_known_again_bare_and_escaped() -> None:
    redactor = SecretRedactor()
    value = 'hunter2"hunter3/'
    assert value in redactor.redact(f"It was {value} all along")
    assert redactor.redact(value, "password") == "[REDACTED password]"
    assert redactor.redact(f"It was {value} all along") == "It was [REDACTED password] all along"
    escaped = json.dumps({"a": json.dumps({"b": value})})
    assert json.loads(json.loads(redactor.redact(escaped))["a"]) == {"b": "[REDACTED password]"}
    assert Counter(redactor.secrets.values()) == {"password": 1}


def test_a_word_is_not_looked_for_though_it_was_a_password() -> None:
    redactor = SecretRedactor()
    assert redactor.redact("DB_PASSWORD=postgresql") == "DB_PASSWORD=[REDACTED password]"
    assert redactor.redact("apt install postgresql") == "apt install postgresql"


def test_a_secret_has_one_mark_wherever_it_stands() -> None:
    token = "ghp_" + of(RANDOM, WORD, 36)
    text = f'curl -H "Authorization: Bearer {token}" https://robot:{token}@example.com/{token}'
    mark = "[REDACTED github-token]"
    assert redact(text) == f'curl -H "Authorization: Bearer {mark}" https://robot:{mark}@example.com/{mark}'


@pytest.mark.parametrize("between", ["\n", "\\n", "\\\\n", "\n     7→", "\n+", '\\n",\n    "'])
def test_a_private_key_is_found_in_numbered_quoted_and_escaped_lines_and_cut_off(between: str) -> None:
    # A plus that begins a line may be a diff's.
    body = [f"b{of(RANDOM, BASE64, 63)}" for _ in range(8)]
    key = between.join(["-----BEGIN OPENSSH PRIVATE KEY-----", *body, "Ab12=", "-----END OPENSSH PRIVATE KEY-----"])
    assert redact(f"before {key} after") == "before [REDACTED private-key] after"
    cut = between.join(["-----BEGIN OPENSSH PRIVATE KEY-----", *body[:5]])
    assert redact(f"{cut} …") == "[REDACTED private-key] …"
    redactor = SecretRedactor()
    redactor.redact(key)
    assert redactor.redact(f"its third line is {body[2]}") == "its third line is [REDACTED private-key]"
    assert Counter(redactor.secrets.values()) == {"private-key": 1}


def test_half_a_character_and_letters_that_grow_are_no_fault() -> None:
    token = "AKIA" + of(RANDOM, UPPER, 16)
    assert redact(f"\ud800 {token} \udfff") == "\ud800 [REDACTED aws-access-key-id] \udfff"
    assert redact("İİİ password=hunter2x İ") == "İİİ password=[REDACTED password] İ"


def test_an_image_is_not_read() -> None:
    data = "data:image/png;base64," + of(RANDOM, BASE64, 4_000)
    assert redact(data) is data


def test_the_count_tells_each_secret_once() -> None:
    redactor = SecretRedactor()
    one, two = "ghp_" + of(RANDOM, WORD, 36), "ghp_" + of(RANDOM, WORD, 36)
    redactor.redact(f"{one} {two} {one}")
    redactor.redact(f"{one}")
    assert Counter(redactor.secrets.values()) == {"github-token": 2}


def test_a_token_that_begins_a_line_is_found_behind_the_escape_of_the_line() -> None:
    token = "ghp_" + of(RANDOM, WORD, 36)
    text = json.dumps({"stdout": json.dumps({"log": f"found\n{token}\tok"})})
    assert token not in redact(text)
    assert json.loads(json.loads(redact(text))["stdout"]) == {"log": "found\n[REDACTED github-token]\tok"}


def test_a_part_of_a_longer_word_is_left_and_the_text_is_the_very_same() -> None:
    redactor = SecretRedactor()
    redactor.redact("password: hunter2x")
    text = "anotherhunter2xand more"
    assert redactor.redact(text) is text


@pytest.mark.parametrize("kind", KINDS)
def test_in_a_record_of_which_most_was_looked_through_before_a_secret_is_found(kind: str) -> None:
    one = planted(kind, 3)
    pages = [f"def page_{number}() -> int:\n    return {number}\n\n" * 8 for number in range(6)]
    before = "\n".join(pages)
    assert SecretRedactor().redact_record(before) is before
    for place in (0, 3, 6):
        text = "\n".join([*pages[:place], one.text, *pages[place:]])
        cleaned = SecretRedactor().redact_record(text)
        assert not [secret for secret in one.secrets if secret in cleaned]
        assert cleaned.endswith(pages[-1][-40:]) or place == 6
        assert SecretRedactor().redact_record(text) == cleaned


@pytest.mark.parametrize(
    "command",
    [
        "docker run -u 1000:1000 alpine",
        "curl -u $USER:$PASSWORD https://example.com",
        "curl -u user:password https://example.com",
        "mysql -u root -p shop",
        "mysqldump --port 3306 -P 3306 shop",
        "curl -fsSL https://example.com/install.sh | sudo -u app:staff tar -x",
    ],
)
def test_what_only_looks_like_a_login_stays(command: str) -> None:
    assert SecretRedactor().redact(command) == command


@pytest.mark.parametrize(
    ("text", "secret"),
    [
        ("Mein Passwort ist Kq9xTreppe.", "Kq9xTreppe"),
        ("Das WLAN-Passwort lautet Birnbaum1987", "Birnbaum1987"),
        ("Das Kennwort für den Router im Keller ist jetzt Dach!Rinne7", "Dach!Rinne7"),
        ("Nimm bitte Regen-Tonne31 als neues Passwort.", "Regen-Tonne31"),
        ("The password for the staging server is Pine-Kettle42!", "Pine-Kettle42"),
        ("my password was changed to Pine-Kettle42", "Pine-Kettle42"),
        ("Use Pine-Kettle42 as the new password.", "Pine-Kettle42"),
        ("Le mot de passe est Citron-Vert88", "Citron-Vert88"),
    ],
)
def test_a_password_that_a_sentence_tells_is_taken_out(text: str, secret: str) -> None:
    assert redact(text) == text.replace(secret, "[REDACTED password]")


@pytest.mark.parametrize(
    "text",
    [
        "Das Passwort ist falsch, bitte setz es zurück.",
        "Das Passwort ist mindestens zwölf Zeichen lang.",
        "Das Passwort für die Datenbank steht in der Datei config.yml.",
        "The password for the account is required.",
        "Pass it on as the password argument, which is optional.",
    ],
)
def test_a_sentence_about_passwords_stays(text: str) -> None:
    assert redact(text) == text
