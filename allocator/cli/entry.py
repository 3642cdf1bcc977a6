"""Exit codes and messages: the only place where an exception becomes what a person sees.

0 a feasible plan (a check that holds), 1 none, 2 bad input or arguments or a method that refuses, 3 a fault of this
program, 130 ended by a second interruption. Must not know any single command.
"""

from __future__ import annotations

import contextlib
import os
import sys

import click

from allocator.cli.output import emit, pacify
from allocator.errors import AllocatorError

__all__ = ["BAD_INPUT", "INTERNAL", "INTERRUPTED", "NO_PLAN", "OK", "run"]

OK = 0
NO_PLAN = 1
BAD_INPUT = 2
INTERNAL = 3
INTERRUPTED = 130

HOW_TO_DEBUG = "This is a fault of allocator, not of the input; ALLOCATOR_DEBUG=1 or --debug shows where it happened."


def run(arguments: list[str] | None, started: float) -> int:
    """Run a command; every failure is one message on stderr and an exit code, never a traceback unless asked for.

    Parameters
    ----------
    started : when the program began (``time.monotonic``); commands find it as the context's object.
    """
    from allocator.cli.root import cli

    given = list(sys.argv[1:] if arguments is None else arguments)
    if "_ALLOCATOR_COMPLETE" in os.environ:
        cli.main(args=given, prog_name="allocator")  # the shell asks for completions
    try:
        with cli.make_context("allocator", list(given), obj=started) as context:
            code = cli.invoke(context)
        emit("")
    except (Exception, KeyboardInterrupt) as error:  # noqa: BLE001 (no fault may look like an answer)
        return _failure(error, debug="--debug" in given or os.environ.get("ALLOCATOR_DEBUG", "") not in {"", "0"})
    return code if isinstance(code, int) else OK


def _failure(error: BaseException, *, debug: bool) -> int:
    """Say what happened, in one message, and return the exit code."""
    if isinstance(error, click.exceptions.Exit):
        return error.exit_code
    if isinstance(error, click.exceptions.NoArgsIsHelpError):
        click.echo(error.format_message(), err=True)
        return BAD_INPUT
    if isinstance(error, BrokenPipeError):
        pacify()
        return OK
    code, message = _diagnosis(error)
    if code == INTERNAL:
        message = f"internal fault: {message}"
        if debug:
            import traceback

            click.echo("".join(traceback.format_exception(error)), err=True, nl=False)
        else:
            message += f"\n{HOW_TO_DEBUG}"
    with contextlib.suppress(OSError):  # the reader of stderr may have gone; the exit code stays
        click.echo(f"allocator: {message}", err=True)
    return code


def _diagnosis(error: BaseException) -> tuple[int, str]:
    """Exit code and message of an exception."""
    code, message = INTERNAL, f"{type(error).__name__}: {error}"
    match error:
        case click.ClickException():
            code, message = BAD_INPUT, error.format_message()
            if isinstance(error, click.UsageError) and error.ctx is not None:
                message += f" (see: {error.ctx.command_path} --help)"
        case KeyboardInterrupt() | click.Abort():
            code, message = INTERRUPTED, "interrupted"
        case AllocatorError():
            code, message = error.exit_code, str(error)
        case MemoryError():
            message = "out of memory"
        case OSError() if error.filename is not None:
            code, message = BAD_INPUT, f"{error.filename}: {error.strerror}"
    return code, message
