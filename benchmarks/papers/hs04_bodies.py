# SPDX-License-Identifier: GPL-3.0-or-later
"""The cube and the bar of HS04: held at their lower side, which may be turned, and pushed sideways at the upper one."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from meshes import bar
from papers.load import Load, per_node, with_pins
from papers.stage import Hold, body, simulation
from sinew.solver.arrays import Floats, Indices
from sinew.solver.method import EDGES, GREEN, HYBRID, LINEAR, POLAR, VERTEX_WARP, Method
from sinew.solver.scene import Material
from sinew.solver.simulation import Simulation

# HS04's corotational methods, and Green's strain, which it takes for the truth
METHODS = {
    "green": Method(GREEN),
    "hybrid": Method(HYBRID),
    "polar": Method(POLAR),
    "warp, edge frames": Method(VERTEX_WARP, rotation_field=EDGES),
    "warp, least squares": Method(VERTEX_WARP),
    "linear": Method(LINEAR),
}
COLOUR_OF = {
    "green": "green",
    "hybrid": "hybrid",
    "polar": "polar",
    "warp, edge frames": "vertex-warp",
    "warp, least squares": "vertex-warp",
    "linear": "linear",
}
LINE_OF = {"warp, least squares": "--"}
MATERIAL = Material(1.0e5, 0.33, 1000.0, 2.0, 0.0)
DT = 0.01
TIGHT = {"tolerance": 1e-6, "max_iterations": 2000, "gravity": (0.0, 0.0, 0.0)}
MATTER = (
    "E = 100 kPa, ν = 0.33, 1000 kg/m³, damping by mass of 2 per second, no gravity, steps of 10 ms by implicit Euler"
)


def upright(
    cells: tuple[int, int, int], lengths: tuple[float, float, float], method: Method, **motion: Any
) -> Simulation:
    """Returns a box of `meshes.bar`, its last length upward; `motion` is that of `standing`."""
    return standing(*bar(cells, lengths), method, **motion)


def standing(
    nodes: Floats,
    tets: Indices,
    method: Method,
    *,
    force: Callable[[float], float] = lambda time: 0.0,
    turn: Callable[[float], float] = lambda time: 0.0,
    dt: float = DT,
    **settings: Any,
) -> Simulation:
    """Returns a body with its flat lower side, at z = 0, held, and its flat upper one pushed.

    Args:
        nodes, tets: (n, 3) [m] and (m, 4).
        method: By which it resists.
        force: In x on the whole upper side at a time [s → N].
        turn: By which angle the lower side is turned about the vertical through its middle [s → rad].
        dt: Time step [s].
        settings: Of the scene.
    """
    made = simulation(body(nodes, tets, MATERIAL, method), dt, **{**TIGHT, **settings})
    # a hierarchical body has more nodes than it was given
    X, tets = made.built.model.X, made.built.model.tets
    low, high = X[:, 2] == 0.0, X[:, 2] == X[:, 2].max()
    at_rest = X[low]
    middle = 0.5 * (at_rest.min(axis=0) + at_rest.max(axis=0))
    share = np.outer(per_node(X, tets, high), [1.0, 0.0, 0.0])
    held = Hold(np.flatnonzero(low).astype(np.int32), lambda time: turned(at_rest, middle, turn(time)))
    load = Load(np.flatnonzero(high).astype(np.int32), lambda time: force(time) * share)
    return with_pins(made, held, load)


def corner_of(X: Floats) -> int:
    """Returns the node at the upper corner at the largest x and the smallest y."""
    return int(np.argmin(np.abs(X - [X[:, 0].max(), X[:, 1].min(), X[:, 2].max()]).sum(axis=1)))


def turned(x: Floats, middle: Floats, angle: float) -> Floats:
    """Returns positions turned about the vertical through `middle` [rad]."""
    c, s = np.cos(angle), np.sin(angle)
    return (x - middle) @ np.array([[c, s, 0.0], [-s, c, 0.0], [0.0, 0.0, 1.0]]) + middle
