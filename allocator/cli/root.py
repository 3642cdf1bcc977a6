"""The group of commands. Knows their names and one line about each; imports a command when it is invoked."""

from __future__ import annotations

from importlib import import_module

import click

__all__ = ["LazyGroup", "cli"]

COMMANDS = {
    "solve": "Find a plan for an instance.",
    "check": "Check an instance, or a plan for it.",
    "bench": "Run a benchmark suite into a report folder.",
    "report": "Make a page of a report folder.",
    "generate": "Write a seeded instance of a size and a load.",
    "convert": "Convert between file formats.",
    "catalog": "Show the hardware and models that come with it.",
    "schema": "Print the JSON Schema of instance files.",
    "versions": "Print the versions that an answer depends on.",
}


class LazyGroup(click.Group):
    """A group whose commands live in ``allocator.cli.NAME`` as ``command``."""

    def list_commands(self, ctx: click.Context) -> list[str]:  # noqa: ARG002 (click's signature)
        """Names in the order of a first use."""
        return list(COMMANDS)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:  # noqa: ARG002 (click's signature)
        """Import the command's module."""
        if cmd_name not in COMMANDS:
            return None
        command: click.Command = import_module(f"allocator.cli.{cmd_name}").command
        return command

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:  # noqa: ARG002 (click's signature)
        """List the commands without importing them."""
        with formatter.section("Commands"):
            formatter.write_dl(list(COMMANDS.items()))


def _version(ctx: click.Context, _param: click.Parameter, wanted: bool) -> None:
    if wanted and not ctx.resilient_parsing:
        import allocator

        click.echo(f"allocator {allocator.__version__}")
        ctx.exit()


@click.group(cls=LazyGroup, context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 100})
@click.option("--debug", is_flag=True, expose_value=False, help="Show the traceback of an internal fault.")
@click.option(
    "--version", is_flag=True, is_eager=True, expose_value=False, callback=_version, help="Print the version and exit."
)
def cli() -> None:
    """Decide which agent runs on which node of a cluster, and with which shares.

    Exit codes: 0 a feasible plan was found (check: it holds), 1 there is none, 2 bad input or arguments, 3 an internal
    fault. Results go to stdout, log and progress to stderr.
    """
