"""Records on disk: whole lines or none, one writer, what is wrong is named."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest

from allocator.benchmark.exports import export_csv, export_parquet
from allocator.benchmark.records import RecordFile, read_manifest, read_records, records_frame
from allocator.errors import ArgumentError, InputError
from allocator.plan.record import Record, exact
from tests.benchmark.record_builder import make

RECORDS = [
    make("a", "x", bound=10, trace=((0.5, 0, 12.0, None), (1.0, 0, 10.0, 10.0))),
    make("a", "y", outcome="crashed", error="it, and “quotes”\n"),
    make("b", "x", value=0.1, bound=None),
]


def write(folder: Path, *records: Record) -> bytes:
    with RecordFile(folder) as file:
        for record in records:
            file.append(record)
    return (folder / "records.jsonl").read_bytes()


def test_a_record_survives_its_line() -> None:
    for record in RECORDS:
        line = record.to_json()
        assert "\n" not in line
        assert Record.from_json(line) == record
        assert json.loads(line)["format"] == "allocator/record/v1"


def test_every_key_of_the_contract_is_there() -> None:
    keys = (
        "format run suite case instance model method seed limits versions machine outcome error status reason levels "
        "result checked trace first_plan_seconds seconds cpu_seconds peak_memory_mib size best_known plan started"
    )
    for record in RECORDS:
        assert set(json.loads(record.to_json())) == set(keys.split())


@pytest.mark.parametrize(
    "spoil",
    [
        lambda tree: tree.pop("seed"),
        lambda tree: tree.update(more=1),
        lambda tree: tree.update(format="other"),
        lambda tree: tree.update(outcome="fine"),
    ],
)
def test_what_is_no_record_is_refused(spoil) -> None:  # type: ignore[no-untyped-def]
    tree = json.loads(RECORDS[0].to_json())
    spoil(tree)
    with pytest.raises(ValueError, match=r"no record|outcome"):
        Record.from_json(json.dumps(tree))


def test_numbers_are_the_decimals_they_print_as() -> None:
    assert exact(0.1) * 10 == 1
    assert exact(None) is None
    assert RECORDS[2].value == exact(0.1)


def test_a_refuted_record_has_no_value_and_proves_nothing() -> None:
    record = make(value=10, bound=10, wrong=True)
    assert (record.wrong, record.has_plan, record.solved, record.value, record.bound) == (
        True,
        False,
        False,
        None,
        None,
    )


def test_records_come_back_in_order(tmp_path: Path) -> None:
    assert read_records(tmp_path) == []
    write(tmp_path, *RECORDS)
    assert read_records(tmp_path) == RECORDS


@pytest.mark.parametrize("cut", [1, 2, 200])
def test_a_torn_last_line_is_dropped_and_cut_off_before_the_next_one(tmp_path: Path, cut: int) -> None:
    whole = write(tmp_path, *RECORDS)
    path = tmp_path / "records.jsonl"
    path.write_bytes(whole[:-cut])
    assert read_records(tmp_path) == RECORDS[:2]
    assert path.read_bytes() == whole[:-cut]  # reading changes nothing
    assert write(tmp_path, RECORDS[2]) == whole


def test_a_spoilt_line_in_the_middle_is_named(tmp_path: Path) -> None:
    data = write(tmp_path, *RECORDS).split(b"\n")
    (tmp_path / "records.jsonl").write_bytes(b"\n".join([data[0], b"{", data[2], data[0], b""]))
    with pytest.raises(InputError) as caught:
        read_records(tmp_path)
    assert [problem.path for problem in caught.value.problems] == ["line 2", "line 4"]
    with pytest.raises(InputError):
        RecordFile(tmp_path)


def test_a_second_writer_is_kept_out(tmp_path: Path) -> None:
    code = (
        "import sys; from pathlib import Path; from allocator.benchmark.records import RecordFile; "
        "RecordFile(Path(sys.argv[1]))"
    )
    command = [sys.executable, "-c", code, str(tmp_path)]
    with RecordFile(tmp_path):
        done = subprocess.run(command, capture_output=True, text=True, check=False, cwd=Path(__file__).parents[2])
    assert "another process writes here now" in done.stderr
    assert subprocess.run(command, capture_output=True, check=False, cwd=Path(__file__).parents[2]).returncode == 0


def test_a_folder_without_a_manifest_is_no_report(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="no such file"):
        read_manifest(tmp_path)
    (tmp_path / "manifest.json").write_text("[]")
    with pytest.raises(InputError, match="allocator/report/v1"):
        read_manifest(tmp_path)


def test_the_tables_say_what_the_records_say(tmp_path: Path) -> None:
    import pandas as pd

    write(tmp_path, *RECORDS)
    frame = records_frame(tmp_path)
    assert list(frame["method"]) == ["x", "y", "x"]
    assert list(frame["value"].dropna()) == [10, 0.1]
    assert list(frame["solved"]) == [True, False, False]
    assert frame["error"][1] == "it, and “quotes”\n"
    export_csv(tmp_path, tmp_path / "records.csv")
    read = pd.read_csv(tmp_path / "records.csv")
    assert list(read.columns) == list(frame.columns)
    assert list(read["case"]) == list(frame["case"])
    assert read["value"].isna().tolist() == frame["value"].isna().tolist()


def test_parquet_says_the_same_or_what_is_missing(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    import pandas as pd

    write(tmp_path, *RECORDS)
    path = tmp_path / "records.parquet"
    monkeypatch.setattr("allocator.benchmark.exports.find_spec", lambda _name: None)
    with pytest.raises(ArgumentError, match=r"allocator\[parquet\]"):
        export_parquet(tmp_path, path)
    assert not path.exists()
    monkeypatch.undo()
    pytest.importorskip("pyarrow")
    export_parquet(tmp_path, path)
    read = pd.read_parquet(path)
    assert list(read["run"]) == [record.run for record in RECORDS]
    assert list(read["seconds"]) == [1.0, 1.0, 1.0]
