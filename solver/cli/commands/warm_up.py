# SPDX-License-Identifier: GPL-3.0-or-later
"""`sinew warm-up`: compiles all kernels now, so that no bake on this machine has to."""

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
    """Says the options."""
    parser = subparsers.add_parser("warm-up", help="compile the kernels now, once per machine")
    parser.add_argument("--steps", action="store_true", help="only those of the simulation's steps")
    parser.add_argument("--steps-of-many", action="store_true", help="those, and of bodies that push each other")
    parser.add_argument("--beside", type=Path, metavar="CACHE", help="what a bake of that scene needs, steps first")
    parser.add_argument("--flesh", action="store_true", help="only those of flesh")
    parser.add_argument("--averaged-flesh", action="store_true", help="only those of nearly incompressible flesh")
    parser.add_argument("--levels", action="store_true", help="only those of multigrid")
    parser.add_argument("--touching", action="store_true", help="only those of bodies that meet each other")
    parser.add_argument("--json", action="store_true", help="say what happens as JSON lines")
    parser.add_argument("--gently", action="store_true", help="only when the processor has nothing else to do")
    parser.add_argument("--child", action="store_true", help="end when standard input closes")
    parser.set_defaults(run=run)


def run(options: argparse.Namespace) -> int:
    """Compiles and returns the exit code."""
    began = clock.perf_counter()
    if options.child:
        CancellationToken().listen_to_input(lambda: None)
    gc.disable()  # what a compiler makes is needed to the end: 6 % of the time
    if options.gently:
        lower_priority()
    if options.beside:
        from ...bake.warmup.warm_up import compile_for_running_bake

        compile_for_running_bake(options.beside, options.emit)
    elif options.steps or options.steps_of_many:
        from ...bake.warmup.compile_step import compile_active_set, compile_coupled_bodies, compile_step

        compile_active_set()  # first: the process that builds gets there when this one is at the solve
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

        for scene in (free_fall_scene(), pinned_scene(), full_feature_scene()):  # in the order in which most need them
            warm_up(scene, options.emit)
    seconds = clock.perf_counter() - began
    options.emit({"event": "done", "seconds": seconds})
    if not options.json:
        print(f"compiled in {seconds:.1f} s")
    return 0


def lower_priority() -> None:
    """Lets every other program go first, also before the processes that this one starts."""
    if os.name == "nt":
        below_normal = 0x4000
        kernel32 = ctypes.windll.kernel32  # type: ignore[attr-defined]
        kernel32.SetPriorityClass(kernel32.GetCurrentProcess(), below_normal)
    else:
        os.nice(19)
