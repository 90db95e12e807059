# SPDX-License-Identifier: GPL-3.0-or-later
"""Selects the nodes that split, and which tets go to which side.

The most overloaded tet comes first. It splits one of its nodes that are at a crack tip, or any where none is, drawn by
lot: a plane through the node, normal to the largest principal stress, parts the tets at the node by the side that their
middle is on. The plane lies in rest coordinates, so that it does not depend on how tets are turned or turned inside
out. A node whose tets are all on one side does not split, nor one that would leave a crumb
(`mesh/node_splitting/minimum_fragment.py`). A tet at a node that has just split waits for the next step: its stress is
not known any more.

A tet at a crack guide splits a node of a guided face along the guide where the stress across that is what the material
bears there (`guided_planes.py`), and else as others where it bears no more as a whole.

A sheet begins one tear in a step and goes on with all it has: where it is pulled evenly all of it is overloaded at
once, and the first tear takes the load off the rest.

Source: Müller and Gross 2004, section 4.
"""

from __future__ import annotations

import functools
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from ...mechanics.elements.elastic_stress import elastic_stress, normal_at_rest, principal_stresses
from ...mechanics.model import Model
from ...mesh.node_splitting.face_adjacency import FaceAdjacency
from ...mesh.node_splitting.guided_faces import GuidedFaces
from ...mesh.node_splitting.minimum_fragment import leaves_small_fragment
from ...mesh.node_splitting.plane_separation import FaceList, faces_between_sides
from ...runtime.arrays import Bools, Floats, Indices, floats
from ...runtime.counter_rng import uniform
from .breakable_bodies import ORDER_STREAM, BreakableBody
from .guided_planes import NO_FACE, guided_planes
from .sheet_stress import tear_normals


@dataclass(frozen=True)
class NodeSplits:
    """What splits in one body in one step.

    Attributes:
        faces: For each node that splits the faces across which its tets part, as tets and faces, both sides of each.
        deferred: Overloaded tets that would have split a node, had it not been for the limit.
    """

    faces: list[FaceList]
    deferred: int


