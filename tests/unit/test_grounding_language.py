"""Whether two texts are plainly in different languages, and where sentences end."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ireneo.language.words import other_language, sentences

TEXTS = {
    "English": "I read the file and found that the loop was not closed, and it is now the way that it was meant to be.",
    "German": "Ich habe die Datei gelesen und den Fehler gefunden, der nicht in der Schleife war, und das ist gut so.",
    "French": "J'ai lu le fichier et la boucle est la cause de tout, ce qui est plus que je pensais pour ce fichier.",
    "Spanish": "He leído el archivo y el error está en el bucle, pero no es la causa de los fallos que se han visto.",
    "Italian": "Ho letto il file e ho trovato che il ciclo non è stato chiuso, ed è la causa di parte degli errori.",
    "Portuguese": "Eu li o arquivo e não está fechado, mas o erro foi uma parte do ciclo, e se vê como os outros.",
    "Dutch": "Ik heb het bestand gelezen en de fout is dat de lus niet was gesloten, maar dat is nu van een ander.",
}
CHINESE = "我 修好了 构建 测试 全部 通过 没有 发现 其他 问题 可以 继续 下一步 的 工作"
SHORT = "Ich habe die Datei gelesen."


@pytest.mark.parametrize("name", TEXTS)
def test_a_language_is_known_against_english(name: str) -> None:
    said = other_language(TEXTS[name], TEXTS["English"])
    assert said == (None if name == "English" else name)


@pytest.mark.parametrize("name", TEXTS)
def test_a_text_is_in_the_language_of_its_source(name: str) -> None:
    assert other_language(TEXTS[name], TEXTS[name]) is None


@pytest.mark.parametrize("source", [name for name in TEXTS if name != "English"])
def test_english_is_another_language_where_the_agent_wrote_otherwise(source: str) -> None:
    assert other_language(TEXTS["English"], TEXTS[source]) == "English"


def test_another_script_is_another_language() -> None:
    assert other_language(CHINESE, TEXTS["English"]) == "another script"
    assert other_language(TEXTS["English"], CHINESE) is None or other_language(TEXTS["English"], CHINESE) == "English"


@pytest.mark.parametrize(
    ("text", "source"),
    [
        (SHORT, TEXTS["English"]),
        (TEXTS["German"], "ok"),
        ("", TEXTS["English"]),
        ("src/a.py keep_row load_part BATCH_SIZE flush commit_batch rows 12 tests passed in src/b.py", TEXTS["German"]),
        (
            f"I said “{TEXTS['German']}” and `{TEXTS['French']}` and it was what the user asked for in that file.",
            TEXTS["English"],
        ),
    ],
    ids=["short", "short source", "empty", "names alone", "quoted"],
)
def test_where_it_can_not_be_told_nothing_is_said(text: str, source: str) -> None:
    assert other_language(text, source) is None


@given(st.text(alphabet=st.sampled_from('aB .!?…\n"”。')))
def test_sentences_keep_every_word_wherever_white_space_stands(text: str) -> None:
    assert "".join("".join(sentences(text)).split()) == "".join(text.split())
