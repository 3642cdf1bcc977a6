"""The colours of the page, light and dark. Owns their values; a test computes their contrast (WCAG 2.2, level AA)."""

from __future__ import annotations

__all__ = ["DARK", "GRAPHICS", "LIGHT", "TEXTS", "style_variables"]

LIGHT = {
    "paper": "#fcfbf8",
    "raised": "#f3f0e8",
    "ink": "#1d2126",
    "soft": "#555c65",
    "line": "#dcd7cb",
    "edge": "#857f70",
    "accent": "#1a5a8c",
    "good": "#1f6b3a",
    "bad": "#a3201b",
    "badpaper": "#fbe8e5",
    "s0": "#1b5e91",
    "s1": "#b3541e",
    "s2": "#2b774a",
    "s3": "#7a4a9e",
    "s4": "#85680a",
    "s5": "#b0356e",
    "s6": "#0f7a80",
    "s7": "#5b5f66",
    "h0": "#fffefb",
    "h1": "#dbe8ed",
    "h2": "#b4d1dd",
    "h3": "#84b3c8",
    "h4": "#3d7a9a",
    "h5": "#256587",
    "h6": "#0e4060",
    "h7": "#b3261e",
    "on": "#ffffff",
}

DARK = {
    "paper": "#15181c",
    "raised": "#1f242a",
    "ink": "#e9e6df",
    "soft": "#aab1ba",
    "line": "#353b43",
    "edge": "#7f8791",
    "accent": "#86bdea",
    "good": "#7fd19b",
    "bad": "#ff9c92",
    "badpaper": "#3b1b19",
    "s0": "#6fb1e4",
    "s1": "#f0955a",
    "s2": "#6cc78f",
    "s3": "#c39be6",
    "s4": "#d9b93c",
    "s5": "#f08ab8",
    "s6": "#55c5c9",
    "s7": "#b3b8bf",
    "h0": "#1b1f24",
    "h1": "#22363f",
    "h2": "#294d5b",
    "h3": "#33667b",
    "h4": "#6fadc8",
    "h5": "#9ccde0",
    "h6": "#d3edf6",
    "h7": "#ff7f73",
    "on": "#10151a",
}

TEXTS = (
    ("ink", "paper"),
    ("ink", "raised"),
    ("soft", "paper"),
    ("soft", "raised"),
    ("accent", "paper"),
    ("accent", "raised"),
    ("good", "paper"),
    ("good", "raised"),
    ("bad", "paper"),
    ("bad", "raised"),
    ("bad", "badpaper"),
    ("ink", "badpaper"),
    ("ink", "h0"),
    ("ink", "h1"),
    ("ink", "h2"),
    ("ink", "h3"),
    ("on", "h4"),
    ("on", "h5"),
    ("on", "h6"),
    ("on", "h7"),
)
"""Text on ground: at least 4.5 to 1."""

GRAPHICS = (
    *((f"s{index}", "paper") for index in range(8)),
    ("edge", "paper"),
    ("edge", "h0"),
    ("accent", "paper"),
    ("h7", "paper"),
)
"""Lines and marks on ground: at least 3 to 1. Heat cells are told apart by their edge and by the table beside."""


def style_variables(colours: dict[str, str]) -> str:
    """The colours as CSS custom properties."""
    return "".join(f"--{name}:{value};" for name, value in colours.items())
