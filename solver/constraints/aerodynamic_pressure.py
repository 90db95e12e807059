# SPDX-License-Identifier: GPL-3.0-or-later
"""The pressure of moving air on the surfaces of bodies.

Air that moves with u relative to a face of the outward unit normal n presses, where it blows against the face,
s = u·n < 0, with

    f = ½ ρ C |s| s n    per area;

the lee side bears nothing. A plate across the wind feels ½ ρ C A |u|², a ball half of that on its cross-section. Each
corner of a triangle bears a third of its area, with the air and the velocity of that corner.

Source: the pressure of Newton's impact theory, as in Anderson, Hypersonic and High-Temperature Gas Dynamics, 3.2.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass, fields, replace

import numpy as np

from ..mechanics.model import Model, is_sheet, may_tear
from ..mesh.embedding import Binding
from ..mesh.geometry.triangle_surface import Surface
from ..mesh.sheet_mesh import weights_in_hinges
from ..mesh.strand_mesh import outward_and_strand_faces
from ..runtime.arrays import Floats, Indices, floats, indices
from .point_forces import PointForces
from .strand_drag import strand_forces


@dataclass(frozen=True, eq=False)
class ExposedFaces:
    """Faces of the render surfaces of bodies, and strands. What is torn open when a body breaks is not among them.

    Attributes:
        tet, weights: The binding of their vertices in the tets of the model, (v,) and (v, 4).
        triangles: They look outward, (t, 3), of these vertices.
        body: Number of the body of each face, (t,).
        strands: Both ends of each strand, (s, 2), of these vertices.
        strand_body: Number of the body of each strand, (s,).
        diameter: Of each strand [m], (s,).
    """

    tet: Indices
    weights: Floats
    triangles: Indices
    body: Indices
    strands: Indices
    strand_body: Indices
    diameter: Floats

    def restricted_to(self, bodies: Collection[int]) -> ExposedFaces | None:
        """Returns the faces and strands of the bodies of these numbers; None where there are none."""
        own, strings = np.isin(self.body, list(bodies)), np.isin(self.strand_body, list(bodies))
        if not own.any() and not strings.any():
            return None
        triangles, strands = self.triangles[own], self.strands[strings]
        used, renumbered = np.unique(np.concatenate([triangles.ravel(), strands.ravel()]), return_inverse=True)
        return ExposedFaces(
            tet=self.tet[used],
            weights=self.weights[used],
            triangles=indices(renumbered[: triangles.size].reshape(-1, 3)),
            body=self.body[own],
            strands=indices(renumbered[triangles.size :].reshape(-1, 2)),
            strand_body=self.strand_body[strings],
            diameter=self.diameter[strings],
        )

    def with_vertices_from(self, first: int) -> ExposedFaces:
        """Returns the same where vertices are counted from another number than 0."""
        return replace(self, triangles=self.triangles + np.int32(first), strands=self.strands + np.int32(first))

    def vertex_bodies(self) -> Indices:
        """Returns the number of the body of each vertex, (v,)."""
        body = np.zeros(len(self.tet), np.int32)
        body[self.triangles] = self.body[:, None]
        body[self.strands] = self.strand_body[:, None]
        return body

    def points(self) -> PointForces:
        """Returns the vertices as points without forces."""
        count = len(self.tet)
        return PointForces(
            self.tet, self.weights, np.zeros((count, 3)), np.zeros((count, 3, 3)), np.zeros((count, 3, 3))
        )

    def add_pressure(
        self, points: PointForces, x: Floats, v: Floats, air: Floats, slowing: Floats, pressure_factor: float
    ) -> None:
        """Adds the pressure of air, and its drag on strands, to the forces on the vertices, linearised about their
        velocities.

        Args:
            points: Of `points`, changed.
            x, v: Positions [m] and velocities [m/s] of the vertices, (v, 3) each.
            air: u, by which the air moves relative to each vertex [m/s], (v, 3).
            slowing: −∂u/∂v, symmetric positive semi-definite, (v, 3, 3).
            pressure_factor: ρ C [kg/m³].
        """
        corners = self.triangles
        pressed, slope = corner_forces(x[corners], air[corners], slowing[corners], pressure_factor)
        force, damping = np.zeros_like(points.force), np.zeros_like(points.damping)
        np.add.at(force, corners, pressed)
        np.add.at(damping, corners, slope)
        ends = self.strands
        pressed, slope = strand_forces(x[ends], air[ends], slowing[ends], self.diameter, pressure_factor)
        np.add.at(force, ends, pressed)
        np.add.at(damping, ends, slope)
        points.force += force + np.einsum("kij,kj->ki", damping, v)
        points.damping += damping


def corner_forces(corners: Floats, air: Floats, slowing: Floats, pressure_factor: float) -> tuple[Floats, Floats]:
    """Returns f of the corners of triangles [N], (t, 3, 3), and D = −∂f/∂v at them [N s/m], (t, 3, 3, 3).

    Args:
        corners: Positions of the corners of each triangle [m], (t, 3, 3).
        air: u at them [m/s], (t, 3, 3).
        slowing: −∂u/∂v of them, of which D reads nᵀ (−∂u/∂v) n, (t, 3, 3, 3).
        pressure_factor: ρ C [kg/m³].
    """
    across = np.cross(corners[:, 1] - corners[:, 0], corners[:, 2] - corners[:, 0])
    twice_area = np.linalg.norm(across, axis=1)
    n = across / np.maximum(twice_area, np.finfo(float).tiny)[:, None]
    s = np.minimum(np.einsum("tci,ti->tc", air, n), 0.0)
    share = pressure_factor * twice_area[:, None] / 6.0
    force = (-0.5 * share * s**2)[:, :, None] * n[:, None]
    fall = share * -s * np.einsum("ti,tcij,tj->tc", n, slowing, n)
    return force, fall[:, :, None, None] * (n[:, :, None] * n[:, None])[:, None]


def exposed_faces(
    model: Model, surfaces: Sequence[Surface], bindings: Sequence[Binding], diameters: Sequence[float]
) -> ExposedFaces:
    """Returns the faces and strands of all bodies.

    Args:
        model: All bodies.
        surfaces, bindings: Of each body: its render surface, and the vertices of that in the body's own tets.
        diameters: Of the strands of each body [m].
    """
    parts, first = [], 0
    for number, (surface, binding, diameter) in enumerate(zip(surfaces, bindings, diameters, strict=True)):
        parts.append(_exposed_body(model, number, surface, binding, diameter).with_vertices_from(first))
        first += len(parts[-1].tet)
    names = [each.name for each in fields(ExposedFaces)]
    return ExposedFaces(*(np.concatenate([getattr(part, name) for part in parts]) for name in names))


def _exposed_body(model: Model, number: int, surface: Surface, binding: Binding, diameter: float) -> ExposedFaces:
    """Returns the faces and strands of one body."""
    faces, _ = outward_and_strand_faces(surface)
    is_strand = faces[:, 1] == faces[:, 2]
    faces, strands = faces[~is_strand], faces[is_strand, :2]
    own = Binding(binding.tet + np.int32(model.bodies[number].tets.start), binding.weights)
    if may_tear(model, number):  # every face moves with its own triangle; what may tear has no strands
        own, faces = _bound_by_triangles(model, own, faces)
    if is_sheet(model, number):  # both sides are outside
        faces = np.concatenate([faces, faces[:, ::-1]])
    used, renumbered = np.unique(np.concatenate([faces.ravel(), strands.ravel()]), return_inverse=True)
    return ExposedFaces(
        tet=own.tet[used],
        weights=floats(own.weights[used], -1, 4),
        triangles=indices(renumbered[: faces.size].reshape(-1, 3)),
        body=np.full(len(faces), number, np.int32),
        strands=indices(renumbered[faces.size :].reshape(-1, 2)),
        strand_body=np.full(len(strands), number, np.int32),
        diameter=np.full(len(strands), diameter, np.float64),
    )


def _bound_by_triangles(model: Model, binding: Binding, faces: Indices) -> tuple[Binding, Indices]:
    """Returns the corners of the faces of a sheet, (t, 3), each bound to the triangle of its face, and their numbers.

    Args:
        model: All bodies.
        binding: Vertices of the sheet in tets of the model.
        faces: (t, 3).
    """
    assert model.sheets is not None
    corner = binding.weights[faces].argmax(axis=2)
    nodes = indices(model.tets[binding.tet[faces], corner], -1, 3)
    tet = indices(np.repeat(model.sheets.hinges_of(nodes, model.tets), 3))
    weights = weights_in_hinges(model.tets[tet], nodes.reshape(-1, 1), np.ones((faces.size, 1)))
    return Binding(tet, weights), np.arange(faces.size, dtype=np.int32).reshape(-1, 3)
