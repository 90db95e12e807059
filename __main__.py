# SPDX-License-Identifier: GPL-3.0-or-later
"""The console command `sinew`: what works on .blend files needs bpy, everything else does not."""

from __future__ import annotations

import importlib.util
import os
import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager

from .solver.runtime.reproducible_library_environment import fix_numeric_environment

NEED_BLENDER = ("bake", "attach")


def main(arguments: Sequence[str] | None = None) -> int:
    """Runs one command and returns its exit code."""
    words = list(sys.argv[1:] if arguments is None else arguments)
    if "numpy" not in sys.modules:
        fix_numeric_environment()
    if not words or words[0] not in NEED_BLENDER:
        from .solver.__main__ import main as without_blender

        return without_blender(words)
    if importlib.util.find_spec("bpy") is None:
        print(f"sinew: {words[0]} works on .blend files and needs the bpy wheel: pip install bpy", file=sys.stderr)
        return 2
    with _output_beside():
        from .addon.command_line import commands

    return commands.bake_main(words[1:]) if words[0] == "bake" else commands.attach_main(words[1:])


@contextmanager
def _output_beside() -> Iterator[None]:
    """Sends what Blender's module prints while it is loaded to standard error: standard output is for results."""
    sys.stdout.flush()
    kept = os.dup(1)
    os.dup2(2, 1)
    try:
        yield
    finally:
        os.dup2(kept, 1)
        os.close(kept)


if __name__ == "__main__":
    sys.exit(main())
