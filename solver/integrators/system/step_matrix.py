# SPDX-License-Identifier: GPL-3.0-or-later
"""The linear system of a step out of its tets: first a record of every tet, then blocks of the matrix and forces."""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np

from ...linalg.block_pattern import BlockPattern
from ...linalg.element_by_element import ElementProducts
from ...mechanics.elements.added_volume_penalty import add_pressure
from ...mechanics.elements.corotational_element import compute_corotational_records
from ...mechanics.elements.edge_assembly import assemble, gather_forces
from ...mechanics.elements.element_records import method_of, needs_records, write_records
from ...mechanics.elements.record_layout import element_arrays, record_length
from ...mechanics.model import Model
from ...mechanics.vertex_warp import is_warped
from ...runtime.arrays import Floats
from ...scene.formulation import LINEAR
from ..solver_context import CachedRows, StepWorkspace
from .block_ops import add_to_diagonal
from .matrix_free import make_element_products, matrix_free_bodies


@dataclass(eq=False)
class AssembledSystem:
    """The matrix and the elastic forces of a step, without external forces.

    Attributes:
        pattern: Sparsity of the matrix.
        values: Its blocks, (b, 9).
        force: Elastic forces [N], (n, 3).
        records: Records of the tets that it was assembled from, (m, …).
        element_terms: Stiffness that is not in `values`; None: all of it is.
        matrix_free: Numbers of the bodies whose stiffness that is.
    """

    pattern: BlockPattern
    values: Floats
    force: Floats
    records: Floats
    element_terms: ElementProducts | None = None
    matrix_free: list[int] = field(default_factory=list)

    def assemble_element_terms(self, model: Model, dt: float) -> None:
        """Moves `element_terms` into `values`: contacts between bodies look at single blocks."""
        if self.element_terms is None:
            return
        self.element_terms = None
        mass = diagonal_mass(model, dt)
        for number in self.matrix_free:
            nodes = model.bodies[number].nodes
            assemble(dt * dt, dt, mass, self.pattern, self.records, self.values, self.force, nodes)


def diagonal_mass(model: Model, dt: float) -> Floats:
    """Returns m (1 + Δt α) [kg], what mass and its damping put on the diagonal, (n,)."""
    return model.mass * (1.0 + dt * model.mass_damping)


def compute_element_records(
    model: Model, x: Floats, rotations: Floats | None = None, out: Floats | None = None
) -> Floats:
    """Returns the records of all tets at node positions x, for every body by its formulation.

    Args:
        model: The bodies.
        x: Node positions [m], (n, 3).
        rotations: Rotations of bodies that keep theirs for some steps (`rotation_reuse.py`), (m, 3, 3); None: every
            body has those of x.
        out: Where to write the records, (m, …); None: a new array.

    Returns:
        `out`, see `mechanics/elements/record_layout.py`.
    """
    if out is None:
        length = record_length(bool(model.stiffness_damping.any()), len(model.pressure_modulus) > 0)
        out = np.empty((model.tet_count, length))
    if model.methods:
        for number in range(len(model.bodies)):
            write_records(model, number, x, out, rotations)
    else:
        compute_corotational_records(x, element_arrays(model), out)
    if len(model.pressure_modulus):
        add_pressure(model, x, slice(0, model.tet_count), out)
    for core in model.cores:  # rigid
        out[core.tets] = 0.0
    return out


def assemble_system(model: Model, records: Floats, dt: float, workspace: StepWorkspace) -> AssembledSystem:
    """Returns the system of a step, M + Δt C + Δt² K and the elastic forces, in the arrays of the workspace.

    Bodies that are warped vertex by vertex have only mass and damping in it (`vertex_warp.add_warped` adds the rest).

    Args:
        model: The bodies.
        records: Of `compute_element_records`, (m, …).
        dt: Δt [s].
        workspace: For the pattern of the model; rows of linear bodies stay in it for later steps.
    """
    pattern, values, force = model.pattern, workspace.values, workspace.force
    system, mass = AssembledSystem(pattern, values, force, records), diagonal_mass(model, dt)
    if not model.methods:
        assemble(dt * dt, dt, mass, pattern, records, values, force)
        return system
    system.matrix_free = matrix_free_bodies(model)
    for number, body in enumerate(model.bodies):
        if number in system.matrix_free or _restore_rows(system, model, number, dt, workspace):
            continue
        if not needs_records(model, number):
            write_mass_rows(pattern, body.nodes, mass, values)
            continue
        stiffness_factor = 0.0 if is_warped(model, number) else dt * dt
        assemble(stiffness_factor, dt, mass, pattern, records, values, force, body.nodes)
        _store_rows(system, model, number, dt, workspace)
    for number in system.matrix_free:
        nodes = model.bodies[number].nodes
        write_mass_rows(pattern, nodes, mass, values)
        _gather_forces(system, nodes)
    if system.matrix_free:
        system.element_terms = make_element_products(model, system.matrix_free, records, dt)
    return system


def write_mass_rows(pattern: BlockPattern, nodes: slice, mass: Floats, values: Floats) -> None:
    """Writes the rows of nodes that have only mass on the diagonal [kg], (n,)."""
    values[pattern.row_start[nodes.start] : pattern.row_start[nodes.stop]] = 0.0
    add_to_diagonal(nodes.start, nodes.stop, pattern.diagonal, mass, values)


def _gather_forces(system: AssembledSystem, nodes: slice) -> None:
    """Writes the elastic forces of some nodes."""
    pattern = system.pattern
    gather_forces(nodes.start, nodes.stop, pattern.corner_start, pattern.corners, system.records, system.force)


def _restore_rows(system: AssembledSystem, model: Model, number: int, dt: float, workspace: StepWorkspace) -> bool:
    """Writes the rows of a linear body and its elastic forces, if an earlier step has left the rows; returns whether.

    Rows of linear bodies are the same in all steps of one Δt, bit by bit. What they depend on is compared by identity,
    since a model is replaced when anything in it changes; what BDF2 scales in every step is compared by value.
    """
    cached = workspace.cached_rows.get(number)
    if cached is None or len(model.pressure_modulus) or cached.dt != dt:
        return False
    if any(a is not b for a, b in zip(_row_arrays(model), cached.model_arrays, strict=True)):
        return False
    scaled = zip(_scaled_row_arrays(model), cached.scaled_arrays, strict=True)
    if not all(a is b or np.array_equal(a, b) for a, b in scaled):
        return False
    pattern, nodes = model.pattern, model.bodies[number].nodes
    system.values[pattern.row_start[nodes.start] : pattern.row_start[nodes.stop]] = cached.values
    _gather_forces(system, nodes)
    return True


def _store_rows(system: AssembledSystem, model: Model, number: int, dt: float, workspace: StepWorkspace) -> None:
    """Keeps the rows of a body for later steps if it is linear."""
    if method_of(model, number).name == LINEAR and not len(model.pressure_modulus):
        row_start, nodes = model.pattern.row_start, model.bodies[number].nodes
        rows = system.values[row_start[nodes.start] : row_start[nodes.stop]].copy()
        workspace.cached_rows[number] = CachedRows(dt, _row_arrays(model), _scaled_row_arrays(model), rows)


def _row_arrays(model: Model) -> tuple[Floats, ...]:
    return model.Dm_inverse, model.volume, model.mu, model.lam


def _scaled_row_arrays(model: Model) -> tuple[Floats, ...]:
    return model.stiffness_damping, model.mass, model.mass_damping
