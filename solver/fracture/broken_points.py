# SPDX-License-Identifier: GPL-3.0-or-later
"""Contact points on broken faces: without them a piece from deep inside would fall through the ground.

They are the middles of broken faces and the nodes at them, as far as they lie inside the material. Each belongs to a
tet and has a key that never changes: 8 · tet + face for the middle of a face as that tet has it, 8 · tet + 4 + corner
for a copy of a node, with the first tet that has the copy. So what contacts remember can be found again when more
faces break.
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
from ..tetrahedralize.tet_mesh import TetMesh
from .neighbours import FACES

INSIDE = 0.5
AREA = 0.15  # surface that a point stands for, in squares of the tet size: two or three of them share a face

Keys = npt.NDArray[np.int64]
WEIGHTS = np.concatenate([(1.0 - np.eye(4)) / 3.0, np.eye(4)])


@dataclass(frozen=True)
class BrokenPoints:
    """Where contact points may come to be; arrays are over the whole model.

    Attributes:
        face_inside: Whether the middle of each face lies inside the material, (m, 4).
        node_inside: Whether each node does, (n,).
        tet_size: Edge length of the lattice of the body of each tet [m], (m,).
        surface: Surface of the body of each tet [m²], (m,).
        mass: Its mass [kg], (m,).
        gravity: Magnitude of the acceleration that presses bodies on what they lie on [m/s²].
    """

    face_inside: Bools
    node_inside: Bools
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
        return np.sort(np.concatenate([8 * (faces // 4) + faces % 4, 8 * (at // 4) + 4 + at % 4]))

    def points(self, keys: Keys, model: Model) -> ContactPoints:
        """Returns the contact points of keys, (k,), for the whole bodies, `model`."""
        tet = indices(keys // 8)
        size = self.tet_size[tet]
        return contact_points(
            tet=tet,
            weights=floats(WEIGHTS[keys % 8], -1, 4),
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
    tet_size, area, mass = np.ones((3, model.tet_count))
    for body, mesh, part, surface in zip(scene.bodies, meshes, model.bodies, surfaces, strict=True):
        tet_size[part.tets] = mesh.report.tet_size
        area[part.tets], mass[part.tets] = surface.area, model.mass[part.nodes].sum()
        if body.fracture is None:
            continue
        middles = mesh.nodes[mesh.tets[:, FACES]].mean(axis=2).reshape(-1, 3)
        if not has_inside(surface.vertices, surface.triangles):
            inside = np.ones(len(middles) + len(mesh.nodes), bool)
        else:
            bvh = build_bvh(surface.vertices, surface.triangles)
            inside = np.abs(winding_numbers(bvh, floats(np.concatenate([middles, mesh.nodes])))) > INSIDE
        face_inside[part.tets] = inside[: len(middles)].reshape(-1, 4)
        node_inside[part.nodes] = inside[len(middles) :]
    return BrokenPoints(face_inside, node_inside, tet_size, area, mass, gravity)
