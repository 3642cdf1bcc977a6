"""The few elements that the charts are made of. Owns escaping and the frame of a figure; draws nothing itself."""

from __future__ import annotations

from html import escape as _escape

from allocator.report.summary.section import printable

__all__ = [
    "SERIES",
    "WIDTH",
    "attributes",
    "dash_of",
    "element",
    "escape",
    "figure",
    "series_class",
    "shortened",
    "text",
]

WIDTH = 360
"""Width of every drawing in user units: about the pixels of a small screen, so texts keep their size there."""

SERIES = 8
"""Series that look different; further ones repeat the colours with another dash."""

_DASHES = ("", "7 3", "4 2", "10 2 2 2", "5 1.2", "12 4", "10 2 2 2 2 2", "6 2 3 2")
# none of them is dotted: that is how bounds are drawn


def escape(content: str) -> str:
    """A person's text as markup; control characters, which a name may hold, as escapes."""
    return _escape(printable(content))


def attributes(values: dict[str, object]) -> str:
    """Attributes of an element; ``class_`` and ``stroke_width`` become ``class`` and ``stroke-width``."""
    parts = []
    for name, value in values.items():
        if value is None:
            continue
        shown = f"{value:.2f}".rstrip("0").rstrip(".") if isinstance(value, float) else str(value)
        parts.append(f' {name.rstrip("_").replace("_", "-")}="{escape(shown)}"')
    return "".join(parts)


def element(name: str, content: str | None = None, **values: object) -> str:
    """An element; ``content`` is markup and stands as it is."""
    opened = f"<{name}{attributes(values)}"
    return f"{opened}/>" if content is None else f"{opened}>{content}</{name}>"


def text(x: float, y: float, content: str, **values: object) -> str:
    """A line of text; ``content`` is a person's text and is escaped."""
    return element("text", escape(content), x=float(x), y=float(y), **values)


def shortened(content: str, letters: int) -> str:
    """The text in at most so many letters; what is left out shows as an ellipsis in the middle."""
    if len(content) <= letters:
        return content
    if letters < 4:
        return content[:letters]
    head = (letters - 1) // 2
    return f"{content[:head]}…{content[len(content) - (letters - 1 - head) :]}"


def series_class(index: int) -> str:
    """Class that colours series number ``index``."""
    return f"s{index % SERIES}"


def dash_of(index: int) -> str | None:
    """Dash pattern of series number ``index``: never colour alone tells series apart."""
    return _DASHES[(index + index // SERIES) % len(_DASHES)] or None


def figure(title: str, description: str, body: str, *, height: float, width: float = WIDTH) -> str:
    """A whole drawing with its title and description for those who do not see it."""
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width:g} {height:g}" role="img">'
        f"<title>{escape(title)}</title><desc>{escape(description)}</desc>{body}</svg>"
    )
