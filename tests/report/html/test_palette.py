"""Every pair of colours that the page uses together has the contrast of WCAG 2.2, level AA."""

from __future__ import annotations

import re

import pytest

from allocator.report.html.environment import style_sheet
from allocator.report.html.palette import DARK, GRAPHICS, LIGHT, TEXTS


def luminance(colour: str) -> float:
    """Relative luminance by the definition in WCAG 2.2."""
    channels = [int(colour[start : start + 2], 16) / 255 for start in (1, 3, 5)]
    linear = [value / 12.92 if value <= 0.04045 else ((value + 0.055) / 1.055) ** 2.4 for value in channels]
    return 0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2]


def contrast(first: str, second: str) -> float:
    lighter, darker = sorted((luminance(first), luminance(second)), reverse=True)
    return (lighter + 0.05) / (darker + 0.05)


def test_the_measure_itself() -> None:
    assert contrast("#000000", "#ffffff") == pytest.approx(21)
    assert contrast("#777777", "#ffffff") == pytest.approx(4.48, abs=0.01)


@pytest.mark.parametrize("palette", [LIGHT, DARK], ids=["light", "dark"])
@pytest.mark.parametrize(("text", "ground"), TEXTS)
def test_texts_can_be_read(palette: dict[str, str], text: str, ground: str) -> None:
    assert contrast(palette[text], palette[ground]) >= 4.5


@pytest.mark.parametrize("palette", [LIGHT, DARK], ids=["light", "dark"])
@pytest.mark.parametrize(("mark", "ground"), GRAPHICS)
def test_lines_and_marks_can_be_seen(palette: dict[str, str], mark: str, ground: str) -> None:
    assert contrast(palette[mark], palette[ground]) >= 3.0


def test_the_style_sheet_uses_no_other_colours() -> None:
    sheet = style_sheet()
    used = set(re.findall(r"var\(--(\w+)\)", sheet))
    assert used <= set(LIGHT) == set(DARK)
    rest = re.sub(r"--\w+:#[0-9a-f]{3,6};?", "", sheet)
    assert not re.findall(r"#[0-9a-f]{3,8}\b", rest)
