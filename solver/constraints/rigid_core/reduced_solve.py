# SPDX-License-Identifier: GPL-3.0-or-later
"""Solves A v = b where the velocities of cores are those of rigid bodies."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import NamedTuple

import numpy as np

from ...linalg.bicgstab import BlockRows
from ...linalg.block_pattern import BlockPattern, with_coupled
from ...linalg.pcg import SolveResult
from ...mechanics.model import Model
from ...runtime.arrays import Bools, Floats, Indices, indices
from .core_dofs import POINT_COUNT, CoreDofs, core_dofs
from .galerkin_projection import ProjectionArrays, ReducedSystem, project_coupling, reduce_blocks
from .reduced_pattern import ReducedPattern, ReducedPatterns
from .rigid_body_batch import BatchDofs, batch_dofs, batch_numbers, cores_outside, rigid_body_batch
from .rigid_body_momentum import angular_momentum, core_body, mass_mean

NO_MOTION_SHARE = 1.0e-10  # of the largest inertia of a core along its unknowns: those with less do not move it


@dataclass(eq=False)
class LinearSystem:
    """What is asked for, as `linalg.pcg.solve` takes it.

    Attributes:
        pattern, values, b, is_free, v: A v = b, which rows are solved for, and the first guess, out.
        x, X: Where the rows are now and at rest [m], (n, 3).
        is_unsymmetric: Rows of islands in which A is not symmetric, (n,); None: there are none.
        tolerance, norm_floor, initial_direction: As there.
        base_velocity: What v comes on top of [m/s], (n, 3): axes that move have moved cores so far; None: nothing.
        has_cores: Whether some rows are those of cores, which are no nodes of a mesh.
        tied_nodes: As in `ExternalForces`; None where rows are not all nodes of the model.
    """

    pattern: BlockPattern
    values: Floats
    b: Floats
    is_free: Bools
    v: Floats
    x: Floats
    X: Floats
    is_unsymmetric: Bools | None
    tolerance: float
    norm_floor: Floats
    initial_direction: Floats | None
    base_velocity: Floats | None = None
    has_cores: bool = False
    tied_nodes: Bools | None = None


def solve_with_cores(
    model: Model, asked: LinearSystem, solve: Callable[[LinearSystem], SolveResult], patterns: ReducedPatterns
) -> SolveResult:
    """Solves the smaller system PᵀA P y = Pᵀ(b − A v0), v = v0 + P y, by `solve`.

    It has three rows for every core instead of its nodes. What holds some nodes of a core holds it as far as these say
    how a rigid body moves. The tolerance is reached as if every node of a core had a row of its own.

    Args:
        model: The bodies; some have cores.
        asked: The system, a row for every node.
        solve: Solves the smaller one.
        patterns: Reduced patterns that earlier solves of the model have found.
    """
    pattern, values, b, is_free, v, x = asked.pattern, asked.values, asked.b, asked.is_free, asked.v, asked.x
    likely = asked.initial_direction
    cores, small = model.cores, patterns.of(pattern, model.cores)
    in_batch = batch_numbers(model, ~is_free)
    batch = batch_dofs(rigid_body_batch(model, in_batch, x), is_free, v)
    others = cores_outside(in_batch, len(cores))
    ways = [_core_dofs(model, number, x, v, is_free, asked.base_velocity) for number in others]
    arms, given = np.zeros_like(x), np.zeros_like(x)
    arms[batch.bodies.nodes] = batch.bodies.lever_arms
    given[batch.bodies.nodes] = batch.bodies.velocities(batch.prescribed_motion[:, :3], batch.prescribed_motion[:, 3:])
    for way in ways:
        arms[way.body.core.nodes] = way.body.lever_arms
        given[way.body.core.nodes] = way.body.velocities(way.prescribed_motion[:3], way.prescribed_motion[3:])
    is_moved = bool(batch.prescribed_motion.any()) or any(way.prescribed_motion.any() for way in ways)
    count = small.pattern.node_count
    reduced = ReducedSystem.zeros(len(cores), len(small.pair_cores), small.pattern.block_count, count)
    C = np.empty((len(cores), 6, 3 * POINT_COUNT))
    C[in_batch] = batch.C
    for number, way in zip(others, ways, strict=True):
        C[number] = way.C
    projection = ProjectionArrays(
        small.core_of, small.row_of, small.block_target, small.row_stride, small.pair_of_block, arms, C
    )
    matrix = BlockRows(pattern.row_start, pattern.column, values)
    reduce_blocks(matrix, b, given, is_moved, projection, np.empty((6, 3)), reduced)
    if len(small.pair_cores):
        pairs = small.pair_cores, small.pair_target, small.pair_stride
        project_coupling(reduced.coupling, *pairs, C, np.empty((6, 9)), reduced.values)
    asked_rows = _AskedRows(is_free, v, x, likely)
    free, y, places, rest, guess = _rows(small, model, list(zip(others, ways, strict=True)), batch, asked_rows)
    _add_batch(small, batch, reduced)
    for number, way in zip(others, ways, strict=True):
        _add_core(small, number, way, reduced.inner[number], reduced.values)
    finer = _norm_ratio(b, reduced.b, is_free, free)
    odd = None
    if asked.is_unsymmetric is not None:
        odd = np.zeros(count, bool)
        odd[small.row_of[asked.is_unsymmetric]] = True
        for row in small.core_row[asked.is_unsymmetric[[core.nodes[0] for core in cores]]]:
            odd[row : row + POINT_COUNT] = True
    tolerance = asked.tolerance * finer
    solved = solve(
        LinearSystem(
            small.pattern,
            reduced.values,
            reduced.b,
            free,
            y,
            places,
            rest,
            odd,
            tolerance,
            asked.norm_floor,
            guess,
            has_cores=True,
        )  # fmt: skip
    )
    v[small.skin] = y[small.skin_row]
    v[batch.bodies.nodes] = batch.velocities(y[_rows_of_batch(small, batch)])
    for number, way in zip(others, ways, strict=True):
        row = small.core_row[number]
        v[way.body.core.nodes] = way.velocities(y[row : row + POINT_COUNT])
    return replace(solved, residual=solved.residual / finer)


def nodes_with_cores(model: Model, pattern: BlockPattern) -> Bools:
    """Returns which nodes are of islands with a core, or of others that touch such, (n,)."""
    own = [int(pattern.island_of_row[core.nodes[0]]) for core in model.cores]
    return with_coupled(pattern, np.isin(pattern.island_of_row, own))


def nodes_with_hinges(model: Model) -> Bools:
    """Returns which nodes are of islands whose core turns about an axis, (n,)."""
    hinged = [int(model.pattern.island_of_row[core.nodes[0]]) for core in model.cores if core.hinge is not None]
    return np.isin(model.pattern.island_of_row, hinged)


def effective_forces(model: Model, x: Floats, forces: Floats, is_free: Bools) -> Floats:
    """Returns forces, (n, 3), with those within cores as they can be felt: by mass, and as far as cores may move.

    Args:
        model: The bodies.
        x: Where nodes are [m], (n, 3).
        forces: On the nodes; those that deform a core, or that its axis or held nodes bear, are taken out.
        is_free: Which nodes are not held, (n,).
    """
    out = forces.copy()
    in_batch = batch_numbers(model, ~is_free)
    batch = rigid_body_batch(model, in_batch, x)
    out[batch.nodes] = batch.effective_forces(forces[batch.nodes])
    for number in cores_outside(in_batch, len(model.cores)):
        core, way = model.cores[number], _core_dofs(model, number, x, np.zeros_like(x), is_free, None)
        body, own = way.body, forces[core.nodes]
        of_u = np.concatenate([own.sum(axis=0), angular_momentum(np.ones(len(own)), body.lever_arms, own)])
        mass = np.zeros((6, 6))
        mass[:3, :3], mass[3:, 3:] = body.mass.sum() * np.eye(3), body.inertia
        inverse = np.linalg.pinv(way.C.T @ mass @ way.C, rcond=NO_MOTION_SHARE, hermitian=True)
        u = way.C @ inverse @ way.C.T @ of_u
        out[core.nodes] = body.mass[:, None] * body.velocities(u[:3], u[3:])
    out[~is_free] = 0.0
    return out


def _core_dofs(
    model: Model, number: int, x: Floats, v: Floats, is_free: Bools, base_velocity: Floats | None
) -> CoreDofs:
    core = model.cores[number]
    body, held = core_body(model, core, x), ~is_free[core.nodes]
    before = np.concatenate(body.motion(base_velocity[core.nodes])) if base_velocity is not None else np.zeros(6)
    return core_dofs(body, body.lever_arms[held], v[core.nodes[held]], before)


class _AskedRows(NamedTuple):
    """What is asked for of every node: see `LinearSystem`."""

    is_free: Bools
    v: Floats
    x: Floats
    likely: Floats | None


def _rows(
    small: ReducedPattern, model: Model, ways: list[tuple[int, CoreDofs]], batch: BatchDofs, asked: _AskedRows
) -> tuple[Bools, Floats, Floats, Floats, Floats | None]:
    """Returns of every row whether it is solved for, its guess, where it is now and at rest, and what is likely."""
    count, (is_free, v, x, likely) = small.pattern.node_count, asked
    free = np.empty(count, bool)
    y, places, rest, guess = np.empty((4, count, 3))
    for out, of in ((free, is_free), (y, v), (places, x), (rest, model.X)):
        out[small.skin_row] = of[small.skin]
    if likely is not None:
        guess[small.skin_row] = likely[small.skin]
    bodies, rows_of_batch = batch.bodies, _rows_of_batch(small, batch)
    free[rows_of_batch] = batch.is_free[:, None]
    y[rows_of_batch] = batch.unknowns(v[bodies.nodes])
    places[rows_of_batch] = bodies.centre[:, None] + batch.points
    rest[rows_of_batch] = rigid_body_batch(model, bodies.numbers, model.X).centre[:, None] + batch.points
    if likely is not None:
        guess[rows_of_batch] = batch.unknowns(likely[bodies.nodes])
    for number, way in ways:
        first = small.core_row[number]
        rows, nodes = slice(first, first + POINT_COUNT), way.body.core.nodes
        free[rows] = way.dof_count > 0
        y[rows], places[rows] = way.unknowns(v[nodes]), way.body.centre + way.points
        rest[rows] = mass_mean(way.body.mass, model.X[nodes]) + way.points
        if likely is not None:
            guess[rows] = way.unknowns_change(likely[nodes])
    return free, y, places, rest, guess if likely is not None else None


def _add_core(small: ReducedPattern, number: int, way: CoreDofs, inner: Floats, matrix: Floats) -> None:
    """Writes the blocks within a core; what does not move it gets a diagonal as large as all else has on average."""
    A = way.C.T @ inner @ way.C
    size = float(np.trace(A)) / max(way.dof_count, 1)
    A += (size if size > 0.0 else 1.0) * (np.eye(3 * POINT_COUNT) - way.projector)
    diagonal = small.pattern.diagonal.astype(np.int64)
    for down in range(POINT_COUNT):
        first = diagonal[small.core_row[number] + down] - down
        for along in range(POINT_COUNT):
            matrix[first + along] = A[3 * down : 3 * down + 3, 3 * along : 3 * along + 3].ravel()


def _rows_of_batch(small: ReducedPattern, batch: BatchDofs) -> Indices:
    """Returns the rows of the points of bodies in a batch, (k, 3)."""
    return indices(small.core_row[batch.bodies.numbers][:, None] + np.arange(POINT_COUNT, dtype=np.int32))


def _add_batch(small: ReducedPattern, batch: BatchDofs, reduced: ReducedSystem) -> None:
    """Writes the blocks within the bodies of a batch, as `_add_core` does for one core."""
    A = batch.C.transpose(0, 2, 1) @ reduced.inner[batch.bodies.numbers] @ batch.C
    size = np.trace(A, axis1=1, axis2=2) / np.where(batch.is_free, 6.0, 1.0)
    size = np.where(size > 0.0, size, 1.0)
    A += size[:, None, None] * (np.eye(3 * POINT_COUNT) - batch.projectors())
    blocks = A.reshape(-1, POINT_COUNT, 3, POINT_COUNT, 3).swapaxes(2, 3).reshape(-1, POINT_COUNT, POINT_COUNT, 9)
    across = np.arange(POINT_COUNT, dtype=np.int64)
    first = small.pattern.diagonal.astype(np.int64)[_rows_of_batch(small, batch)] - across
    reduced.values[first[:, :, None] + across] = blocks


def _norm_ratio(b: Floats, right: Floats, is_free: Bools, free: Bools) -> float:
    """Returns by how much the smaller right-hand side counts as less than the other, at most 1."""
    full, small = (float(np.square(of).sum()) for of in (b[is_free], right[free]))
    return min(1.0, (full / small) ** 0.5) if small > 0.0 and full > 0.0 else 1.0
