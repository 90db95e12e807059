# SPDX-License-Identifier: GPL-3.0-or-later
"""What pins do in a step: held nodes, springs, and the last correction of what is drawn.

Weight 1 is exact. The tets that hold such vertices are held with all their nodes (`pin_regions.py`), so a pin
reaches up to one tet beyond its vertices. Vertices too few or too close together to say how their tets are
turned (a single one, a row) make a pivot instead: stiff springs, around which the body may turn.
What tets cannot follow, since the mesh is finer than they are, is corrected in the render positions alone:
vertices of weight 1 are drawn on their targets, and vertices closer than a tet to them are drawn along, fading
with the distance. After a release that correction dies away within a few frames.
Vertices of a sheet are its nodes, each of which is held alone.

Weight w < 1 is a spring of stiffness w · pin_stiffness · (the vertex's share of the body's mass).
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, ClassVar

import numpy as np

from ..mechanics.elastic_moduli import youngs_modulus
from ..mechanics.model import Model, is_sheet
from ..mechanics.state import State
from ..mechanics.state_fields import PIN_ERROR_FIELD
from ..mesh.embedding import Binding, interpolate_points
from ..mesh.geometry.nearest_points import nearest_points
from ..runtime.arrays import Bools, Floats, Indices, floats
from ..runtime.sparse_product import add_sparse_product
from ..scene.scene import Body
from .force import ForceStep
from .pin_regions import (
    FixedRegion,
    FixedVertices,
    find_regions,
    find_regions_of_points,
    make_region,
    make_region_of_points,
    tells_rotation,
    vertices_on_points,
)
from .pin_targets import PinTargets
from .point_forces import PointForces

if TYPE_CHECKING:
    from scipy.sparse import csr_matrix

MAX_PIVOT_SAG = 1e-3  # how far a pivot gives under the body's weight, in tet sizes
MIN_PIVOT_STIFFNESS_FACTOR = 200.0  # least stiffness of a pivot over Young's modulus · tet size
MIN_PIVOT_INERTIAL_FACTOR = 10.0  # least stiffness of a pivot over (mass of its tets) / Δt²
MAX_FADE_NEIGHBOURS = 4  # pinned vertices that a vertex beside them is drawn along with
FADE_TIME = 0.1  # time in which the correction falls to 1/e after a release [s]


@dataclass(frozen=True)
class PinSprings:
    """Pinned vertices on springs of stiffness k = m · pin_stiffness + max(k_E, k_W) + m_I / Δt².

    Attributes:
        rows: Their places among the pinned vertices of the body, (k,).
        tet, weights: Their binding in the model, (k,) and (k, 4).
        pinned_mass: m, weight of the pin times its share of the mass [kg], (k,).
        elastic_stiffness, weight_stiffness: k_E and k_W of pivots, by the body's elasticity and weight [N/m], (k,).
        inertial_mass: m_I of pivots [kg], (k,).
        target_shift: Added to the targets: what holds the first frame still against gravity [m], (k, 3).
    """

    rows: Indices
    tet: Indices
    weights: Floats
    pinned_mass: Floats
    elastic_stiffness: Floats
    weight_stiffness: Floats
    inertial_mass: Floats
    target_shift: Floats

    def stiffness(self, pin_stiffness: float, dt: float, heavier: float = 1.0) -> Floats:
        """Returns k [N/m], (k,), of a body that is `heavier` times as heavy as it was built."""
        base = np.maximum(self.elastic_stiffness, heavier * self.weight_stiffness)
        return self.pinned_mass * (heavier * pin_stiffness) + base + heavier * self.inertial_mass / dt**2


@dataclass(frozen=True)
class BodyPins(PinTargets):
    """All pins of one body.

    Attributes:
        regions: What is held exactly.
        springs: What is held by springs.
        exact: Places of the vertices of weight 1 among the pinned ones, (e,).
        exact_binding: Their binding in the model.
        correction: From the corrections of those to the corrections of all render vertices, sparse (n, e).
        density: Of the body's first tet as built [kg/m³]. Where a body gets heavier, its springs get stiffer.
    """

    regions: tuple[FixedRegion | FixedVertices, ...]
    springs: PinSprings
    exact: Indices
    exact_binding: Binding
    correction: csr_matrix
    density: float
    kind: ClassVar[str] = "pins"
    affects_quasistatic: ClassVar[bool] = True

    @property
    def fixed_nodes(self) -> Indices:
        """Nodes of the model that are held exactly."""
        return np.concatenate([np.zeros(0, np.int32), *(region.nodes for region in self.regions)])

    def prescribe(self, step: ForceStep, is_fixed: Bools, fixed_target: Floats) -> None:
        """Marks the nodes held exactly, (n,), and writes where they are at the end of the step [m], (n, 3)."""
        targets = self.targets_at_end(step) if self.regions else None
        if targets is not None:
            self.prescribe_targets(targets, is_fixed, fixed_target)

    def prescribe_targets(self, targets: Floats, is_fixed: Bools, fixed_target: Floats) -> None:
        """Marks the nodes held exactly, (n,), and writes where they have to be [m], for targets [m], (p, 3)."""
        for region in self.regions:
            is_fixed[region.nodes] = True
            fixed_target[region.nodes] = region.node_targets(targets)

    def point_forces(self, step: ForceStep) -> PointForces:
        """Returns the springs of the pins that do not hold nodes exactly."""
        targets = self.targets_at_end(step) if len(self.springs.rows) else None
        if targets is None:
            return PointForces()
        stiffness = self.stiffness(step.tracks, step.end)
        return self.spring_forces(step.state, step.model, targets, stiffness, step.dt)

    def spring_forces(
        self, state: State, model: Model, targets: Floats, pin_stiffness: float, dt: float
    ) -> PointForces:
        """Returns the springs of a step of `dt` [s] towards targets [m], (p, 3)."""
        springs = self.springs
        if not len(springs.rows):
            return PointForces()
        heavier = float(model.density[model.bodies[self.body].tets.start]) / self.density
        k = springs.stiffness(pin_stiffness, dt, heavier)
        stiffness = k[:, None, None] * np.eye(3)
        points = PointForces(springs.tet, springs.weights, np.zeros((len(k), 3)), stiffness, np.zeros((len(k), 3, 3)))
        away = targets[springs.rows] + springs.target_shift - points.positions(state.x, model.tets)
        points.force = k[:, None] * away
        return points

    def static_inputs(self, step: ForceStep) -> list[np.ndarray]:
        """Returns the targets, unless the pins are released."""
        targets = self.targets_at_end(step)
        return [] if targets is None else [targets]

    def end_step(self, step: ForceStep) -> None:
        """Stores in the state what tets miss of the exact targets; after a release it dies away."""
        if len(self.exact):
            self.store_error(step.state, step.model, self.targets_at_end(step), step.dt)

    def store_error(self, state: State, model: Model, targets: Floats | None, dt: float) -> None:
        """Stores in the state what tets miss of the exact targets [m]; without targets it dies away within `dt` [s]."""
        if not len(self.exact):
            return
        name = PIN_ERROR_FIELD.format(key=self.key)
        if targets is not None:
            binding = self.exact_binding
            reached = np.empty((len(binding.tet), 3))
            interpolate_points(floats(state.x), model.tets, binding.tet, binding.weights, reached)
            state.fields[name] = targets[self.exact] - reached
        elif name in state.fields:
            state.fields[name] = state.fields[name] * np.exp(-dt / FADE_TIME)

    def with_sag(self, model: Model, u: Floats) -> BodyPins:
        """Returns these pins with springs that bear at rest what they would bear after a sag of u [m], (n, 3)."""
        springs = self.springs
        sagged = np.einsum("ka,kai->ki", springs.weights, u[model.tets[springs.tet]])
        return replace(self, springs=replace(springs, target_shift=springs.target_shift - sagged))

    def remapped(self, whole: Model, tets: Indices) -> BodyPins:
        """Returns these pins of a whole body after nodes have split: its tets have the nodes `tets`, (m, 4), now."""
        return replace(self, regions=tuple(region.remapped(whole.tets, tets) for region in self.regions))

    def apply_correction(self, state: State, positions: Floats) -> None:
        """Moves render positions [m], (n, 3), so that vertices of weight 1 are on their targets."""
        missed = state.fields.get(PIN_ERROR_FIELD.format(key=self.key))
        if missed is not None:
            matrix = self.correction
            add_sparse_product(matrix.indptr, matrix.indices, matrix.data, floats(missed), positions)


def make_pins(body: Body, binding: Binding, model: Model, number: int, tet_size: float, gravity: float) -> BodyPins:
    """Returns the pins of a body that is in the model.

    Args:
        body: What is asked for.
        binding: Its render vertices in the tets of the model, (n,) and (n, 4).
        model: All bodies.
        number: Which of the model's bodies it is.
        tet_size: Edge length of its lattice [m].
        gravity: Magnitude of the acceleration that pivots have to bear [m/s²].
    """
    pinned = np.asarray(body.pinned, np.int32)
    weights = np.asarray(body.pin_weights, np.float64)
    tet, barycentric = binding.tet[pinned], binding.weights[pinned]
    bound = np.einsum("ka,kai->ki", barycentric, model.X[model.tets[tet]])
    exact = np.flatnonzero(weights >= 1.0).astype(np.int32)
    mass = model.mass[model.bodies[number].nodes]
    varying = weights * _area_shares(body)[pinned] * mass.sum()
    elastic, borne, inertial = np.zeros((3, len(pinned)))
    regions: list[FixedRegion | FixedVertices] = []
    around_tets = exact
    followers = model.bound.within(model.bodies[number].nodes) if model.bound is not None else None
    on_points = None
    if followers is not None and body.is_sheet and body.sheet.is_carried_by_points:
        exact_binding = Binding(tet[exact], barycentric[exact])
        on_points = vertices_on_points(model.tets, exact_binding, followers, model.node_count)
    elif is_sheet(model, number):
        is_node = barycentric[exact].max(axis=1, initial=0.0) == 1.0  # not so of vertices without faces
        nodes, around_tets = exact[is_node], exact[~is_node]
        corner = barycentric[nodes].argmax(axis=1)
        regions += [FixedVertices(model.tets[tet[nodes], corner], nodes)] if len(nodes) else []
        varying[nodes] = 0.0
    sets = find_regions(model.tets, tet[around_tets]) if on_points is None else find_regions_of_points(on_points)
    for found in sets:
        rows = around_tets[found]
        varying[rows] = 0.0
        if on_points is not None and tells_rotation(bound[rows], tet_size):
            regions.append(make_region_of_points(model.X, on_points[found], bound[rows], rows, tet_size))
        elif tells_rotation(bound[rows], tet_size):
            found_weights = barycentric[rows]
            regions.append(
                make_region(model.X, model.tets, bound[rows], rows, tet[rows], found_weights, tet_size, followers)
            )
        else:
            own = np.unique(tet[rows])
            E = youngs_modulus(model.mu[own], model.lam[own]).max()
            weight = mass.sum() * gravity * float(model.gravity_scale[model.bodies[number].nodes.start])
            elastic[rows] = MIN_PIVOT_STIFFNESS_FACTOR * E * tet_size / len(rows)
            borne[rows] = weight / (MAX_PIVOT_SAG * tet_size) / len(rows)
            inertial[rows] = MIN_PIVOT_INERTIAL_FACTOR * model.mass[np.unique(model.tets[own])].sum() / len(rows)
    in_region = np.zeros(len(pinned), bool)
    for region in regions:
        in_region[region.rows] = True
    rows = np.flatnonzero(~in_region).astype(np.int32)
    springs = PinSprings(
        rows,
        tet[rows],
        barycentric[rows],
        varying[rows],
        elastic[rows],
        borne[rows],
        inertial[rows],
        np.zeros((len(rows), 3)),
    )
    return BodyPins(
        key=body.key,
        name=body.name,
        body=number,
        rest=body.vertices[pinned],
        regions=tuple(regions),
        springs=springs,
        exact=exact,
        exact_binding=Binding(tet[exact], barycentric[exact]),
        correction=correction_matrix(body.vertices, pinned[exact], tet_size),
        density=float(model.density[model.bodies[number].tets.start]),
    )


def _area_shares(body: Body) -> Floats:
    """Returns the share of each vertex in the surface, (n,); they sum to one."""
    corners = body.vertices[body.triangles]
    area = np.linalg.norm(np.cross(corners[:, 1] - corners[:, 0], corners[:, 2] - corners[:, 0]), axis=1)
    per_vertex = np.bincount(body.triangles.ravel(), np.repeat(area, 3), minlength=len(body.vertices))
    return per_vertex / max(per_vertex.sum(), 1e-300)


def correction_matrix(vertices: Floats, exact: Indices, radius: float) -> csr_matrix:
    """Returns how render vertices are drawn along with exactly pinned ones closer than `radius` [m]."""
    from scipy.sparse import csr_matrix

    count = min(MAX_FADE_NEIGHBOURS, len(exact))
    if not count:
        return csr_matrix((len(vertices), 0))
    distance, near = nearest_points(vertices[exact], vertices, count, within=radius)
    weights = np.where(np.isfinite(distance), 1.0 / (distance + 1e-6 * radius) ** 2, 0.0)
    closest = np.minimum(distance[:, :1] / radius, 1.0)
    weights *= (1.0 - closest**2) ** 2 / np.maximum(weights.sum(axis=1, keepdims=True), 1e-300)
    near = np.where(np.isfinite(distance), near, 0)
    weights[exact] = 0.0
    weights[exact, 0] = 1.0
    near[exact, 0] = np.arange(len(exact), dtype=np.int64)
    rows = np.repeat(np.arange(len(vertices), dtype=np.int64), count)
    matrix = csr_matrix((weights.ravel(), (rows, near.ravel())), shape=(len(vertices), len(exact)))
    matrix.eliminate_zeros()
    return matrix
