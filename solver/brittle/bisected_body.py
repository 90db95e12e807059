# SPDX-License-Identifier: GPL-3.0-or-later
"""A brittle body of tets that are halves of halves of coarse ones, and its pieces in larger tets where these will do.

The body has all the smallest tets, and its cracks are faces of these. Stress is solved in a mesh of leaves of their
forest, which is fine where it has to be and coarse elsewhere; each face of that is made of faces of the smallest tets,
so what parts in it parts in the body. A leaf has no cracks inside, and its faces have parted as a whole or not at all.
Faces along crack guides are those of the smallest tets.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from ..mesh.geometry.triangle_surface import Surface
from ..mesh.node_splitting.guided_faces import GuidedFaces, no_guided_faces
from ..mesh.tet_bisection import TetForest
from ..mesh.tet_mesh import BisectedTets, MeshReport, TetMesh
from ..mesh.tetrahedralize.material_moments import MaterialMoments, material_moments
from ..runtime.arrays import Bools, Floats, Indices, floats, indices
from .brittle_body import BrittleBody, CoarseTets, brittle_body
from .cracked_mesh import CrackedMesh

NO_REPORT = MeshReport(0.0, 0.0, 0.0, 0.0, 1.0)


@dataclass(frozen=True, eq=False)
class BisectedBody:
    """A body whose tets are the smallest of a forest.

    Attributes:
        forest: Of c tets.
        fill: Which share of each is material, (c,).
        moments: Where in them that is; None: evenly.
        coarse: The body of the coarse tets: each part of one has its strength, and is held where it is.
        guides: Of the smallest tets; None: there are none.
    """

    forest: TetForest
    fill: Floats
    moments: MaterialMoments | None
    coarse: BrittleBody
    guides: GuidedFaces | None = None

    @property
    def finest(self) -> BrittleBody:
        """The body with all the smallest tets."""
        return self.of_leaves(self.forest.fine)

    @property
    def released(self) -> BisectedBody:
        """It where its pins hold nothing."""
        coarse = replace(self.coarse, is_held=np.zeros(len(self.coarse.tets), bool))
        return replace(self, coarse=coarse)

    def of_leaves(self, leaves: Indices) -> BrittleBody:
        """Returns the body, or the part of it, that some leaves make up, (l,), in their order."""
        forest, coarse, root = self.forest, self.coarse, self.forest.root[leaves]
        used, local = np.unique(forest.tets[leaves], return_inverse=True)
        mesh = TetMesh(forest.nodes[used], indices(local.reshape(-1, 4), -1, 4), self.fill[leaves], NO_REPORT)
        fullest = floats(coarse.fill / coarse.load_share)
        parts = CoarseTets(coarse.size[root], fullest[root], forest.generation[leaves], coarse.min_fragment_volume)
        made = brittle_body(
            mesh,
            coarse.material,
            coarse.strength_share[root],
            coarse.is_breakable[root],
            self._guides_of(leaves),
            coarse.is_held[root],
            None if self.moments is None else self.moments.of_tets(leaves),
            parts,
        )
        return replace(made, makes_dust=coarse.makes_dust)

    def _guides_of(self, leaves: Indices) -> GuidedFaces | None:
        """Returns the guided faces of leaves, (l,): those beside a guide are among the smallest tets."""
        if self.guides is None:
            return None
        out, first = no_guided_faces(len(leaves)), self.forest.fine_range[leaves, 0]
        own = np.flatnonzero(self.forest.children[leaves, 0] < 0)
        for name in ("is_guided", "normal", "offset", "strength_share"):
            getattr(out, name)[own] = getattr(self.guides, name)[first[own]]
        return out

    def part(self, piece: CrackedMesh, tets: Indices, is_fine: Bools) -> LeafPart:
        """Returns a piece in as large tets as its cracks and guides allow, and in the smallest where these are wanted.

        Args:
            piece: Of the smallest tets alone.
            tets: Which of these it has, (k,).
            is_fine: Which of them are wanted, (k,).
        """
        forest, across = self.forest, piece.body.neighbours.tet
        wanted = np.zeros(len(forest.fine), bool)
        wanted[tets[is_fine]] = True
        if self.guides is not None:
            wanted |= self.guides.is_guided.any(axis=1)
        halved = forest.count_in(wanted) > 0
        tet, face = np.nonzero(across >= 0)
        parted = piece.is_parted[tet, face]
        while True:
            leaves = forest.leaves(halved)
            leaf = forest.leaf_of_fine(leaves)[tets]
            one, other = leaf[tet].astype(np.int64), leaf[across[tet, face]].astype(np.int64)
            inside = one[parted & (one == other)]
            _, pair = np.unique(one * len(leaves) + other, return_inverse=True)
            share = np.bincount(pair, parted) / np.bincount(pair)
            is_mixed = (one != other) & (share[pair] > 0.0) & (share[pair] < 1.0)
            again = leaves[np.concatenate([inside, one[is_mixed]])]
            again = again[forest.children[again, 0] >= 0]
            if not len(again):
                break
            halved[again] = True
        used, own = np.unique(leaf, return_inverse=True)
        body = self.of_leaves(leaves[used])
        faces = np.zeros((len(used), 4), bool)
        made = LeafPart(self, leaves[used], indices(own), CrackedMesh(body, faces))
        own_tet, own_face = made.leaf_faces(tet, across[tet, face])
        is_outer = own_face >= 0
        faces[own_tet[is_outer], own_face[is_outer]] = parted[is_outer]
        return made


@dataclass(frozen=True, eq=False)
class LeafPart:
    """A piece of a body as leaves.

    Attributes:
        whole: The body.
        leaves: Of its forest, (l,).
        leaf: Which of these each of the smallest tets of the piece is in, (k,).
        cracked: The piece in leaves.
    """

    whole: BisectedBody
    leaves: Indices
    leaf: Indices
    cracked: CrackedMesh

    def leaf_faces(self, tet: Indices, other: Indices) -> tuple[Indices, Indices]:
        """Returns of faces between two of the smallest tets of the piece, (f,) each, the leaf and its face, (f,) each.

        Faces inside of leaves have −1.
        """
        one, across = self.leaf[tet], self.leaf[other]
        is_met = self.cracked.body.neighbours.tet[one] == across[:, None]
        return one, indices(np.where(is_met.any(axis=1) & (one != across), is_met.argmax(axis=1), -1))

    def parted_faces(self, piece: CrackedMesh, cracked: CrackedMesh) -> Bools:
        """Returns across which faces the smallest tets of the piece have parted, (k, 4), where its leaves have."""
        out, across = piece.is_parted.copy(), piece.body.neighbours.tet
        tet, face = np.nonzero(across >= 0)
        own, own_face = self.leaf_faces(tet, across[tet, face])
        is_outer = own_face >= 0
        out[tet[is_outer], face[is_outer]] |= cracked.is_parted[own[is_outer], own_face[is_outer]]
        return out


def bisected_body(
    bisected: BisectedTets, fill: Floats, coarse: BrittleBody, surface: Surface, guides: GuidedFaces | None
) -> BisectedBody:
    """Returns a body of bisected tets.

    Args:
        bisected: They.
        fill: Which share of the smallest is material, (m,).
        coarse: The body of the coarse ones.
        surface: Of the body.
        guides: Of the smallest tets; None: there are none.
    """
    forest, fill_of_all = bisected.forest, bisected.fill_of_all(fill)
    moments = None
    if coarse.is_thin.any():
        of_walls = floats(np.where(coarse.is_thin[forest.root], fill_of_all, 1.0))
        moments = material_moments(forest.nodes, forest.tets, of_walls, surface)
    return BisectedBody(forest, fill_of_all, moments, coarse, guides)