@dataclass(frozen=True)
class NodeSplitter:
    """A body at the end of a step, as far as splitting goes.

    Attributes:
        model: Of the step, nodes by now.
        x: Node positions [m], (n, 3).
        neighbours: The inner faces.
        is_parted: Across which faces tets have parted, (m, 4).
        is_tip: Which nodes are at crack tips or notches, (n,).
        is_unbreakable: Which tets stay together: unbreakable ones and those held exactly, (m,).
        is_bonded: Across which faces others never part, (m, 4).
        is_at_node: See `FractureBodies`, (m, 4).
        filled_volume: Filled volume of each tet [m³], (m,).
        guides: Faces along which they are weaker; None: there are none.
    """

    model: Model
    x: Floats
    neighbours: FaceAdjacency
    is_parted: Bools
    is_tip: Bools
    is_unbreakable: Bools
    is_bonded: Bools
    is_at_node: Bools
    filled_volume: Floats
    guides: GuidedFaces | None = None

    @functools.cached_property
    def _is_bonded_beside_guides(self) -> Bools:
        assert self.guides is not None
        return np.asarray(self.is_bonded | ~self.guides.is_guided)

    def select_splits(self, body: BreakableBody, overload: Floats, step: int, may_begin: bool = True) -> NodeSplits:
        """Returns what splits where tets are overloaded, (m,) above zero, in the step of a number.

        Where no crack may begin, only those that are there go on.
        """
        own = self.model.bodies[body.number].tets
        which = np.flatnonzero(overload[own]).astype(np.int32) + np.int32(own.start)
        which = which[np.argsort(-overload[which], kind="stable")]
        normals = (crack_plane_normals if body.sheet is None else tear_normals)(self.model, self.x, which)
        guided = None if self.guides is None else guided_planes(self.model, self.x, which, overload[which], self.guides)
        is_parted = self.is_parted.copy()
        lots = uniform(body.seed, ORDER_STREAM, step, which[:, None] - own.start, np.arange(4, dtype=np.int64)).tolist()
        done: set[int] = set()
        faces: list[FaceList] = []
        left, has_begun = 0, False
        for row, (nodes, normal, lot) in enumerate(zip(self.model.tets[which].tolist(), normals, lots, strict=True)):
            begins = not self.is_tip[nodes].any()
            if not done.isdisjoint(nodes) or (begins and (not may_begin or (body.sheet is not None and has_begun))):
                continue
            if len(faces) == body.most_splits:
                left += 1
                continue
            # all tips come first, then the others
            names = dict.fromkeys(nodes)
            order = sorted((not self.is_tip[node], lot[c], node) for c, node in enumerate(names))
            tries = [(node, NO_FACE) for _, _, node in order]
            if guided is not None:
                tries = guided.tries(row, nodes, [node for _, _, node in order])
            for node, face in tries:
                if face == NO_FACE:
                    found = self.separated_by_plane(node, normal, is_parted)
                else:
                    found = self.separated_by_guide(node, int(which[row]), face, is_parted)
                if found is not None and _try_separating(found, self, is_parted, body.min_fragment_volume):
                    faces.append(found)
                    done.add(node)
                    has_begun |= begins
                    break
        return NodeSplits(faces, left)

    def separated_by_plane(self, node: int, normal: Floats, is_parted: Bools) -> FaceList | None:
        """Returns the faces at a node that a plane through it parts, normal in rest coordinates, (3,); None: none.

        `is_parted`: across which faces tets have parted by now, (m, 4).
        """
        corners, middles = self._tets_at(node)
        if len(corners) < 2:
            return None
        height = np.einsum("ki,i->k", middles - self.model.X[node], normal)
        return faces_between_sides(corners, height, self.neighbours, is_parted, self.is_bonded, self.is_unbreakable)

    def separated_by_guide(self, node: int, tet: int, face: int, is_parted: Bools) -> FaceList | None:
        """Returns the faces at a node between the sides of the crack guide at a face of a tet; None: there are none."""
        assert self.guides is not None
        corners, middles = self._tets_at(node)
        height, bonded = self.guides.heights(tet, face, middles), self._is_bonded_beside_guides
        return faces_between_sides(corners, height, self.neighbours, is_parted, bonded, self.is_unbreakable)

    def _tets_at(self, node: int) -> tuple[npt.NDArray[np.int64], Floats]:
        """Returns the corners 4 · tet + corner at a node, (k,), and the middles of these tets at rest [m], (k, 3)."""
        pattern, X = self.model.pattern, self.model.X
        first, last = int(pattern.corner_start[node]), int(pattern.corner_start[node + 1])
        corners = pattern.corners[first:last].astype(np.int64)
        corners = corners[self.is_at_node.ravel()[corners]]
        tets = corners >> 2
        counts = self.is_at_node[tets]
        return corners, floats(
            (counts[:, :, None] * X[self.model.tets[tets]]).sum(axis=1) / counts.sum(axis=1)[:, None]
        )


def _try_separating(faces: FaceList, cracking: NodeSplitter, is_parted: Bools, least: float) -> bool:
    """Parts tets across some faces, if no crumb comes of it, and returns whether it did."""
    is_parted[faces] = True
    if not leaves_small_fragment(faces[0], cracking.neighbours.tet, is_parted, cracking.filled_volume, least):
        return True
    is_parted[faces] = False
    return False


def crack_plane_normals(model: Model, x: Floats, which: Indices) -> Floats:
    """Returns the directions of the largest principal stress of some tets, as normals at rest, (k, 3)."""
    stress, _ = elastic_stress(model, x, which)
    _, directions = principal_stresses(stress)
    return normal_at_rest(model, x, which, directions[:, :, 2])
