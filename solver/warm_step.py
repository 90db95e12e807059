# SPDX-License-Identifier: GPL-3.0-or-later
"""Compiles the kernels of a step, on a few tets: half of all compiling, which another process does meanwhile."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np

from .contact.pushing import Pushing
from .contact.settle import CONTENT, STOPS
from .contact.settling import Settling
from .contact.touching import Touching
from .integrators.implicit_euler import step
from .integrators.outside import Outside, Pairs, Points
from .kernel_cache import is_cached
from .linear.small_islands import MOST_NODES
from .model import Model, Part, make_model
from .scene import Material, Settings
from .state import State

# a strip of tets: so many nodes that the system is not solved at once, as that of a crumb is
NODES = np.arange(MOST_NODES + 1.0)[:, None] ** [1.0, 2.0, 3.0]
LONGEST = 300.0  # patience with the other process [s]
TETS = (np.arange(len(NODES) - 3)[:, None] + np.arange(4)).astype(np.int32)


def compile_step() -> None:
    """Takes a step of a few tets with a held node and a spring, so that all kernels of a step are compiled."""
    model = _strip()
    spring = Points(
        np.zeros(1, np.int32), np.full((1, 4), 0.25), np.ones((1, 3)), np.eye(3)[None] * 10.0, np.zeros((1, 3, 3))
    )
    held = np.arange(len(NODES)) == 0
    outside = Outside(np.array([0.0, 0.0, -9.81]), held, NODES.copy(), points=spring)
    state = State(NODES.copy(), np.zeros_like(NODES))
    for acting in (outside, Outside()):  # bodies that are held somewhere, and bodies that are not
        step(model, state, acting, 0.01, Settings())


def compile_settling() -> None:
    """Lets a contact settle: half of what answers contacts, which the process that builds has no time for."""
    number, vector = np.zeros(1), np.zeros((1, 3))
    touching = Touching(np.zeros(1, np.int64), vector, number, vector, np.zeros(1, np.int8))
    pushing = Pushing.room(1)
    for values in vars(pushing).values():
        values[:] = 0
    Settling(_strip()).settle(touching, 1, pushing, number, vector)


def compile_pairs() -> None:
    """Takes two steps in which a tet of one body pushes one of another, so that what couples bodies is compiled."""
    model, first, last = _strip(2), np.zeros(1, np.int32), np.array([2 * len(TETS) - 1], np.int32)
    weights = np.full((1, 4), 0.25)
    touching = Outside(pairs=Pairs(first, weights, last, weights, np.ones((1, 3)), np.eye(3)[None] * 10.0))
    state = State(model.X.copy(), np.zeros_like(model.X))
    # where contacts change, a second solve begins with what the first one found
    answers = iter((touching, None))
    step(model, state, touching, 0.01, Settings(), respond=lambda *_: next(answers), max_solves=2)
    # what decides when one body is done before the other, or whether a step has gone astray, most steps do not ask
    settling = Settling(model)
    settling.solves, settling.is_settled = 1, False
    settling.group[:], settling.fate[:] = (0, 1), (CONTENT, STOPS)
    settling.done()
    settling.is_astray(state.v, state.v, 1.0)


def _strip(count: int = 1) -> Model:
    """Returns so many strips, each a body."""
    return make_model([Part(f"warm-{body}", NODES, TETS, np.ones(len(TETS)), Material()) for body in range(count)])


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
