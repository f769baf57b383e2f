"""Commands whose arguments may be numbers below zero, though these look like options."""

from __future__ import annotations

import re
from itertools import takewhile

import typer
from typer.core import TyperCommand

_NEGATIVE = re.compile(r"-\d+(\.\d+)?([eE][+-]?\d+)?")


class NegativeNumbersCommand(TyperCommand):
    """Takes `-5` for an argument; anything else that begins with a dash is an option."""

    def parse_args(  # type: ignore[override]
        self, ctx: typer.Context, args: list[str]
    ) -> list[str]:
        """Read the command line; an option that does not exist is a usage error all the same."""
        options = set(filter(_is_like_an_option, takewhile(lambda each: each != "--", args)))
        ctx.ignore_unknown_options = any(map(_NEGATIVE.fullmatch, args))
        remaining = super().parse_args(ctx, args)
        for name, value in ctx.params.items():
            if value in options and name in _arguments(self):
                raise typer.BadParameter(f"No such option: {value}", ctx=ctx)
        return remaining


def _is_like_an_option(text: str) -> bool:
    return text.startswith("-") and text != "-" and not _NEGATIVE.fullmatch(text)


def _arguments(command: TyperCommand) -> set[str | None]:
    return {each.name for each in command.params if each.param_type_name == "argument"}
