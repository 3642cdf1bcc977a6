"""Templates, style and script become one page. Owns escaping (on for every template) and the content policy.

The page allows exactly the one style sheet and the one script it carries, by their hashes: a name in the data can
neither load nor run anything, even if an escape were forgotten.
"""

from __future__ import annotations

import base64
import hashlib
from functools import cache
from importlib.resources import files
from typing import TYPE_CHECKING, Any

from allocator.report.html.palette import DARK, LIGHT, style_variables
from allocator.report.summary.section import printable

if TYPE_CHECKING:
    from jinja2 import Environment

__all__ = ["render", "style_sheet"]


def render(template: str, title: str, **values: Any) -> str:
    """The page of a template, with style and script inside.

    Parameters
    ----------
    template : name of a file in ``templates``.
    title : of the document; escaped like everything else.
    """
    import allocator

    style, script = style_sheet(), _text("script.js")
    text: str = (
        _environment()
        .get_template(template)
        .render(
            title=title,
            style=style,
            script=script,
            style_hash=_digest(style),
            script_hash=_digest(script),
            version=allocator.__version__,
            **values,
        )
    )
    return text


def style_sheet() -> str:
    """The style sheet with the colours of light, dark and print."""
    light, dark = style_variables(LIGHT), style_variables(DARK)
    series = "".join(
        f".s{index}{{stroke:var(--s{index})}}.mark.s{index},.dot.s{index},.part.s{index}{{fill:var(--s{index});"
        f"stroke:var(--paper)}}.h{index}{{fill:var(--h{index})}}"
        for index in range(8)
    )
    return (
        f":root{{color-scheme:light dark;{light}}}"
        f"@media screen and (prefers-color-scheme:dark){{:root{{{dark}}}}}\n" + _text("style.css") + series
    )


@cache
def _text(name: str) -> str:
    return files("allocator.report.html").joinpath(name).read_text(encoding="utf-8")


def _digest(text: str) -> str:
    return base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()


def _readable(value: Any) -> Any:
    """Texts without control characters; markup made by this package stays as it is."""
    return printable(value) if type(value) is str else value


@cache
def _environment() -> Environment:
    from jinja2 import Environment, PackageLoader, StrictUndefined

    return Environment(
        loader=PackageLoader("allocator.report.html"),
        autoescape=True,
        finalize=_readable,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
        keep_trailing_newline=True,
    )
