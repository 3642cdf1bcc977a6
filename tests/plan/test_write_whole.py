"""Files are written whole or not at all, whatever happens in between."""

from __future__ import annotations

import os
import signal
import stat
import subprocess
import sys
import time
from pathlib import Path

import pytest

from allocator.errors import InputError
from allocator.plan.whole import write_whole

POSIX = pytest.mark.skipif(os.name != "posix", reason="permissions, links and signals of POSIX")


def leftovers(folder: Path) -> list[str]:
    return [path.name for path in folder.iterdir() if path.name.endswith(".tmp")]


def test_a_new_file_and_a_replaced_one(tmp_path: Path) -> None:
    path = tmp_path / "p.json"
    write_whole(path, b"one")
    write_whole(path, b"two")
    assert path.read_bytes() == b"two"
    assert leftovers(tmp_path) == []


@POSIX
def test_permissions(tmp_path: Path) -> None:
    """A new file follows the umask, an old one keeps what it has."""
    path = tmp_path / "p.json"
    before = os.umask(0o027)
    try:
        write_whole(path, b"one")
    finally:
        os.umask(before)
    assert stat.S_IMODE(path.stat().st_mode) == 0o640
    path.chmod(0o604)
    write_whole(path, b"two")
    assert stat.S_IMODE(path.stat().st_mode) == 0o604


@POSIX
def test_links_keep_pointing_and_devices_are_written_to(tmp_path: Path) -> None:
    (tmp_path / "real").mkdir()
    (tmp_path / "link.json").symlink_to(tmp_path / "real" / "p.json")
    write_whole(tmp_path / "link.json", b"one")
    assert (tmp_path / "link.json").is_symlink()
    assert (tmp_path / "real" / "p.json").read_bytes() == b"one"
    write_whole("/dev/null", b"one")
    assert not stat.S_ISREG(Path("/dev/null").stat().st_mode)


def test_what_cannot_be_written_says_why(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="does not exist; create it first"):
        write_whole(tmp_path / "no" / "p.json", b"")
    with pytest.raises(InputError, match="is a folder"):
        write_whole(tmp_path, b"")
    with pytest.raises(InputError):
        write_whole(tmp_path / ("x" * 300), b"")
    (tmp_path / "file").write_bytes(b"")
    with pytest.raises(InputError):
        write_whole(tmp_path / "file" / "p.json", b"")
    with pytest.raises(InputError):
        write_whole("p\0.json", b"")
    assert leftovers(tmp_path) == []


def test_a_failure_leaves_the_old_file_and_no_other(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / "p.json"
    write_whole(path, b"old")

    def fail(*_: object) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(os, "fsync", fail)
    with pytest.raises(InputError, match="No space left on device"):
        write_whole(path, b"new")
    assert path.read_bytes() == b"old"
    assert leftovers(tmp_path) == []


@POSIX
def test_a_kill_at_any_moment_leaves_one_of_the_two_files(tmp_path: Path) -> None:
    """A process that writes two contents in turn is killed after varying times."""
    path = tmp_path / "p.json"
    contents = [bytes([letter]) * 300_000 for letter in b"ab"]
    script = (
        "import sys; from allocator.plan.whole import write_whole\n"
        "while True:\n"
        "    for letter in b'ab':\n"
        "        write_whole(sys.argv[1], bytes([letter]) * 300_000)\n"
    )
    for delay in (0.0, 0.003, 0.01, 0.03):
        path.unlink(missing_ok=True)
        process = subprocess.Popen([sys.executable, "-c", script, str(path)], cwd=Path(__file__).parents[2])
        try:
            deadline = time.monotonic() + 20
            while not path.exists() and time.monotonic() < deadline:
                time.sleep(0.001)
            time.sleep(delay)
        finally:
            process.send_signal(signal.SIGKILL)
            process.wait()
        assert path.read_bytes() in contents
