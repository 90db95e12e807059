# SPDX-License-Identifier: GPL-3.0-or-later
"""`sinew bake` and `sinew attach`: baking without a window.

    blender -b FILE --command sinew bake …     in an installed Blender, through `run_in_blender`
    sinew bake FILE …                          with the bpy wheel, through `bake_main`

Exit codes: 0 done, 2 bad input, 3 the solve or the disk failed, 130 cancelled.
"""

from __future__ import annotations

import argparse
import os
import sys
import tempfile
import traceback
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import NoReturn

from ...solver.runtime.cancellation import sigterm_as_interrupt
from ...solver.runtime.errors import BadInput, Cancelled, SinewError, SolveFailed
from ...solver.runtime.event_stream import EventStream, escape_unprintable_output

Command = Callable[[argparse.Namespace], int]


class OneLineParser(argparse.ArgumentParser):
    """A parser that reports an error in one sentence."""

    def error(self, message: str) -> NoReturn:
        """Ends with exit code 2."""
        self.exit(2, f"{self.prog}: {message}\n")


def bake_main(arguments: Sequence[str]) -> int:
    """Runs `sinew bake FILE.blend …` without a Blender installed, and returns its exit code."""
    return _run(_bake_parser(with_file=True), arguments, _bake, opens=True)


def attach_main(arguments: Sequence[str]) -> int:
    """Runs `sinew attach FILE.blend CACHE …` without a Blender installed, and returns its exit code."""
    return _run(_attach_parser(with_file=True), arguments, _attach, opens=True)


def run_in_blender(arguments: Sequence[str]) -> int:
    """Runs `blender -b FILE --command sinew bake|attach …` and returns its exit code."""
    commands = {"bake": (_bake_parser, _bake), "attach": (_attach_parser, _attach)}
    if not arguments or arguments[0] not in commands:
        print(f"sinew: choose one of {', '.join(commands)}", file=sys.stderr)
        return 2
    parser, run = commands[arguments[0]]
    return _run(parser(with_file=False), arguments[1:], run, opens=False)


def _bake_parser(with_file: bool) -> argparse.ArgumentParser:
    parser = OneLineParser(
        prog="sinew bake", description="Bake a .blend into its cache folder. The .blend stays unchanged."
    )
    if with_file:
        parser.add_argument("file", type=Path, metavar="FILE.blend")
    part = parser.add_mutually_exclusive_group()
    part.add_argument("--object", nargs="+", metavar="NAME", help="bake only these bodies, as if there were no others")
    part.add_argument(
        "--selected", nargs="+", metavar="NAME", help="bake these bodies again, while the others move as they are baked"
    )
    parser.add_argument("--scene", metavar="NAME", help="scene (the one that the file opens with)")
    parser.add_argument("--frame-start", type=int, metavar="N", help="frame, instead of the one in the file")
    parser.add_argument("--frame-end", type=int, metavar="N", help="frame, instead of the one in the file")
    begin = parser.add_mutually_exclusive_group()
    begin.add_argument("--resume", action="store_true", help="continue where the last bake stopped, if there is one")
    begin.add_argument("--start-over", action="store_true", help="bake all frames again (the default)")
    parser.add_argument(
        "--from-frame", type=int, metavar="N", help="with --resume: continue from this frame or an earlier one"
    )
    parser.add_argument(
        "--accept-changes", action="store_true", help="with --resume: continue even if the scene has changed"
    )
    parser.add_argument("--cache", type=Path, metavar="DIR", help="cache folder, instead of the one in the file")
    parser.add_argument("--threads", type=int, metavar="N", help="number of threads, which never changes the result")
    parser.add_argument("--strict", action="store_true", help="stop with exit code 3 when a step does not converge")
    parser.add_argument("--out", type=Path, metavar="BAKED.blend", help="also write a .blend that plays the cache")
    _add_force_curves(parser)
    parser.add_argument("--json", action="store_true", help="write events as JSON lines")
    return parser


def _attach_parser(with_file: bool) -> argparse.ArgumentParser:
    parser = OneLineParser(
        prog="sinew attach", description="Link a cache into a .blend. Objects play the body of the same name."
    )
    if with_file:
        parser.add_argument("file", type=Path, metavar="FILE.blend")
    parser.add_argument("cache", type=Path, metavar="CACHE", help="a NAME.sinew folder")
    parser.add_argument("--scene", metavar="NAME", help="scene (the one that the file opens with)")
    parser.add_argument("--out", type=Path, metavar="OUT.blend", help="write this file instead of changing FILE.blend")
    _add_force_curves(parser)
    parser.add_argument("--json", action="store_true", help="write events as JSON lines")
    return parser


def _add_force_curves(parser: argparse.ArgumentParser) -> None:
    words = "give colliders curves of the forces on them, for drivers, in the written .blend"
    parser.add_argument("--force-curves", action="store_true", help=words)


def _run(parser: argparse.ArgumentParser, arguments: Sequence[str], run: Command, opens: bool) -> int:
    try:
        options = parser.parse_args(arguments)
    except SystemExit as end:
        return int(end.code or 0)
    escape_unprintable_output()
    events = EventStream() if options.json else None
    options.emit = events.emit if events else None
    try:
        with sigterm_as_interrupt():
            if opens:
                _open_blend(options.file)
            return run(options)
    except SinewError as problem:
        return _report_failure(problem, options)
    except KeyboardInterrupt:
        return _report_failure(Cancelled(), options)
    except Exception as problem:
        traceback.print_exc()
        return _report_failure(
            SolveFailed("internal", problem=f"{type(problem).__name__}: {problem}", log="the lines above"), options
        )
    finally:
        if events:
            events.close()


def _report_failure(problem: SinewError, options: argparse.Namespace) -> int:
    print(f"sinew: {problem.text}", file=sys.stderr)
    if options.emit:
        options.emit(problem.as_event())
    return problem.exit_code


def _open_blend(path: Path) -> None:
    """Opens a .blend in the bpy module, with Sinew enabled and default preferences.

    Raises:
        BadInput: Blender cannot open it.
    """
    if not path.is_file():
        raise BadInput("blend-unreadable", path=str(path), problem="there is no such file")
    # a folder per run: other installed add-ons must not change a bake
    folder = tempfile.TemporaryDirectory(prefix="sinew-blender-")
    _temporary_folders.append(folder)
    os.environ["BLENDER_USER_RESOURCES"] = folder.name
    import bpy

    if "sinew" not in bpy.types.Object.bl_rna.properties:
        from .. import register

        register()
    try:
        bpy.ops.wm.open_mainfile(filepath=str(path.resolve()), load_ui=False)
    except RuntimeError as problem:
        words = str(problem).strip().removeprefix("Error: ").splitlines()[0]
        raise BadInput("blend-unreadable", path=str(path), problem=words) from problem


# the process removes them at its end
_temporary_folders: list[tempfile.TemporaryDirectory] = []


def _bake(options: argparse.Namespace) -> int:
    from . import headless

    return headless.bake(options)


def _attach(options: argparse.Namespace) -> int:
    from . import headless

    return headless.attach(options)


class BlenderCommand:
    """`blender --command sinew`, from `register` to `unregister`."""

    def __init__(self) -> None:
        self._handle: object = None

    def register(self) -> None:
        """Adds the command."""
        import bpy

        self._handle = bpy.utils.register_cli_command("sinew", run_in_blender)

    def unregister(self) -> None:
        """Removes it."""
        import bpy

        bpy.utils.unregister_cli_command(self._handle)
        self._handle = None


_command = BlenderCommand()
register, unregister = _command.register, _command.unregister
