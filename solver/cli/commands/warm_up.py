# SPDX-License-Identifier: GPL-3.0-or-later
"""`sinew warm-up`: compiles all kernels that were not shipped now, so that no bake on this machine has to."""

from __future__ import annotations

import argparse
import ctypes
import os
import time as clock
from typing import Any

from ...runtime.cancellation import CancellationToken


def add_parser(subparsers: Any) -> None:
    """Adds the command and its options."""
    parser = subparsers.add_parser("warm-up", help="compile the kernels now, once per machine")
    parser.add_argument("--json", action="store_true", help="say what happens as JSON lines")
    parser.add_argument("--gently", action="store_true", help="only when the processor has nothing else to do")
    parser.add_argument("--child", action="store_true", help="end when standard input closes")
    # of 0.2: only some of them; scripts may still ask for that
    parser.add_argument(
        "--steps", "--steps-of-many", "--flesh", "--averaged-flesh", "--levels", "--touching",
        action="store_true", help=argparse.SUPPRESS,
    )  # fmt: skip
    parser.set_defaults(run=run)


def run(options: argparse.Namespace) -> int:
    """Compiles and returns the exit code."""
    began = clock.perf_counter()
    if options.child:
        CancellationToken().listen_to_input(lambda: None)
    if options.gently:
        lower_priority()
    from ...bake.warmup.compile_kernels import compile_all

    compile_all(options.emit)
    seconds = clock.perf_counter() - began
    options.emit({"event": "done", "seconds": seconds})
    if not options.json:
        print(f"compiled in {seconds:.1f} s")
    return 0


def lower_priority() -> None:
    """Lets every other program go first."""
    if os.name == "nt":
        below_normal = 0x4000
        kernel32 = ctypes.windll.kernel32  # type: ignore[attr-defined]
        kernel32.SetPriorityClass(kernel32.GetCurrentProcess(), below_normal)
    else:
        os.nice(19)
