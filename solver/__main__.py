# SPDX-License-Identifier: GPL-3.0-or-later
"""The command line of everything that needs no Blender: `sinew COMMAND …`, one file each in `commands/`.

Exit codes: 0 done, 2 bad input, 3 the solve or the disk failed, 130 cancelled. A failure is one sentence on standard
error and, with --json, an `error` event on standard output.
"""

from __future__ import annotations

import argparse
import importlib
import pkgutil
import sys
import traceback
from collections.abc import Sequence
from types import ModuleType
from typing import NoReturn

from .cli import commands
from .runtime.cancellation import sigterm_as_interrupt
from .runtime.errors import Cancelled, SinewError, SolveFailed, overriding_next_steps
from .runtime.event_stream import EventStream, escape_unprintable_output
from .runtime.freed_memory import keep_freed_memory

PROGRAM = "sinew"
EPILOG = "sinew bake and sinew attach work on .blend files. They need Blender's Python or the bpy wheel."


class OneLineParser(argparse.ArgumentParser):
    """A parser that reports an error in one sentence."""

    def error(self, message: str) -> NoReturn:
        """Ends with exit code 2."""
        self.exit(2, f"{self.prog}: {message}\n")


def main(arguments: Sequence[str] | None = None) -> int:
    """Runs the command in `arguments` (None: those of this process) and returns its exit code."""
    escape_unprintable_output()
    keep_freed_memory()
    try:
        words = list(sys.argv[1:] if arguments is None else arguments)
        options = _parser(words).parse_args(words)
    except SystemExit as end:
        return int(end.code or 0)
    # the messages of a child appear in Blender's window
    with overriding_next_steps({} if getattr(options, "child", False) else options.next_steps):
        return _run(options)


def _run(options: argparse.Namespace) -> int:
    events = EventStream() if options.json else None
    options.emit = events.emit if events else lambda event: None
    try:
        with sigterm_as_interrupt():
            return int(options.run(options))
    except SinewError as problem:
        return _report_failure(problem, options)
    except KeyboardInterrupt:
        return _report_failure(Cancelled(), options)
    except BrokenPipeError:
        return 130  # the reader has closed the pipe
    except Exception as problem:
        traceback.print_exc()
        return _report_failure(
            SolveFailed("internal", problem=f"{type(problem).__name__}: {problem}", log="the lines above"), options
        )
    finally:
        if events:
            events.close()


def _parser(words: Sequence[str]) -> OneLineParser:
    parser = OneLineParser(prog=PROGRAM, description="Simulate soft bodies made of tetrahedra.", epilog=EPILOG)
    subparsers = parser.add_subparsers(required=True, metavar="COMMAND", parser_class=OneLineParser)
    for command in _commands(words):
        command.add_parser(subparsers)
    for child in subparsers.choices.values():
        child.set_defaults(json=child.get_default("json") or False)
        child.set_defaults(next_steps=child.get_default("next_steps") or {})
    return parser


def _commands(words: Sequence[str]) -> list[ModuleType]:
    """Returns the modules of all commands, or only of the one in `words`, since others may import a lot."""
    names = sorted(found.name for found in pkgutil.iter_modules(commands.__path__))
    requested = [name for name in names if words and words[0] == name.replace("_", "-")]
    return [importlib.import_module(f"{commands.__name__}.{name}") for name in requested or names]


def _report_failure(problem: SinewError, options: argparse.Namespace) -> int:
    print(f"{PROGRAM}: {problem.text}", file=sys.stderr)
    try:
        options.emit(problem.as_event())
    except OSError:
        pass
    return problem.exit_code


if __name__ == "__main__":
    sys.exit(main())
