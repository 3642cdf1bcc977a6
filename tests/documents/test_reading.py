"""Files to plain trees: syntax, encodings, duplicate keys, hostile files."""

from __future__ import annotations

import json
from decimal import Decimal
from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from allocator.documents.memory import plain_tree
from allocator.documents.reading import read_document
from allocator.errors import InputError


def read(folder: Path, name: str, content: bytes | str) -> tuple[Any, list[str]]:
    path = folder / name
    path.write_bytes(content if isinstance(content, bytes) else content.encode())
    tree, problems = read_document(path)
    return tree, [str(problem) for problem in problems]


def test_scalars_stay_text(tmp_path: Path) -> None:
    """Nothing but null is resolved: no, 1e9, 12:30 and 0x1F are names, and numbers keep every digit."""
    tree, problems = read(
        tmp_path, "a.yaml", "[no, 1e9, 12:30, 0x1F, 2001-01-01, 0.10000000000000000001, ~, null, '~', '']"
    )
    assert problems == []
    assert tree == ["no", "1e9", "12:30", "0x1F", "2001-01-01", "0.10000000000000000001", None, None, "~", ""]


def test_json_keeps_every_digit(tmp_path: Path) -> None:
    """JSON numbers reach the schema as they were written."""
    tree, _ = read(tmp_path, "a.json", '{"x": [1e3, 0.10000000000000000001, -7, true, null, NaN]}')
    assert tree == {"x": ["1e3", "0.10000000000000000001", "-7", "true", None, "NaN"]}


def test_json_is_recognised_without_its_suffix(tmp_path: Path) -> None:
    """A file that begins like JSON is read as JSON, so that its errors are worded for it."""
    assert read(tmp_path, "a.txt", '{"a": "\\u00e9"}')[0] == {"a": "\u00e9"}


def test_yaml_and_json_agree(tmp_path: Path) -> None:
    """JSON is YAML: both readers give the same tree."""
    text = json.dumps({"a": [1, 2.5, {"b": None, "c": "x"}], "d": True})
    assert read(tmp_path, "a.json", text)[0] == read(tmp_path, "a.yaml", text)[0]


def test_duplicate_keys_name_their_line(tmp_path: Path) -> None:
    """Every key that stands twice in a map is reported, not only the first."""
    _, problems = read(tmp_path, "a.yaml", "a: 1\nb: {c: 1, c: 2}\na: 3\n")
    assert problems == [
        'line 2: the key "c" stands twice in one map; keep one',
        'line 3: the key "a" stands twice in one map; keep one',
    ]
    assert len(read(tmp_path, "a.json", '{"a": 1, "a": 2}')[1]) == 1


def test_aliases_are_shared(tmp_path: Path) -> None:
    """An alias repeats what its anchor holds."""
    assert read(tmp_path, "a.yaml", "a: &x {b: 1}\nc: *x\nd: &y no\ne: *y")[0]["c"] == {"b": "1"}


def test_core_tags_are_allowed(tmp_path: Path) -> None:
    """Tags of the core schema change nothing, since scalars are text anyway."""
    assert read(tmp_path, "a.yaml", "%YAML 1.2\n---\na: !!str 5\nb: !!int 3\n")[0] == {"a": "5", "b": "3"}


@pytest.mark.parametrize(
    ("name", "content", "message"),
    [
        ("bytes.yaml", b"\xff\xfe\x00a", "is not UTF-8"),
        ("control.yaml", b"a: \x00\x01", "is not YAML"),
        ("tab.yaml", b"a:\n\tb: c", "tabs"),
        ("flow.yaml", b"[" * 100_000, "nest"),
        ("block.yaml", b"- " * 500 + b"x", "more than 64 levels"),
        ("deep.json", b"[" * 100_000, "more than 64 levels"),
        ("depth.json", b"[" * 70 + b"]" * 70, "more than 64 levels"),
        ("open.json", b'{"a": [1, 2', "is not JSON"),
        ("empty.json", b"", "is not JSON"),
        ("half.json", b'{"a": "\\ud800"}', "surrogate"),
        ("half-key.json", b'{"\\ud800": 1}', "surrogate"),
        ("cycle.yaml", b"a: &x [*x]", "refers to nothing"),
        ("nothing.yaml", b"a: *x", "refers to nothing|undefined"),
        ("tag.yaml", b"a: !!python/object/apply:os.system [ls]", "core schema"),
        ("own.yaml", b"!mine {a: b}", "core schema"),
        ("two.yaml", b"a: b\n---\nc: d\n", "second document"),
        ("version.yaml", b"%YAML 9.9\n---\na\n", "is not YAML"),
    ],
)
def test_hostile_files_are_refused(tmp_path: Path, name: str, content: bytes, message: str) -> None:
    """Whatever the bytes, the answer is one problem with its place."""
    with pytest.raises(InputError, match=message):
        read(tmp_path, name, content)


def test_nested_aliases_do_not_explode(tmp_path: Path) -> None:
    """Aliases of aliases are refused by what they expand to, before anything is expanded."""
    lines = ["a0: &a0 [x, x, x, x, x, x, x, x, x, x]"]
    lines += [f"a{i}: &a{i} [{', '.join([f'*a{i - 1}'] * 10)}]" for i in range(1, 30)]
    with pytest.raises(InputError, match="aliases expand"):
        read(tmp_path, "laughs.yaml", "\n".join(lines))


def test_files_that_cannot_be_opened(tmp_path: Path) -> None:
    """A missing file, a folder and an impossible name are problems of the input."""
    for path in (tmp_path / "missing.yaml", tmp_path, Path("a\0b")):
        with pytest.raises(InputError):
            read_document(path)


def test_keys_that_are_no_text(tmp_path: Path) -> None:
    """A map, a list or nothing as a key is reported and passed over."""
    tree, problems = read(tmp_path, "a.yaml", "? [a]\n: b\n~: c\nd: e\n")
    assert tree == {"d": "e"}
    assert len(problems) == 2


def test_memory_documents_become_text() -> None:
    """Numbers of any kind become their exact decimal; a float is the decimal it prints as."""
    tree = plain_tree({"a": (1, 0.1, Decimal("2.50"), Fraction(1, 8), True, None), 3: np.float64(0.5)}, "x")
    assert tree == {"a": ["1", "0.1", "2.50", "125e-3", "true", None], "3": "0.5"}


def test_memory_documents_with_other_things_are_refused() -> None:
    """Sets, bytes, objects, endless fractions, cycles and keys that collide are named with their place."""
    cycle: list[Any] = []
    cycle.append(cycle)
    for bad, path in (
        ({"a": "\ud800"}, "a"),
        ({"\ud800": 1}, "document"),
        ({"a": {1}}, "a"),
        ({"a": [b"x"]}, "a[0]"),
        ({"a": Fraction(1, 3)}, "a"),
        ({"1": 0, 1: 0}, "1"),
    ):
        with pytest.raises(InputError) as caught:
            plain_tree(bad, "x")
        assert caught.value.problems[0].path == path
    with pytest.raises(InputError, match="more than 64"):
        plain_tree(cycle, "x")
