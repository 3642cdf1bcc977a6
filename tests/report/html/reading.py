"""A page read back strictly: elements, ids, references, headings, tables. Refuses what a browser would forgive."""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from html.parser import HTMLParser
from itertools import pairwise

VOID = {"meta", "link", "input", "br", "hr", "img"}
SHAPES = {"path", "rect", "circle"}


@dataclass
class Element:
    """An element with its attributes, children and text."""

    tag: str
    attributes: dict[str, str | None]
    parent: Element | None = None
    children: list[Element] = field(default_factory=list)
    own_text: str = ""

    def all(self, *tags: str) -> list[Element]:
        """Elements of these tags below, in order."""
        found = []
        for child in self.children:
            if child.tag in tags:
                found.append(child)
            found += child.all(*tags)
        return found

    @property
    def text(self) -> str:
        """All text inside."""
        return self.own_text + "".join(child.text for child in self.children)


class _Reader(HTMLParser):
    def __init__(self) -> None:
        super().__init__(convert_charrefs=True)
        self.root = Element("", {})
        self.at = self.root

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        names = [name for name, _ in attrs]
        assert len(names) == len(set(names)), f"<{tag}> has an attribute twice"
        element = Element(tag, dict(attrs), self.at)
        self.at.children.append(element)
        if tag not in VOID:
            self.at = element

    def handle_startendtag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        assert tag in SHAPES, f"<{tag}/> closes itself"
        self.at.children.append(Element(tag, dict(attrs), self.at))

    def handle_endtag(self, tag: str) -> None:
        assert self.at.tag == tag, f"</{tag}> closes <{self.at.tag}>"
        assert self.at.parent is not None
        self.at = self.at.parent

    def handle_data(self, data: str) -> None:
        self.at.own_text += data


def read_page(page: str) -> Element:
    """The page as a tree; every element is closed where it should be."""
    reader = _Reader()
    reader.feed(page)
    reader.close()
    assert reader.at is reader.root, f"<{reader.at.tag}> is never closed"
    return reader.root


def check_page(page: str) -> Element:
    """Everything that must hold of any page; returns it as a tree."""
    tree = read_page(page)
    elements = tree.all(*{element.tag for element in _everything(tree)})
    _check_alone(page, elements)
    _check_names(elements)
    _check_structure(tree)
    return tree


def _everything(tree: Element) -> list[Element]:
    found = list(tree.children)
    for child in tree.children:
        found += _everything(child)
    return found


def _check_alone(page: str, elements: list[Element]) -> None:
    assert len(page.encode()) < 1.5 * 2**20
    for element in elements:
        for name in ("src", "href", "action", "data", "poster", "srcset", "xlink:href"):
            target = element.attributes.get(name)
            if target is not None:
                assert target.startswith(("#", "data:,")), f"<{element.tag} {name}={target!r}> leaves the page"
        assert not any(name.startswith("on") for name in element.attributes), "a handler in the markup"
        assert "style" not in element.attributes, "a style in the markup, which the policy forbids"
    scripts = [element for element in elements if element.tag == "script"]
    assert len(scripts) == 1
    assert not re.search(r"\b(?:fetch|XMLHttpRequest|import|eval)\b", scripts[0].text)
    assert not re.search(r"url\(|@import", next(element for element in elements if element.tag == "style").text)


def _check_names(elements: list[Element]) -> None:
    ids = [element.attributes["id"] for element in elements if "id" in element.attributes]
    twice = {name for name in ids if ids.count(name) > 1}
    assert not twice, f"ids that stand twice: {sorted(map(str, twice))[:5]}"
    for element in elements:
        references = (element.attributes.get("aria-labelledby") or "").split()
        if (element.attributes.get("href") or "").startswith("#"):
            references.append(str(element.attributes["href"])[1:])
        for name in references:
            assert name in ids, f"<{element.tag}> refers to {name}, which is not there"


def _check_structure(tree: Element) -> None:
    assert tree.all("html")[0].attributes["lang"] == "en"
    assert len(tree.all("main")) == len(tree.all("header")) == len(tree.all("footer")) == len(tree.all("h1")) == 1
    levels = [int(heading.tag[1]) for heading in tree.all("h1", "h2", "h3", "h4", "h5")]
    assert levels[0] == 1
    for above, below in pairwise(levels):
        assert below <= above + 1, "a heading leaves out a level"
    for drawing in tree.all("svg"):
        if drawing.attributes.get("aria-hidden") == "true":
            continue
        assert drawing.attributes.get("role") == "img"
        assert drawing.children[0].tag == "title"
        assert drawing.children[0].text
        assert drawing.children[1].tag == "desc"
        assert drawing.children[1].text
        assert drawing.attributes.get("viewbox")
    for figure in tree.all("figure"):
        assert figure.all("table") or figure.all("a"), "a drawing without its numbers"
    for table in tree.all("table"):
        assert table.all("caption")[0].text
        heads = table.all("th")
        assert all(head.attributes.get("scope") == "col" and head.text for head in heads)
        for row in table.all("tbody")[0].all("tr"):
            assert len(row.all("td")) == len(heads), f"a row of {table.attributes.get('id')} is not as wide as its head"


def rows_of(tree: Element, key: str) -> list[dict[str, str]]:
    """Rows of the table with that id, by head."""
    table = next(element for element in tree.all("table") if element.attributes.get("id") == key)
    heads = [head.text for head in table.all("th")]
    return [
        dict(zip(heads, (cell.text for cell in row.all("td")), strict=True)) for row in table.all("tbody")[0].all("tr")
    ]
