# SPDX-License-Identifier: GPL-3.0-or-later
"""Tets, and what is to be said about how they fill a surface."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import NamedTuple

import numpy as np

from ..runtime.arrays import Bools, Floats, Indices, floats
from .t_junctions import TJunctions, no_t_junctions
from .tet_bisection import TetForest
from .tet_levels import TetLevels


class FilledTets(NamedTuple):
    """What a method makes: tets that fill a surface.

    Attributes:
        nodes: Positions [m], (n, 3); each is used by a tet.
        tets: Node indices, positively oriented, (m, 4).
        fill: Filled fraction of each tet in (0, 1], (m,).
        junctions: Its T-junctions.
    """

    nodes: Floats
    tets: Indices
    fill: Floats
    junctions: TJunctions = no_t_junctions()


@dataclass(frozen=True)
class UnmeshedPart:
    """A part of the surface that got no tet.

    Attributes:
        name: What it is called in the report: "Piece 3 (1,204 faces)" for a connected piece of the mesh, "Part 3 …" for
            a thin part of one.
        tet_size_needed: Lattice edge that would keep it, but for its tips [m]; 0 where it has no thickness.
        count: How many parts it stands for.
        place: The middle of its faces [m], (3,); () where it stands for several.
        area_share: Its area over that of the surface.
    """

    name: str
    tet_size_needed: float
    count: int = 1
    place: tuple[float, ...] = ()
    area_share: float = 0.0


@dataclass(frozen=True)
class MeshReport:
    """What holds of a `TetMesh`.

    Attributes:
        tet_size: Edge a of the cubic cells of the body-centred lattice at the surface [m].
        min_dihedral: Smallest angle between two faces of a tet [degrees].
        max_dihedral: Largest angle between two faces of a tet [degrees].
        volume: Σ tet volume · fill [m³].
        volume_ratio: `volume` / volume that the surface encloses, by winding numbers; 0 where it encloses none.
        lost_parts: Parts of the surface that got no tet.
        joined_tets: Tets that join surfaces which lie far apart along the mesh (lips, fingers), (k,).
        seconds: Time it took [s].
        is_covered_soup: Whether Robust tets were made though Smooth ones were asked for, since the surface is a polygon
            soup.
    """

    tet_size: float
    min_dihedral: float
    max_dihedral: float
    volume: float
    volume_ratio: float
    lost_parts: tuple[UnmeshedPart, ...] = ()
    joined_tets: Indices = field(default_factory=lambda: np.zeros(0, np.int32))
    seconds: float = 0.0
    is_covered_soup: bool = False


@dataclass(frozen=True, eq=False)
class SheetTriangles:
    """The triangles of a sheet, whose hinges are the tets of a mesh (`sheet_mesh.py`).

    Attributes:
        triangles: Their nodes, (t, 3).
        hinge: The tet that has all nodes of each, (t,).
        vertices: The vertex of the surface that each node is, (n,).
        strands: The nodes of its edges without faces that are strings (`strand_mesh.py`), (e, 2).
        strand_tet: The tet that has both nodes of each, (e,).
    """

    triangles: Indices
    hinge: Indices
    vertices: Indices
    strands: Indices = field(default_factory=lambda: np.zeros((0, 2), np.int32))
    strand_tet: Indices = field(default_factory=lambda: np.zeros(0, np.int32))


@dataclass(frozen=True, eq=False)
class BisectedTets:
    """How tets came out of coarse ones by bisection, all as often.

    Attributes:
        forest: All tets on the way, of which the smallest are those of the mesh.
        coarse_fill: Filled fraction of the coarse tets, (M,).
    """

    forest: TetForest
    coarse_fill: Floats

    def held_coarse(self, is_held: Bools) -> Bools:
        """Returns which coarse tets have one of some of the smallest, (m,), in them, (M,)."""
        return np.asarray(self.forest.count_in(is_held)[: self.forest.root_count] > 0)

    def fill_of_all(self, fill: Floats) -> Floats:
        """Returns the filled fractions of all tets of the forest, (c,), for those of the smallest, (m,)."""
        forest = self.forest
        material = np.concatenate([[0.0], np.cumsum(fill * forest.volume[forest.fine], dtype=np.float64)])
        first, end = forest.fine_range.T
        found = np.clip((material[end] - material[first]) / forest.volume, 0.0, 1.0)
        found[forest.count_in(fill < 1.0) == 0] = 1.0
        found[forest.fine], found[: forest.root_count] = fill, self.coarse_fill
        return floats(found)


@dataclass(frozen=True)
class TetMesh:
    """Tets that fill a surface.

    Attributes:
        nodes: Rest positions [m], (n, 3); each is used by a tet, but for points that carry a sheet, the last ones.
        tets: Node indices, (m, 4), positively oriented: det(x1−x0, x2−x0, x3−x0) > 0.
        fill: Filled fraction of each tet in (0, 1], above 1 for the tet of a rigid body, (m,).
        report: What holds of it.
        junctions: Its T-junctions, or all vertices of a sheet that points carry.
        sheet: The triangles of a sheet, whose tets are hinges without volume; None: it is a solid.
        levels: All tets that the body can have, of which these are the smallest; None: it has just these.
        bisected: How they came out of coarse ones; None: they did not.
    """

    nodes: Floats
    tets: Indices
    fill: Floats
    report: MeshReport
    junctions: TJunctions = field(default_factory=no_t_junctions)
    sheet: SheetTriangles | None = None
    levels: TetLevels | None = None
    bisected: BisectedTets | None = None

    @property
    def coarse(self) -> TetMesh:
        """The tets that these came out of by bisection, or these."""
        if self.bisected is None:
            return self
        forest, count = self.bisected.forest, self.bisected.forest.root_count
        tets = forest.tets[:count]
        return TetMesh(forest.nodes[: int(tets.max(initial=-1)) + 1], tets, self.bisected.coarse_fill, self.report)
