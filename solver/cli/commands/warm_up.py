# SPDX-License-Identifier: GPL-3.0-or-later
"""`sinew warm-up`: compiles all kernels, so that no bake on this machine has to."""

from __future__ import annotations

import argparse
import ctypes
import gc
import os
import time as clock
from pathlib import Path
from typing import Any

from ...runtime.cancellation import CancellationToken


def add_parser(subparsers: Any) -> None:
    """Adds the command and its options."""
    parser = subparsers.add_parser("warm-up", help="compile the kernels now, once per machine")
    parser.add_argument("--steps", action="store_true", help="only the kernels of time steps")
    parser.add_argument(
        "--steps-of-many", action="store_true", help="the kernels of time steps, also with contact between bodies"
    )
    parser.add_argument(
        "--beside", type=Path, metavar="CACHE", help="the kernels that a bake of that scene needs, time steps first"
    )
    parser.add_argument("--flesh", action="store_true", help="only the kernels of flesh")
    parser.add_argument("--averaged-flesh", action="store_true", help="only the kernels of nearly incompressible flesh")
    parser.add_argument("--levels", action="store_true", help="only the kernels of multigrid")
    parser.add_argument("--touching", action="store_true", help="only the kernels of contact between bodies")
    parser.add_argument("--json", action="store_true", help="write events as JSON lines")
    parser.add_argument("--gently", action="store_true", help="run only when the processor is idle")
    parser.add_argument("--child", action="store_true", help="stop when standard input closes")
    parser.set_defaults(run=run)


def run(options: argparse.Namespace) -> int:
    """Compiles and returns the exit code."""
    began = clock.perf_counter()
    if options.child:
        CancellationToken().listen_to_input(lambda: None)
    gc.disable()  # the compiler's objects live to the end: 6 % of the time
    if options.gently:
        lower_priority()
    if options.beside:
        from ...bake.warmup.warm_up import compile_for_running_bake

        compile_for_running_bake(options.beside, options.emit)
    elif options.steps or options.steps_of_many:
        from ...bake.warmup.compile_step import compile_active_set, compile_coupled_bodies, compile_step

        compile_active_set()  # first: the building process needs it while this one compiles the solve
        compile_step()
        if options.steps_of_many:
            compile_coupled_bodies()
    elif options.flesh or options.averaged_flesh:
        from ...bake.warmup.compile_flesh import compile_flesh

        compile_flesh(options.averaged_flesh)
    elif options.levels:
        from ...bake.warmup.compile_multigrid import compile_multigrid

        compile_multigrid()
    elif options.touching:
        from ...bake.warmup.compile_contact import compile_surface_contacts

        compile_surface_contacts()
    else:
        from ...bake.warmup.small_scenes import free_fall_scene, full_feature_scene, pinned_scene
        from ...bake.warmup.warm_up import warm_up

        for scene in (free_fall_scene(), pinned_scene(), full_feature_scene()):  # most needed first
            warm_up(scene, options.emit)
    seconds = clock.perf_counter() - began
    options.emit({"event": "done", "seconds": seconds})
    if not options.json:
        print(f"compiled in {seconds:.1f} s")
    return 0


def lower_priority() -> None:
    """Lowers the priority of this process and of those that it starts."""
    if os.name == "nt":
        below_normal = 0x4000
        kernel32 = ctypes.windll.kernel32  # type: ignore[attr-defined]
        kernel32.SetPriorityClass(kernel32.GetCurrentProcess(), below_normal)
    else:
        os.nice(19)
