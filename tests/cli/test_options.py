"""Durations, ratios and file names: what is accepted, and that what is refused says what would be right."""

from __future__ import annotations

from pathlib import Path

import click
import pytest
from hypothesis import given
from hypothesis import strategies as st

from allocator.cli.options import duration, input_file, keep_inputs, output_file, ratio, share


@pytest.mark.parametrize(
    ("text", "seconds"),
    [
        ("90", 90),
        ("60s", 60),
        ("5 min", 300),
        ("500ms", 0.5),
        ("2h", 7200),
        (" 1.5 s ", 1.5),
        (".5", 0.5),
        ("1e2", 100),
    ],
)
def test_durations(text: str, seconds: float) -> None:
    assert duration(text) == seconds


@pytest.mark.parametrize(
    "text",
    ["", "0", "0s", "-1", "-5 min", "nan", "inf", "1 parsec", "5m5", "1e99", "٣", "60 s s", "1,5", "1e", "9" * 10_000],
)
def test_bad_durations_are_refused(text: str) -> None:
    with pytest.raises(click.BadParameter, match=r"duration|more than 0"):
        duration(text)


@pytest.mark.parametrize(("text", "value"), [("0", 0.0), ("0.01", 0.01), ("1 %", 0.01), ("1%", 0.01), ("100 %", 1.0)])
def test_ratios(text: str, value: float) -> None:
    assert ratio(text) == value


@pytest.mark.parametrize("text", ["", "-0.1", "nan", "inf", "2", "101 %", "%", "1 % %", "a"])
def test_bad_ratios_are_refused(text: str) -> None:
    with pytest.raises(click.BadParameter, match=r"ratio|at most 1"):
        ratio(text)


def test_a_share_is_not_0() -> None:
    assert share("1 %") == 0.01
    with pytest.raises(click.BadParameter, match="more than 0"):
        share("0")


@given(st.text(max_size=30))
def test_any_text_is_a_number_or_a_message(text: str) -> None:
    for parse in (duration, ratio, share):
        value, message = None, None
        try:
            value = parse(text)
        except click.BadParameter as error:
            message = error.message
        assert value is None or 0 <= value < float("inf")
        assert (message is None) == (value is not None)
        assert message is None or repr(text) in message


def test_an_unknown_file_type_is_refused(tmp_path: Path) -> None:
    (tmp_path / "a.txt").write_text("")
    for kind in (input_file(".yaml"), output_file(".json", ".csv")):
        with pytest.raises(click.BadParameter, match="unknown file type; use one of"):
            kind(str(tmp_path / "a.txt"))


def test_an_input_file_exists_and_is_a_file(tmp_path: Path) -> None:
    (tmp_path / "folder.yaml").mkdir()
    kind = input_file(".yaml")
    for name, message in (("none.yaml", "no file"), ("folder.yaml", "folder"), ("nul\0.yaml", "not a file name")):
        with pytest.raises(click.BadParameter, match=message):
            kind(str(tmp_path / name))
    with pytest.raises(click.BadParameter, match="not a file name"):
        kind("")
    with pytest.raises(click.BadParameter, match="too long"):
        kind("x" * 5000 + ".yaml")


def test_an_output_file_needs_a_folder_that_takes_files(tmp_path: Path) -> None:
    (tmp_path / "folder.json").mkdir()
    kind = output_file(".json")
    with pytest.raises(click.BadParameter, match="no folder"):
        kind(str(tmp_path / "none" / "plan.json"))
    with pytest.raises(click.BadParameter, match="is a folder"):
        kind(str(tmp_path / "folder.json"))
    assert kind(str(tmp_path / "plan.json")) == tmp_path / "plan.json"
    assert not (tmp_path / "plan.json").exists()


@pytest.mark.parametrize("name", ["in.json", "./in.json", "link.json", "hard.json"])
def test_nothing_is_written_over_what_is_read(name: str, tmp_path: Path) -> None:
    source, other = tmp_path / "in.json", tmp_path / "out.json"
    source.write_text("{}")
    other.write_text("{}")
    (tmp_path / "link.json").symlink_to(source)
    (tmp_path / "hard.json").hardlink_to(source)
    keep_inputs((source, None), (None, other, tmp_path / "new.json"))
    with pytest.raises(click.BadParameter, match="would be lost"):
        keep_inputs((source, None), (None, other, tmp_path / name))
