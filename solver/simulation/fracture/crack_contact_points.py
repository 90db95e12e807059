# SPDX-License-Identifier: GPL-3.0-or-later
"""Contact points on the faces of cracks: without them a piece from deep inside would fall through the ground.

They are the middles of broken faces and the nodes at them, as far as they lie inside the material, and where a node
does not, the point of the material in the tet that is closest to it. Each belongs to a tet and has a key that never
changes: 12 · tet + face for the middle of a face as that tet has it, 12 · tet + 4 + corner for a copy of a node, with
the first tet that has the copy, 12 · tet + 8 + corner for the material closest to a corner. So what contacts remember
can be found again when more faces break.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from ...contact.detection.contact_sample_points import ContactPoints, contact_points
from ...mechanics.elastic_moduli import youngs_modulus
from ...mechanics.model import Model
from ...mesh.geometry.closedness import has_inside
from ...mesh.geometry.triangle_bvh import build_bvh
from ...mesh.geometry.triangle_surface import Surface
from ...mesh.geometry.winding_number import winding_numbers
from ...mesh.node_splitting.face_adjacency import FACE_CORNERS
from ...mesh.sheet_mesh import followed_corners
from ...mesh.tet_mesh import TetMesh
from ...mesh.tetrahedralize.volume_fraction import low_discrepancy_barycentric
from ...runtime.arrays import Bools, Floats, Indices, floats, indices
from ...scene.scene import Scene

INSIDE_WINDING_NUMBER = 0.5
AREA_PER_POINT = 0.15  # surface that a point stands for, in squares of the tet size: two or three of them share a face

Keys = npt.NDArray[np.int64]
KEYS_PER_TET, CORNER_KEY_OFFSET, CLOSEST_KEY_OFFSET = 12, 4, 8
POINT_WEIGHTS = np.concatenate([(1.0 - np.eye(4)) / 3.0, np.eye(4)])
SAMPLES_PER_TET = 24  # points of a tet that tell where its material is


@dataclass(frozen=True)
class FracturePoints:
    """Where contact points may come to be; arrays are over the whole model.

    Attributes:
        point_corner: Of nodes of sheets that may tear the corner 4 · tet + c that their contact point follows, −1 of
            others, (n,).
        face_inside: Whether the middle of each face lies inside the material, (m, 4).
        node_inside: Whether each node does, (n,).
        has_closest: Whether a tet has a point for a corner of its that does not, (m, 4).
        closest: Weights of the material in each tet that is closest to each of its corners, (m, 4, 4).
        tet_size: Edge length of the lattice of the body of each tet [m], (m,).
        point_area: Of a point at each tet [m²], (m,).
        surface: Surface of the body of each tet [m²], (m,).
        mass: Its mass [kg], (m,).
        gravity: Magnitude of the acceleration that presses bodies on what they lie on [m/s²].
    """

    point_corner: Indices
    face_inside: Bools
    node_inside: Bools
    has_closest: Bools
    closest: Floats
    tet_size: Floats
    point_area: Floats
    surface: Floats
    mass: Floats
    gravity: float

    def keys(self, tets: Indices, origin: Indices, corner: Indices, is_parted: Bools) -> Keys:
        """Returns the keys of the points on broken faces, rising, (k,).

        Args:
            tets: Nodes of the tets by now, (m, 4).
            origin: Nodes of the whole bodies that they are copies of, (n,).
            corner: The first corner 4 · tet + c at every node, (n,).
            is_parted: Across which faces tets have parted, (m, 4).
        """
        faces = np.flatnonzero(is_parted & self.face_inside)
        tet, face = np.nonzero(is_parted)
        broken = np.unique(tets[tet[:, None], FACE_CORNERS[face]])
        inside = broken[self.node_inside[origin[broken]]]
        # one copy of a node of a sheet has its contact point already
        followed = self.point_corner[origin[inside]]
        has_point = (followed >= 0) & (tets.ravel()[followed] == inside)
        at = corner[inside[~has_point]].astype(np.int64)
        closest = np.flatnonzero(is_parted.any(axis=1)[:, None] & self.has_closest)
        kinds = ((faces, 0), (at, CORNER_KEY_OFFSET), (closest, CLOSEST_KEY_OFFSET))
        return np.sort(np.concatenate([which // 4 * KEYS_PER_TET + first + which % 4 for which, first in kinds]))

    def points(self, keys: Keys, model: Model) -> ContactPoints:
        """Returns the contact points of keys, (k,), for the whole bodies, `model`."""
        tet, kind = indices(keys // KEYS_PER_TET), keys % KEYS_PER_TET
        size = self.tet_size[tet]
        is_closest = kind >= CLOSEST_KEY_OFFSET
        return contact_points(
            tet=tet,
            weights=floats(
                np.where(is_closest[:, None], self.closest[tet, kind % 4], POINT_WEIGHTS[kind % CLOSEST_KEY_OFFSET]),
                -1,
                4,
            ),
            area=self.point_area[tet],
            youngs_modulus=youngs_modulus(model.mu[tet], model.lam[tet]),
            mass=self.mass[tet],
            weight=self.mass[tet] * self.gravity * model.gravity_scale[model.tets[tet, 0]],
            tet_size=size,
            surface=self.surface[tet],
        )


def find_fracture_points(
    scene: Scene, meshes: Sequence[TetMesh], model: Model, surfaces: Sequence[Surface], gravity: float
) -> FracturePoints:
    """Returns where broken faces of a scene get contact points; for the arguments see `make_fracture`."""
    face_inside, node_inside = np.zeros((model.tet_count, 4), bool), np.zeros(model.node_count, bool)
    closest, has_closest = np.full((model.tet_count, 4, 4), 0.25), np.zeros((model.tet_count, 4), bool)
    tet_size, point_area, area, mass = np.ones((4, model.tet_count))
    point_corner = np.full(model.node_count, -1, np.int32)
    for body, mesh, part, surface in zip(scene.bodies, meshes, model.bodies, surfaces, strict=True):
        tet_size[part.tets] = mesh.report.tet_size
        point_area[part.tets] = AREA_PER_POINT * mesh.report.tet_size**2
        area[part.tets], mass[part.tets] = surface.area, model.mass[part.nodes].sum()
        if body.fracture is not None and mesh.sheet is not None:
            node_inside[part.nodes] = True
            point_area[part.tets] = surface.area / len(mesh.nodes)
            point_corner[part.nodes] = 4 * part.tets.start + followed_corners(mesh)
        elif body.fracture is not None:
            inside = _InsideTest(surface)
            faces = mesh.nodes[mesh.tets[:, FACE_CORNERS]].mean(axis=2).reshape(-1, 3)
            face_inside[part.tets] = inside(faces).reshape(-1, 4)
            node_inside[part.nodes] = inside(mesh.nodes)
            closest[part.tets], has_closest[part.tets] = _closest_material(mesh, inside)
    has_closest &= ~node_inside[model.tets]
    return FracturePoints(
        point_corner, face_inside, node_inside, has_closest, closest, tet_size, point_area, area, mass, gravity
    )


class _InsideTest:
    """Whether points lie inside a surface; all do where it has no inside."""

    def __init__(self, surface: Surface) -> None:
        closed = has_inside(surface.vertices, surface.triangles)
        self.bvh = build_bvh(surface.vertices, surface.triangles) if closed else None

    def __call__(self, points: Floats) -> Bools:
        if self.bvh is None:
            return np.ones(len(points), bool)
        return np.abs(winding_numbers(self.bvh, floats(points, -1, 3))) > INSIDE_WINDING_NUMBER


def _closest_material(mesh: TetMesh, inside: _InsideTest) -> tuple[Floats, Bools]:
    """Returns weights of the material closest to each corner of each tet, (m, 4, 4), and whether it counts, (m, 4).

    A tet that is full has its corners themselves, one with so little in it that none is found its middle, once.
    """
    partly = np.flatnonzero(mesh.fill < 1.0)
    weights = low_discrepancy_barycentric(
        (partly[:, None] * SAMPLES_PER_TET + np.arange(SAMPLES_PER_TET, dtype=np.int64)).ravel()
    ).reshape(-1, SAMPLES_PER_TET, 4)
    points = np.einsum("ksj,kji->ksi", weights, mesh.nodes[mesh.tets[partly]])
    found = inside(points.reshape(-1, 3)).reshape(-1, SAMPLES_PER_TET)
    best = np.where(found[:, :, None], weights, -1.0).argmax(axis=1)
    closest, counts = np.full((len(mesh.tets), 4, 4), 0.25), np.zeros((len(mesh.tets), 4), bool)
    any_found = found.any(axis=1)
    closest[partly] = np.where(
        any_found[:, None, None], weights[np.arange(len(partly), dtype=np.int64)[:, None], best], 0.25
    )
    counts[partly, 0], counts[partly, 1:] = True, any_found[:, None]
    return closest, counts
