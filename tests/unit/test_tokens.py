"""The token estimate stays near the exact count on material of every kind, and is cheap and sane on the rest."""

from __future__ import annotations

import base64
import json
import random
import sys
import zlib
from collections.abc import Iterable
from pathlib import Path

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from ireneo.adapters.tokens import EstimatedTokenizer, ExactTokenizer, fingerprints, is_known, load_backend, unpack
from ireneo.errors import MissingExtra
from ireneo.ports.models import Tokenizer

ROOT = Path(__file__).parents[2]
ESTIMATE = EstimatedTokenizer()


def pack(prints: Iterable[int]) -> bytes:
    """Write fingerprints as they ship with the package."""
    ordered = sorted(set(prints))
    gaps = [after - before for before, after in zip([0, *ordered], ordered, strict=False)]
    return zlib.compress(bytes(gap & 0xFF for gap in gaps) + bytes(gap >> 8 for gap in gaps), 9)


def counted(text: str) -> int:
    """The exact count; the test is skipped where the extra is missing."""
    pytest.importorskip("bpe_openai")
    return ExactTokenizer().count(text)


def bias(text: str) -> float:
    """How much too high the estimate is, as a share."""
    return ESTIMATE.count(text) / counted(text) - 1


def chosen(seed: int, alphabet: str, size: int) -> str:
    return "".join(random.Random(seed).choices(alphabet, k=size))


def words(seed: int, vocabulary: str, size: int = 400) -> str:
    return " ".join(random.Random(seed).choices(vocabulary.split(), k=size))


RECORDS = [
    {"id": number, "name": f"item-{number}", "price": round(number * 1.37, 2), "tags": ["a", "b"], "open": number < 9}
    for number in range(120)
]
LETTERS = "abcdefghijklmnopqrstuvwxyz"
HARD = {
    "base64": base64.b64encode(random.Random(1).randbytes(3000)).decode(),
    "hex": random.Random(2).randbytes(3000).hex(),
    "hashes": "\n".join(random.Random(seed).randbytes(20).hex() for seed in range(80)),
    "minified JSON": json.dumps(RECORDS, separators=(",", ":")),
    "escaped JSON": json.dumps(json.dumps(RECORDS, indent=2)),
    "numbers": " ".join(str(random.Random(seed).random()) for seed in range(150)),
    "small letters": chosen(3, LETTERS, 2000),
    "capitals": chosen(4, LETTERS.upper(), 2000),
    "mixed identifiers": words(5, "sk_live_51HxQ toolu_01AbC9xZ req-8fK2 eyJhbGciOi kX9vQm2T msg_014Wq7"),
    "signs": chosen(6, "!\"#$%&'()*+,-./:;<=>?@[\\]^_`{|}~", 1500),
    "Chinese": words(7, "我们 今天 在 这个 项目 里面 修改 了 测试 文件 因为 它 总是 失败 请 检查 数据库 的 连接 时间"),
    "Japanese": words(8, "この ファイル を 変更 する テスト が 失敗 しました ので 確認 して ください 接続"),
    "Korean": words(9, "이 파일을 수정 했습니다 테스트가 실패 했기 때문에 데이터베이스 연결을 확인 하세요 오늘 우리는"),
    "Russian": words(10, "мы сегодня изменили файл потому что проверка снова не прошла посмотрите соединение"),
    "Arabic": words(11, "لقد قمنا اليوم بتغيير الملف لأن الاختبار فشل مرة أخرى يرجى التحقق من اتصال قاعدة البيانات"),
    "Greek": words(12, "αλλάξαμε το αρχείο σήμερα επειδή η δοκιμή απέτυχε ξανά ελέγξτε τη σύνδεση"),
    "Hebrew": words(13, "שינינו את הקובץ היום כי הבדיקה נכשלה שוב אנא בדקו את החיבור למסד הנתונים"),
    "Hindi": words(14, "हमने आज फ़ाइल बदल दी क्योंकि परीक्षण फिर से विफल हो गया कृपया डेटाबेस कनेक्शन जाँचें"),
    "Thai": words(15, "วันนี้เราแก้ไขไฟล์ เพราะการทดสอบล้มเหลวอีกครั้ง โปรดตรวจสอบการเชื่อมต่อ ฐานข้อมูล"),
    "German": words(16, "wir haben heute die Datei geändert weil die Prüfung wieder fehlgeschlagen ist"),
    "Polish": words(17, "zmieniliśmy dziś plik ponieważ test znów się nie powiódł proszę sprawdzić"),
    "Vietnamese": words(18, "hôm nay chúng tôi đã sửa tệp vì bài kiểm tra lại thất bại vui lòng kiểm tra kết nối"),
    "emoji": words(19, "✅ ❌ 🚀 🎉 ⚠️ 📝 🔧 done 😀 👍 failed 🔥 → • tests"),
    "boxes": "\n".join("│ " + " │ ".join(["name", "value", "42"]) + " │\n├──────┼───────┼────┤" for _ in range(30)),
    **{f"a run of {sign!r}": sign * 2000 for sign in "-=*#_. \n\tax0é中😀─█"},
}


