"""Whatever stands in a file, the answer is one clear message: never a traceback, never an internal fault."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from allocator.cli import main

LAUGHS = "a0: &a0 [x, x, x, x, x, x, x, x]\n" + "".join(
    f"a{n}: &a{n} [{', '.join([f'*a{n - 1}'] * 8)}]\n" for n in range(1, 12)
)
NODE = "{level: node, name: n, capacity: {cpu: 4}}"
HEAD = "format: allocator/v1\nname: x\n"

NASTY: dict[str, bytes | str] = {
    "empty": b"",
    "nul": b"\0",
    "utf-16": "format: allocator/v1".encode("utf-16"),
    "latin-1": b"name: caf\xe9\n",
    "list": "[]",
    "text": "hello",
    "map": "{}",
    "null": "null",
    "other format": "format: allocator/v2\n",
    "unknown alias": "a: *b",
    "recursive alias": "a: &a [*a]",
    "python tag": "a: !!python/object/apply:os.system ['echo pwned']",
    "billion laughs": LAUGHS,
    "deep": "[" * 100_000,
    "deep map": "{a: " * 10_000,
    "two documents": "a: 1\n---\nb: 2\n",
    "tab": "a:\n\t- b",
    "key twice": HEAD + "name: y\n",
    "unknown key": HEAD + "topologie: []\n",
    "topology is text": HEAD + "topology: rack\n",
    "workloads is a map": HEAD + "workloads: {a: 1}\n",
    "name twice": HEAD + f"topology: [{NODE}, {NODE}]\n",
    "class twice": HEAD + f"topology: [{NODE}]\nworkloads: [{{class: a}}, {{class: a}}]\n",
    "negative": HEAD + f"topology: [{NODE}]\nworkloads: [{{class: a, requests: {{cpu: -1}}}}]\n",
    "nan": HEAD + f"topology: [{NODE}]\nworkloads: [{{class: a, requests: {{cpu: .nan}}}}]\n",
    "infinite": HEAD + f"topology: [{NODE}]\nworkloads: [{{class: a, requests: {{cpu: .inf}}}}]\n",
    "null amount": HEAD + f"topology: [{NODE}]\nworkloads: [{{class: a, requests: {{cpu: null}}}}]\n",
    "huge exponent": HEAD + f"topology: [{NODE}]\nworkloads: [{{class: a, requests: {{cpu: 1e999999999}}}}]\n",
    "huge number": HEAD + f"topology: [{NODE}]\nworkloads: [{{class: a, requests: {{cpu: {'9' * 5000}}}}}]\n",
    "huge count": HEAD + f"topology: [{NODE}]\nworkloads: [{{class: a, count: 1e30, requests: {{cpu: 1}}}}]\n",
    "unknown unit": HEAD + f"topology: [{NODE}]\nworkloads: [{{class: a, requests: {{cpu: 1 parsec}}}}]\n",
    "unknown resource": HEAD + f"topology: [{NODE}]\nworkloads: [{{class: a, requests: {{gpus: 1}}}}]\n",
    "dangling class": HEAD + f"topology: [{NODE}]\nflows: [{{from: a, to: b, pattern: spread, rate: 1}}]\n",
    "missing table": HEAD + "tables: {workloads: none.csv}\n",
    "table is a folder": HEAD + "tables: {workloads: .}\n",
    "missing current": HEAD + f"topology: [{NODE}]\ncurrent: none.json\n",
    "unknown model": HEAD + f"model: magic\ntopology: [{NODE}]\nworkloads: [{{class: a}}]\n",
    "surrogate": '{"format": "allocator/v1", "name": "\\ud800"}',
}


@pytest.mark.parametrize("case", NASTY)
@pytest.mark.parametrize("suffix", [".yaml", ".json"])
def test_a_bad_instance_gives_2_and_a_message(
    case: str, suffix: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = tmp_path / f"nasty{suffix}"
    content = NASTY[case]
    path.write_bytes(content if isinstance(content, bytes) else content.encode())
    assert main(["solve", str(path), "--time-limit", "5s", "-q"]) == 2
    captured = capsys.readouterr()
    assert captured.out == ""
    assert captured.err.startswith("allocator: ")
    assert "Traceback" not in captured.err
    assert len(captured.err) < 5000
    assert "nasty" in captured.err or "magic" in captured.err


@pytest.mark.parametrize("case", NASTY)
def test_a_bad_model_gives_2_and_a_message(
    case: str, small: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = tmp_path / "nasty.yaml"
    content = NASTY[case]
    path.write_bytes(content if isinstance(content, bytes) else content.encode())
    assert main(["check", str(small), "--model", str(path)]) == 2
    captured = capsys.readouterr()
    assert "nasty" in captured.err
    assert "Traceback" not in captured.err


PLANS: dict[str, bytes] = {
    "empty": b"",
    "nul": b"\0",
    "list": b"[]",
    "map": b"{}",
    "deep": b"[" * 100_000,
    "nan": b'{"format": "allocator/plan/v1", "placements": NaN}',
    "huge": b'{"format": "allocator/plan/v1", "placements": [{"count": 1e999999999}]}',
    "shape": json.dumps({"format": "allocator/plan/v1", "placements": {"a": 1}}).encode(),
    "latin-1": b'{"format": "caf\xe9"}',
}


@pytest.mark.parametrize("case", PLANS)
def test_a_bad_plan_gives_2_and_a_message(
    case: str, small: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = tmp_path / "nasty.json"
    path.write_bytes(PLANS[case])
    for arguments in (["check", str(small), str(path)], ["solve", str(small), "--warm-start", str(path), "-q"]):
        assert main(arguments) == 2
        captured = capsys.readouterr()
        assert "nasty" in captured.err
        assert "Traceback" not in captured.err


@pytest.mark.parametrize("option", ["-o", "--checkpoint"])
def test_a_plan_is_never_written_over_its_instance(
    option: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = tmp_path / "instance.json"
    content = json.dumps(
        {
            "format": "allocator/v1",
            "name": "x",
            "model": "place",
            "topology": [{"level": "node", "name": "n", "capacity": {"cpu": 4}}],
            "workloads": [{"class": "a", "requests": {"cpu": 1}}],
        }
    )
    path.write_text(content)
    assert main(["solve", str(path), "--method", "greedy", option, str(path), "-q"]) == 2
    assert "would be lost" in capsys.readouterr().err
    assert path.read_text() == content


def test_a_conversion_is_never_written_over_its_source(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = tmp_path / "problem.yaml"
    path.write_text("1 2\n1 2\n3 4\n5\n")
    assert main(["convert", str(path), str(path), "--from", "gap", "--to", "allocator"]) == 2
    assert "would be lost" in capsys.readouterr().err
    assert path.read_text() == "1 2\n1 2\n3 4\n5\n"
