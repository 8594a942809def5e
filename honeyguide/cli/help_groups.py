"""Help texts that show commands and flags in groups, with or without a terminal."""

from collections.abc import Callable, Sequence
from functools import partial
from typing import Any

import typer
from typer.core import TyperCommand, TyperGroup

# groups of commands, in the order of `honeyguide --help`
CRAWL = "Crawl"
PAGES = "Pages"
RECORDED_WEBS = "Recorded webs"
RESEARCH = "Research"
SOURCE_PAGES = "Source pages"
# groups of flags, in the order of `honeyguide crawl --help`
LOOK_FOR = "What to look for"
START = "Where to start and where to go"
LIMITS = "Limits"
POLITENESS = "Live web and politeness"
ACCESS = "Sites that want something"
PARTS = "Agent and other parts"
OUTPUT = "Output and settings"
OTHERS = "Options"
# typer.Option for a flag of each group
look_for_flag = partial(typer.Option, rich_help_panel=LOOK_FOR)
start_flag = partial(typer.Option, rich_help_panel=START)
limit_flag = partial(typer.Option, rich_help_panel=LIMITS)
live_flag = partial(typer.Option, rich_help_panel=POLITENESS)
access_flag = partial(typer.Option, rich_help_panel=ACCESS)
part_flag = partial(typer.Option, rich_help_panel=PARTS)
output_flag = partial(typer.Option, rich_help_panel=OUTPUT)

Row = tuple[str, str]


def names_of(kind: str) -> Callable[[str], list[str]]:
    """Return what completes the names of parts of a kind in a shell."""

    def complete(incomplete: str) -> list[str]:
        from honeyguide.registry import known_names

        return sorted(name for name in known_names(kind) if name.startswith(incomplete))

    return complete


class GroupedCommand(TyperCommand):
    """A command whose help lists its flags by `rich_help_panel`, as plain text."""

    def format_options(self, ctx: Any, formatter: Any) -> None:
        """Write the arguments, then each group of flags under its heading."""
        arguments: list[Row] = []
        groups: dict[str, list[Row]] = {name: [] for name in (*FLAG_GROUPS, OTHERS)}
        for parameter in self.get_params(ctx):
            row = parameter.get_help_record(ctx)
            if row is not None and parameter.param_type_name == "argument":
                arguments.append(row)
            elif row is not None:
                groups[getattr(parameter, "rich_help_panel", None) or OTHERS].append(row)
        _write_sections(formatter, {"Arguments": arguments, **groups})


class GroupedCommands(TyperGroup):
    """A program whose help lists its commands by `rich_help_panel`, as plain text."""

    def format_commands(self, ctx: Any, formatter: Any) -> None:
        """Write each group of commands under its heading."""
        commands = {name: self.get_command(ctx, name) for name in self.list_commands(ctx)}
        groups: dict[str, list[Row]] = {name: [] for name in COMMAND_GROUPS}
        room = formatter.width - 6 - max(map(len, commands))
        for name, command in commands.items():
            if command is not None and not command.hidden:
                group = getattr(command, "rich_help_panel", None)
                groups[str(group)].append((name, command.get_short_help_str(room)))
        _write_sections(formatter, groups)


def _write_sections(formatter: Any, sections: dict[str, list[Row]]) -> None:
    width = max((len(first) for rows in sections.values() for first, _ in rows), default=0)
    for heading, rows in sections.items():
        if rows:
            with formatter.section(heading):
                formatter.write_dl([(first.ljust(width), second) for first, second in rows])


COMMAND_GROUPS: Sequence[str] = (CRAWL, PAGES, RECORDED_WEBS, RESEARCH, SOURCE_PAGES)
FLAG_GROUPS: Sequence[str] = (LOOK_FOR, START, LIMITS, POLITENESS, ACCESS, PARTS, OUTPUT)