@pytest.mark.parametrize("kind", HARD)
def test_hard_material_is_not_under_by_a_tenth(kind: str) -> None:
    assert bias(HARD[kind]) >= -0.10


@pytest.mark.parametrize("patterns", ["src/**/*.py", "src/**/*.sql", "*.md docs/**/*.md", "LICENSE", "pyproject.toml"])
def test_ordinary_material_is_within_a_few_percent(patterns: str) -> None:
    paths = [path for pattern in patterns.split() for path in sorted(ROOT.glob(pattern))]
    assert -0.02 <= bias("\n".join(path.read_text(encoding="utf-8") for path in paths)) <= 0.05


def test_both_are_tokenizers() -> None:
    pytest.importorskip("bpe_openai")
    both: list[Tokenizer] = [EstimatedTokenizer(), ExactTokenizer()]
    assert [each.count("") for each in both] == [0, 0]
    assert [each.count("hello world") for each in both] == [2, 2]


@given(st.text(min_size=1))
def test_no_text_is_free(text: str) -> None:
    assert ESTIMATE.count(text) >= 1


@given(st.text(), st.text())
@example("*:,.`", "")
def test_more_text_is_not_cheaper(text: str, more: str) -> None:
    # What is added may join the last piece before it, which may then be in the vocabulary, or be mistaken for an entry.
    before_last = text[: text.rfind((text.split() or [""])[-1])]
    assert ESTIMATE.count(f"{text}\n{more}") >= ESTIMATE.count(before_last) - 1


@given(st.text(max_size=30), st.integers(2, 50))
def test_repeating_a_text_repeats_its_cost(text: str, times: int) -> None:
    line = f"{text} end\n"
    once = ESTIMATE.count(line)
    assert abs(ESTIMATE.count(line * times) - once * times) <= 2 * times


def test_a_count_does_not_depend_on_what_was_counted_before() -> None:
    text = (ROOT / "LICENSE").read_text(encoding="utf-8")
    fresh = EstimatedTokenizer()
    first = fresh.count(text)
    # More strange words than are remembered.
    fresh.count(" ".join(f"w{number:x}q" for number in range(40_000)) + " " + chosen(20, LETTERS + "  ", 400_000))
    assert fresh.count(text) == first


def test_half_a_surrogate_pair_is_counted() -> None:
    assert ESTIMATE.count("a\ud800b") >= 1
    assert counted("a\ud800b") >= 1


def test_without_the_extra_the_error_says_how_to_get_it(monkeypatch: pytest.MonkeyPatch) -> None:
    load_backend.cache_clear()
    monkeypatch.setitem(sys.modules, "bpe_openai._bindings", None)
    with pytest.raises(MissingExtra, match=r"pip install 'ireneo\[tokens\]'"):
        ExactTokenizer()


def test_the_fingerprint_is_whole() -> None:
    assert 95_000 < len(set(fingerprints())) <= 96_000
    common = (" the", " return", "self", ".get", "():\n", " import", "://", " function")
    assert [piece for piece in common if not is_known(piece)] == []
    assert [piece for piece in ("zqxv", " kwyjibo") if is_known(piece)] == []


@given(st.frozensets(st.integers(0, 60_000), max_size=50))
def test_a_fingerprint_is_read_as_it_was_written(prints: frozenset[int]) -> None:
    assert list(unpack(pack(prints))) == sorted(prints)
