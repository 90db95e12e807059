# SPDX-License-Identifier: GPL-3.0-or-later
"""The cube and the bar of HS04: held at their lower side, which may be turned, and pushed sideways at the upper one."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from papers.prescribed_forces import NodalForces, nodal_area_shares, with_forces
from papers.simulation_setup import HeldNodes, body, make_simulation
from sinew.solver.mesh.shapes import box_tets
from sinew.solver.runtime.arrays import Floats, Indices
from sinew.solver.scene.formulation import EDGES, GREEN, HYBRID, LINEAR, POLAR, VERTEX_WARP, FormulationSettings
from sinew.solver.scene.scene import Material
from sinew.solver.simulation.simulation import Simulation

# HS04's corotational methods, and Green's strain, which it takes for the truth
METHODS = {
    "green": FormulationSettings(GREEN),
    "hybrid": FormulationSettings(HYBRID),
    "polar": FormulationSettings(POLAR),
    "warp, edge frames": FormulationSettings(VERTEX_WARP, rotation_field=EDGES),
    "warp, least squares": FormulationSettings(VERTEX_WARP),
    "linear": FormulationSettings(LINEAR),
}
METHOD_COLOURS = {
    "green": "green",
    "hybrid": "hybrid",
    "polar": "polar",
    "warp, edge frames": "vertex-warp",
    "warp, least squares": "vertex-warp",
    "linear": "linear",
}
METHOD_LINE_STYLES = {"warp, least squares": "--"}
MATERIAL = Material(1.0e5, 0.33, 1000.0, 2.0, 0.0)
DT = 0.01
TIGHT_SETTINGS = {"tolerance": 1e-6, "max_iterations": 2000, "gravity": (0.0, 0.0, 0.0)}
MATERIAL_TEXT = (
    "E = 100 kPa, ν = 0.33, 1000 kg/m³, mass damping of 2 per second, no gravity, steps of 10 ms by implicit Euler"
)


def upright_box(
    cells: tuple[int, int, int], lengths: tuple[float, float, float], method: FormulationSettings, **motion: Any
) -> Simulation:
    """Returns a box of `box_tets`, its last length upward; `motion` is that of `sheared_body`."""
    return sheared_body(*box_tets(cells, lengths), method, **motion)


def sheared_body(
    nodes: Floats,
    tets: Indices,
    method: FormulationSettings,
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
    made = make_simulation(body(nodes, tets, MATERIAL, method), dt, **{**TIGHT_SETTINGS, **settings})
    # a hierarchical body has more nodes than it was given
    X, tets = made.built.model.X, made.built.model.tets
    low, high = X[:, 2] == 0.0, X[:, 2] == X[:, 2].max()
    at_rest = X[low]
    middle = 0.5 * (at_rest.min(axis=0) + at_rest.max(axis=0))
    share = np.outer(nodal_area_shares(X, tets, high), [1.0, 0.0, 0.0])
    held = HeldNodes(
        np.flatnonzero(low).astype(np.int32), lambda time: rotate_about_vertical(at_rest, middle, turn(time))
    )
    load = NodalForces(np.flatnonzero(high).astype(np.int32), lambda time: force(time) * share)
    return with_forces(made, held, load)


def corner_node(X: Floats) -> int:
    """Returns the node at the upper corner at the largest x and the smallest y."""
    return int(np.argmin(np.abs(X - [X[:, 0].max(), X[:, 1].min(), X[:, 2].max()]).sum(axis=1)))


def rotate_about_vertical(x: Floats, middle: Floats, angle: float) -> Floats:
    """Returns positions turned about the vertical through `middle` [rad]."""
    c, s = np.cos(angle), np.sin(angle)
    return (x - middle) @ np.array([[c, s, 0.0], [-s, c, 0.0], [0.0, 0.0, 1.0]]) + middle
