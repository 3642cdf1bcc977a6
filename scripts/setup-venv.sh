#!/bin/sh
# Make or repair .venv so that it holds the locked packages and this project (editable).
#
#   scripts/setup-venv.sh runtime    what `allocator` needs
#   scripts/setup-venv.sh dev        the same plus linters, type checker and test runner
#
# Needs python3 (3.11 or newer) with its venv module; PYTHON=/path/to/python3 chooses another interpreter.
# Silent and immediate when .venv is current. .venv/setup-state records what was installed: while an installation runs
# it says "unfinished", so an interrupted one, like a folder that was moved, is rebuilt from nothing by the next run.
set -eu

profile=${1:-}
case $profile in
runtime | dev) ;;
*)
    echo "usage: $0 runtime|dev" >&2
    exit 2
    ;;
esac

root=$(CDPATH='' cd -- "$(dirname -- "$0")/.." && pwd -P)
cd "$root"
venv=$root/.venv
state=$venv/setup-state

say() { echo "setup: $*" >&2; }

find_python() {
    if [ -n "${PYTHON:-}" ]; then
        candidates=$PYTHON
    else
        candidates="python3 python3.14 python3.13 python3.12 python3.11"
    fi
    for candidate in $candidates; do
        if "$candidate" -c 'import sys; sys.exit(sys.version_info < (3, 11))' 2>/dev/null; then
            echo "$candidate"
            return
        fi
    done
    say "none of these is a Python 3.11 or newer: $candidates; install one, or name it: PYTHON=/path/to/python3"
    return 1
}

# Two set-ups at a time would spoil each other's work: the second one waits (where flock exists).
if command -v flock >/dev/null; then
    exec 9<"$root/scripts/setup-venv.sh"
    flock 9
fi

current="$(cat pyproject.toml requirements/runtime.txt requirements/dev.txt | cksum) $root"
recorded=none
if [ -f "$state" ]; then recorded=$(cat "$state"); fi

if [ -x "$venv/bin/python" ]; then
    case $recorded in
    "$profile $current" | "dev $current") exit 0 ;; # dev contains runtime
    none | *" $root") ;;                            # made by hand, or by an older lock: install over it
    *)
        say ".venv is unfinished or was moved: rebuilding it"
        rm -rf "$venv"
        ;;
    esac
else
    rm -rf "$venv"
fi

if [ ! -d "$venv" ]; then
    python=$(find_python)
    say "creating .venv with $("$python" --version)"
    mkdir "$venv"
    echo unfinished >"$state"
    "$python" -m venv "$venv" || {
        say "'$python -m venv' failed; Debian and Ubuntu have the module in the package python3-venv"
        exit 1
    }
fi
echo unfinished >"$state"

say "installing requirements/$profile.txt (about half a minute the first time)"
pip() { "$venv/bin/python" -m pip --quiet --disable-pip-version-check "$@"; }
pip install --require-hashes --no-deps --no-compile --requirement "requirements/$profile.txt" # compiled on first import
pip install --no-deps --no-build-isolation --editable .

echo "$profile $current" >"$state"
