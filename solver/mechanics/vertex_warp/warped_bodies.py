# SPDX-License-Identifier: GPL-3.0-or-later
"""Which bodies are warped vertex by vertex, and what they bring to the system of a step."""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from ...linalg.block_pattern import BlockPattern
from ...runtime.arrays import Bools, Floats, floats
from ...runtime.threads.thread_pool import run_ranges
from ...scene.formulation import EDGES, VERTEX_WARP, FormulationSettings
from ..model import BodyRange, Model
from .rest_stiffness import AS_BUILT, RestStiffness, UnrotatedShape, rest_stiffness
from .vertex_rotations import edge_rotations, least_squares_rotations
from .warped_rows import warp_rows

NODES_PER_CHUNK = 1024  # nodes that a thread works on


@dataclass(frozen=True, eq=False)
class WarpedSystem:
    """What the warped bodies have in the system of a step; the rows of others mean nothing.

    `add_warped` writes it, and `ghost_force.py` reads it later in the step. The caller owns it.

    Attributes:
        blocks: Δt² R_i k_ij R_iᵀ, (b, 9).
        push: Δt f at the start of the step [N s], (n, 3).
    """

    blocks: Floats
    push: Floats

    @classmethod
    def for_pattern(cls, pattern: BlockPattern) -> WarpedSystem:
        """Returns the arrays for a model of this pattern."""
        return cls(np.zeros((pattern.block_count, 9)), np.zeros((pattern.node_count, 3)))


class LaggedRotations(NamedTuple):
    """Rotations of the step before, row by row, (n, 9), and which bodies compute theirs anew, (bodies,)."""

    rotations: Floats
    is_due: Bools


def is_any_warped(model: Model) -> bool:
    """Whether the stiffness of any body is warped vertex by vertex."""
    return bool(model.methods) and any(method.name == VERTEX_WARP for method in model.methods)


def is_warped(model: Model, number: int) -> bool:
    """Whether that of the body of this number is."""
    return bool(model.methods) and model.methods[number].name == VERTEX_WARP


def warped_bodies(model: Model) -> list[tuple[BodyRange, FormulationSettings]]:
    """Returns the bodies whose stiffness is warped vertex by vertex."""
    pairs = zip(model.bodies, model.methods, strict=True) if model.methods else ()
    return [(body, method) for body, method in pairs if method.name == VERTEX_WARP]


def add_warped(
    model: Model,
    x: Floats,
    dt: float,
    values: Floats,
    force: Floats,
    *,
    system: WarpedSystem | None = None,
    lagged: LaggedRotations | None = None,
    unturned: UnrotatedShape = AS_BUILT,
) -> Floats | None:
    """Adds Δt² R_i k_ij R_iᵀ to the rows of warped bodies, and writes their elastic forces.

    Args:
        model: All bodies.
        x: Where nodes are at the start of the step [m], (n, 3).
        dt: Δt [s].
        values: Blocks of the matrix, with mass and damping of these bodies, (b, 9).
        force: Elastic forces [N], (n, 3), out.
        system: Where the blocks and the impulses are kept for `ghost_force.py`; None: they are not.
        lagged: Rotations of the step before; None: all are computed anew.
        unturned: As for `rest_stiffness`.

    Returns:
        The rotations, where a body holds them for more than one step.
    """
    bodies = warped_bodies(model)
    pattern, x = model.pattern, floats(x)
    rest = rest_stiffness(model, bodies, unturned)
    rotations = np.zeros((model.node_count, 9))
    for number, method in enumerate(model.methods):
        if method.name != VERTEX_WARP:
            continue
        nodes = model.bodies[number].nodes
        if lagged is None or lagged.is_due[number] or method.rotations_every == 1:
            write_rotations(pattern, method, rest, x, nodes, rotations)
        else:
            rotations[nodes] = lagged.rotations[nodes]
    system = system or WarpedSystem.for_pattern(pattern)
    blocks = system.blocks

    def work(begin: int, end: int) -> None:
        warp_rows(
            begin,
            end,
            dt * dt,
            pattern.row_start,
            pattern.column,
            rest.K,
            rest.push,
            rotations,
            x,
            blocks,
            values,
            force,
        )

    for body, _ in bodies:
        run_ranges(body.nodes.start, body.nodes.stop, NODES_PER_CHUNK, work)
        np.multiply(force[body.nodes], dt, out=system.push[body.nodes])
    return rotations if any(method.rotations_every > 1 for _, method in bodies) else None


def write_rotations(
    pattern: BlockPattern, method: FormulationSettings, rest: RestStiffness, x: Floats, nodes: slice, rotations: Floats
) -> None:
    """Writes the rotations of some nodes at positions x [m], (n, 3), row by row, (n, 9)."""
    of = pattern.row_start, pattern.column, rest.edges

    def work(begin: int, end: int) -> None:
        if method.rotation_field == EDGES:
            edge_rotations(begin, end, *of, rest.selected_edges, x, rotations)
        else:
            least_squares_rotations(begin, end, *of, x, rotations)

    run_ranges(nodes.start, nodes.stop, NODES_PER_CHUNK, work)
