# SPDX-License-Identifier: GPL-3.0-or-later
"""Compiles the kernels of a step, on one tet: half of all compiling, which another process does meanwhile."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np

from .elements.assembly import assemble
from .elements.corotational import COROTATED, warp_tets
from .integrators.implicit_euler import solve_step, step
from .integrators.outside import Outside, Points
from .integrators.workspace import workspace
from .jit import is_cached
from .model import Model, Part, make_model
from .scene import Material, Settings
from .state import State

NODES = np.array([[0.0, 0.0, 0.0], [1.0, 0.0, 0.0], [0.0, 1.0, 0.0], [0.0, 0.0, 1.0]])
LONGEST = 60.0  # patience with the other process [s]
TETS = np.array([[0, 1, 2, 3]], np.int32)


def compile_step() -> None:
    """Takes a step of one tet with a held node and a spring, so that all kernels of a step are compiled.

    Those of the assembly come last: the other process compiles them meanwhile (`compile_assembly`).
    """
    model = _one_tet()
    spring = Points(
        np.zeros(1, np.int32), np.full((1, 4), 0.25), np.ones((1, 3)), np.eye(3)[None] * 10.0, np.zeros((1, 3, 3))
    )
    held = np.array([True, False, False, False])
    outside = Outside(np.array([0.0, 0.0, -9.81]), held, NODES.copy(), points=spring)
    state = State(NODES.copy(), np.zeros((4, 3)))
    work = workspace(model.pattern)
    work.force[:], work.values[:] = 0.0, 0.0
    work.values[model.pattern.diagonal] = np.eye(3).ravel()
    for acting in (outside, Outside()):  # bodies that are held somewhere, and bodies that are not
        solve_step(model, state, acting, 0.01, Settings(), None)
    warp_tets(
        COROTATED, state.x, model.tets, model.Dm_inverse, model.volume, model.mu, model.lam,
        model.stiffness_damping, model.initial_strain, work.warped,
    )  # fmt: skip
    step(model, state, outside, 0.01, Settings())


def compile_assembly() -> None:
    """Compiles the assembly of a step: the share of its kernels that is left to this process."""
    model = _one_tet()
    pattern = model.pattern
    work = workspace(pattern)
    work.warped[:] = 0.0
    assemble(0.0, 0.0, model.mass.copy(), pattern, work.warped, work.values, work.force)


def _one_tet() -> Model:
    return make_model([Part("warm", NODES, TETS, np.ones(1), Material())])


def compile_elsewhere(what: str) -> subprocess.Popen | None:
    """Starts another process that does `sinew warm-up --WHAT`; None where it would be for nothing.

    It ends when it is done or its standard input closes, so it never outlives this one for long.
    """
    if not is_cached() or (os.cpu_count() or 1) < 2:
        return None
    places = [part for folder in sys.path if folder for part in ("--site", folder)]
    launcher = Path(__file__).resolve().with_name("launcher.py")
    # by the way this process came here, symbolic links and all: Numba keeps kernels by the paths of their sources
    package = Path(__file__).absolute().parent.parent
    command = [sys.executable, "-s", str(launcher), "--package-dir", str(package), *places]
    options: dict[str, Any] = {"stdin": subprocess.PIPE, "stdout": subprocess.DEVNULL, "stderr": subprocess.DEVNULL}
    if os.name == "nt":
        options["creationflags"] = getattr(subprocess, "CREATE_NO_WINDOW", 0)
    try:
        return subprocess.Popen([*command, "warm-up", f"--{what}", "--child"], **options)
    except OSError:
        return None  # then all is compiled here


def wait_for(helper: subprocess.Popen | None) -> None:
    """Waits until the other process is done: it began before this one got here, so that is the shorter way."""
    if helper is None:
        return
    try:
        helper.wait(timeout=LONGEST)
    except subprocess.TimeoutExpired:
        helper.kill()
        helper.wait()
    if helper.stdin is not None:
        helper.stdin.close()
