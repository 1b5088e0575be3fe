"""What takes long says so at times on standard error, where that is no terminal."""

from __future__ import annotations

from time import sleep

import pytest

from ireneo.faces.cli import output


def test_what_takes_long_is_told_at_times_where_there_is_no_terminal(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(output, "FIRST_SECONDS", 0.01)
    monkeypatch.setattr(output, "MOST_SECONDS", 0.01)

    def heard(part: str) -> str:
        out = err = ""
        while part not in err:
            said = capsys.readouterr()
            out, err = out + said.out, err + said.err
        assert out == ""
        return err

    with output.waiting("Winding the clock …"):
        assert heard("clock").startswith("ireneo: Winding the clock, 0:0")
    with output.ProgressBars("winding", total=40) as bars:
        bars.update(advance=3)
        bars.update(advance=4, description="striking", note="late")
        assert "striking 7 of 40, late, 0:" in heard("striking")
    with output.ReadingBar(200) as bar:
        bar.reading("bells.jsonl", 50)
        assert "reading bells.jsonl, 25 % done, 0:" in heard("25 %")


def test_nothing_is_told_of_what_is_quick_or_answered_in_json(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    with output.waiting("Winding the clock …"):
        pass
    monkeypatch.setattr(output, "FIRST_SECONDS", 0.0)
    with output.quiet_progress(True), output.waiting("Winding the clock …"):
        sleep(0.05)
    assert capsys.readouterr() == ("", "")
