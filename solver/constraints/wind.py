# SPDX-License-Identifier: GPL-3.0-or-later
"""A constant wind on the surfaces of bodies.

Air of the velocity w meets a face of the outward unit normal n, whose material moves with v. Where it blows against the
face, s = (w − v)·n < 0, it presses with

    f = ½ ρ C |s| s n    per area;

the lee side bears nothing. A plate across the wind feels ½ ρ C A |w|², a ball half of that on its cross-section. Each
corner of a triangle bears a third of its area, with the velocity of that corner. Areas and normals are those at the
start of a step, the velocity is that at its end, linearised about the one at its start:

    f⁺ = f − D (v⁺ − v),    D = −∂f/∂v = ρ C |s| A n nᵀ,

which is symmetric positive semi-definite, so that a strong wind never makes a step unstable.

Source: the pressure of Newton's impact theory, as in Anderson, Hypersonic and High-Temperature Gas Dynamics, 3.2.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass, replace
from typing import ClassVar

import numpy as np

from ..mechanics.model import Model
from ..mesh.embedding import Binding
from ..mesh.geometry.orient_outward import orient_outward
from ..mesh.geometry.triangle_surface import Surface
from ..runtime.arrays import Floats, Indices, floats
from ..scene.scene import Scene
from ..scene.wind import Wind
from .external_forces import PointForces
from .force import Force, ForceStep


@dataclass(frozen=True, eq=False)
class WindForce(Force):
    """Wind on the render surfaces of bodies. What is torn open when a body breaks feels none.

    Attributes:
        wind: Its velocity, density and drag.
        tet, weights: The binding of the vertices in the tets of the model, (v,) and (v, 4).
        triangles: Faces that look outward, (t, 3), of these vertices.
        body: Number of the body of each face, (t,).
    """

    wind: Wind
    tet: Indices
    weights: Floats
    triangles: Indices
    body: Indices
    kind: ClassVar[str] = "wind"

    def restricted_to(self, bodies: Collection[int]) -> WindForce | None:
        """Returns the wind on the bodies of these numbers alone; None where it meets none of them."""
        own = np.isin(self.body, list(bodies))
        if not own.any():
            return None
        used, renumbered = np.unique(self.triangles[own], return_inverse=True)
        triangles = renumbered.reshape(-1, 3).astype(np.int32)
        return replace(self, tet=self.tet[used], weights=self.weights[used], triangles=triangles, body=self.body[own])

    def point_forces(self, step: ForceStep) -> PointForces:
        """Returns the pressure on the vertices during a step, and by how much it falls with their velocity."""
        tets, count = step.model.tets, len(self.tet)
        points = PointForces(self.tet, self.weights)
        v = points.positions(step.state.v, tets)
        pressed, slope = corner_forces(
            self.wind, points.positions(step.state.x, tets)[self.triangles], v[self.triangles]
        )
        points.force, points.damping = np.zeros((count, 3)), np.zeros((count, 3, 3))
        np.add.at(points.force, self.triangles, pressed)
        np.add.at(points.damping, self.triangles, slope)
        points.force += np.einsum("kij,kj->ki", points.damping, v)
        points.stiffness = np.zeros((count, 3, 3))
        return points


def corner_forces(wind: Wind, corners: Floats, v: Floats) -> tuple[Floats, Floats]:
    """Returns f of the corners of triangles [N], (t, 3, 3), and D = −∂f/∂v at them [N s/m], (t, 3, 3, 3).

    Args:
        wind: The air.
        corners, v: Positions [m] and velocities [m/s] of the corners of each triangle, (t, 3, 3) each.
    """
    across = np.cross(corners[:, 1] - corners[:, 0], corners[:, 2] - corners[:, 0])
    twice_area = np.linalg.norm(across, axis=1)
    n = across / np.maximum(twice_area, np.finfo(float).tiny)[:, None]
    s = np.minimum(np.einsum("tci,ti->tc", np.asarray(wind.velocity) - v, n), 0.0)
    share = wind.air_density * wind.drag * twice_area[:, None] / 6.0
    force = (-0.5 * share * s**2)[:, :, None] * n[:, None]
    return force, (share * -s)[:, :, None, None] * (n[:, :, None] * n[:, None])[:, None]


def make_wind(scene: Scene, model: Model, surfaces: Sequence[Surface], bindings: Sequence[Binding]) -> WindForce | None:
    """Returns the wind of a scene; None where the scene has none.

    Args:
        scene: The scene.
        model: All its bodies.
        surfaces, bindings: Of each body: its render surface, and the vertices of that in the body's own tets.
    """
    if scene.wind is None:
        return None
    tet, weights, triangles, body = [], [], [], []
    first = 0
    for number, (surface, binding, part) in enumerate(zip(surfaces, bindings, model.bodies, strict=True)):
        faces = orient_outward(surface).surface.triangles
        used, renumbered = np.unique(faces, return_inverse=True)
        tet.append(binding.tet[used] + np.int32(part.tets.start))
        weights.append(binding.weights[used])
        triangles.append(renumbered.reshape(-1, 3).astype(np.int32) + np.int32(first))
        body.append(np.full(len(faces), number, np.int32))
        first += len(used)
    return WindForce(
        wind=scene.wind,
        tet=np.concatenate(tet),
        weights=floats(np.concatenate(weights)),
        triangles=np.concatenate(triangles),
        body=np.concatenate(body),
    )
