# SPDX-License-Identifier: GPL-3.0-or-later
"""Contact points on broken faces: without them a piece from deep inside would fall through the ground.

They are the middles of broken faces and the nodes at them, as far as they lie inside the material, and in tets without
such a node the middle of the material in them. Each belongs to a tet and has a key that never changes: 9 · tet + face
for the middle of a face as that tet has it, 9 · tet + 4 + corner for a copy of a node, with the first tet that has the
copy, 9 · tet + 8 for the middle of the material. So what contacts remember can be found again when more faces break.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from ..arrays import Bools, Floats, Indices, floats, indices
from ..contact.points import ContactPoints, contact_points
from ..geometry.bvh import build_bvh
from ..geometry.enclosure import has_inside
from ..geometry.surface import Surface
from ..geometry.winding import winding_numbers
from ..materials.elastic import youngs_modulus
from ..model import Model
from ..scene import Scene
from ..tetrahedralize.filled_fraction import spread_points
from ..tetrahedralize.tet_mesh import TetMesh
from .neighbours import FACES

INSIDE = 0.5
AREA = 0.15  # surface that a point stands for, in squares of the tet size: two or three of them share a face

Keys = npt.NDArray[np.int64]
KINDS, CORNER, MIDDLE = 9, 4, 8
WEIGHTS = np.concatenate([(1.0 - np.eye(4)) / 3.0, np.eye(4)])
SAMPLES = 24  # points of a tet that tell where its material is


@dataclass(frozen=True)
class BrokenPoints:
    """Where contact points may come to be; arrays are over the whole model.

    Attributes:
        face_inside: Whether the middle of each face lies inside the material, (m, 4).
        node_inside: Whether each node does, (n,).
        has_node: Whether a node of each tet does, (m,).
        middle: Weights of the middle of the material in each tet, (m, 4).
        tet_size: Edge length of the lattice of the body of each tet [m], (m,).
        surface: Surface of the body of each tet [m²], (m,).
        mass: Its mass [kg], (m,).
        gravity: Magnitude of the acceleration that presses bodies on what they lie on [m/s²].
    """

    face_inside: Bools
    node_inside: Bools
    has_node: Bools
    middle: Floats
    tet_size: Floats
    surface: Floats
    mass: Floats
    gravity: float

    def keys(self, tets: Indices, origin: Indices, corner: Indices, parted: Bools) -> Keys:
        """Returns the keys of the points on broken faces, rising, (k,).

        Args:
            tets: Nodes of the tets by now, (m, 4).
            origin: Nodes of the whole bodies that they are copies of, (n,).
            corner: The first corner 4 · tet + c at every node, (n,).
            parted: Across which faces tets have parted, (m, 4).
        """
        faces = np.flatnonzero(parted & self.face_inside)
        tet, face = np.nonzero(parted)
        broken = np.unique(tets[tet[:, None], FACES[face]])
        at = corner[broken[self.node_inside[origin[broken]]]].astype(np.int64)
        alone = np.flatnonzero(parted.any(axis=1) & ~self.has_node)
        kinds = (faces // 4 * KINDS + faces % 4, at // 4 * KINDS + CORNER + at % 4, alone * KINDS + MIDDLE)
        return np.sort(np.concatenate(kinds))

    def points(self, keys: Keys, model: Model) -> ContactPoints:
        """Returns the contact points of keys, (k,), for the whole bodies, `model`."""
        tet, kind = indices(keys // KINDS), keys % KINDS
        size = self.tet_size[tet]
        is_middle = kind == MIDDLE
        return contact_points(
            tet=tet,
            weights=floats(np.where(is_middle[:, None], self.middle[tet], WEIGHTS[kind % MIDDLE]), -1, 4),
            area=AREA * size * size,
            youngs_modulus=youngs_modulus(model.mu[tet], model.lam[tet]),
            mass=self.mass[tet],
            weight=self.mass[tet] * self.gravity * model.gravity_scale[model.tets[tet, 0]],
            tet_size=size,
            surface=self.surface[tet],
        )


def find_broken_points(
    scene: Scene, meshes: Sequence[TetMesh], model: Model, surfaces: Sequence[Surface], gravity: float
) -> BrokenPoints:
    """Returns where broken faces of a scene get contact points; for the arguments see `make_fracture`."""
    face_inside, node_inside = np.zeros((model.tet_count, 4), bool), np.zeros(model.node_count, bool)
    middle = np.full((model.tet_count, 4), 0.25)
    tet_size, area, mass = np.ones((3, model.tet_count))
    for body, mesh, part, surface in zip(scene.bodies, meshes, model.bodies, surfaces, strict=True):
        tet_size[part.tets] = mesh.report.tet_size
        area[part.tets], mass[part.tets] = surface.area, model.mass[part.nodes].sum()
        if body.fracture is not None:
            inside = _Inside(surface)
            faces = mesh.nodes[mesh.tets[:, FACES]].mean(axis=2).reshape(-1, 3)
            face_inside[part.tets] = inside(faces).reshape(-1, 4)
            node_inside[part.nodes] = inside(mesh.nodes)
            middle[part.tets] = _middles(mesh, inside)
    has_node = node_inside[model.tets].any(axis=1)
    return BrokenPoints(face_inside, node_inside, has_node, middle, tet_size, area, mass, gravity)


class _Inside:
    """Whether points lie inside a surface; all do where it has no inside."""

    def __init__(self, surface: Surface) -> None:
        closed = has_inside(surface.vertices, surface.triangles)
        self.bvh = build_bvh(surface.vertices, surface.triangles) if closed else None

    def __call__(self, points: Floats) -> Bools:
        if self.bvh is None:
            return np.ones(len(points), bool)
        return np.abs(winding_numbers(self.bvh, floats(points, -1, 3))) > INSIDE


def _middles(mesh: TetMesh, inside: _Inside) -> Floats:
    """Returns weights of the middle of the material in each tet, (m, 4); of the tet where none is found in it."""
    partly = np.flatnonzero(mesh.fill < 1.0)
    weights = np.array([spread_points(partly * SAMPLES + sample) for sample in range(SAMPLES)]).reshape(-1, 4)
    tets = np.tile(partly, SAMPLES)
    found = inside(np.einsum("kj,kji->ki", weights, mesh.nodes[mesh.tets[tets]]))
    count = np.bincount(tets[found], minlength=len(mesh.tets))
    sums = [np.bincount(tets[found], weights[found, j], minlength=len(mesh.tets)) for j in range(4)]
    return np.where(count[:, None] > 0, np.transpose(sums) / np.maximum(count, 1)[:, None], 0.25)
