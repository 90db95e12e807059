# SPDX-License-Identifier: GPL-3.0-or-later
"""A body that moves as a rigid one and breaks: its tets while it is whole, its material, and what each tet bears."""

from __future__ import annotations

import functools
import math
from dataclasses import dataclass

import numpy as np

from ..mechanics.elastic_moduli import lame_moduli
from ..mesh.node_splitting.face_adjacency import MIN_FILL, MIN_LOAD_SHARE, FaceAdjacency, face_adjacency, load_shares
from ..mesh.node_splitting.guided_faces import GuidedFaces
from ..mesh.node_splitting.minimum_fragment import min_fragment_volume
from ..mesh.tet_mesh import TetMesh
from ..mesh.tetrahedralize.material_moments import MaterialMoments, full_tets
from ..runtime.arrays import Bools, Floats, Indices, floats
from .element_tables import ElementTables, element_tables
from .nested_dissection import TetTree, tet_tree

THIN_FILL = 0.95  # walls are thinner than tets where even the fullest tet around has less in it


@dataclass(frozen=True)
class BrittleMaterial:
    """What a stiff body is made of.

    Attributes:
        youngs_modulus: E [Pa].
        poisson_ratio: ν.
        density: ρ [kg/m³].
        breaking_stress: Tensile stress at which it cracks [Pa].
        toughness: K_c at which cracks go on [Pa √m].
    """

    youngs_modulus: float
    poisson_ratio: float
    density: float
    breaking_stress: float
    toughness: float

    @property
    def lame_moduli(self) -> tuple[float, float]:
        """μ and λ [Pa]."""
        return lame_moduli(self.youngs_modulus, self.poisson_ratio)

    @property
    def crack_speed(self) -> float:
        """0.38 √(E / ρ), that of cracks that run freely [m/s]: Roberts and Wells (1954); of glass 1500 is measured."""
        return 0.38 * math.sqrt(self.youngs_modulus / self.density)

    @property
    def fracture_energy(self) -> float:
        """K_c² (1 − ν²) / E, the energy that a crack takes by its area [J/m²]."""
        return self.toughness**2 * (1.0 - self.poisson_ratio**2) / self.youngs_modulus


@dataclass(frozen=True, eq=False)
class CoarseTets:
    """The coarse tets that those of a body are parts of: what depends on them depends on no level of refinement.

    Attributes:
        size: h of the coarse tet of each tet [m], (m,).
        fullest: The largest filled share around it, (m,).
        halvings: How often it was halved, (m,).
        min_fragment_volume: The least volume of a piece of coarse tets [m³].
    """

    size: Floats
    fullest: Floats
    halvings: Indices
    min_fragment_volume: float


@dataclass(frozen=True, eq=False)
class BrittleBody:
    """A body while it is whole.

    Attributes:
        nodes: Positions [m], (n, 3).
        tets: (m, 4).
        fill: Which share of each tet is material, (m,).
        moments: Where in the tets that is: of those with thin walls, others count as evenly filled.
        material: What it is made of.
        strength_share: Strength of each tet over that of the material: paint and scatter, (m,).
        is_breakable: Which tets may part from each other, (m,).
        load_share: Share of its stress that each tet passes on, (m,).
        size: h of its tets: the edge of the cubic cell whose twelve tets are as large [m], (m,).
        coarse_size: The same of the coarse tets that these are parts of [m], (m,): forces are spread by it.
        volume: Of material in each tet [m³], (m,).
        coarse_volume: Times how many of it a coarse tet has [m³], (m,): what each counts for in the least piece.
        neighbours: The inner faces.
        is_bonded: Across which faces tets never part, (m, 4).
        min_fragment_volume: The least `coarse_volume` of a piece [m³].
        is_held: Which tets pins hold, (m,): they follow these, and have no stress.
        guides: Faces across which it is weaker; None: there are none.
        makes_dust: Whether smaller pieces come off, too; they never break again.
    """

    nodes: Floats
    tets: Indices
    fill: Floats
    moments: MaterialMoments
    material: BrittleMaterial
    strength_share: Floats
    is_breakable: Bools
    load_share: Floats
    size: Floats
    coarse_size: Floats
    volume: Floats
    coarse_volume: Floats
    neighbours: FaceAdjacency
    is_bonded: Bools
    min_fragment_volume: float
    is_held: Bools
    guides: GuidedFaces | None = None
    makes_dust: bool = False

    def is_dust(self, tets: Indices) -> bool:
        """Whether a piece of some tets is smaller than pieces that are not dust."""
        return self.makes_dust and float(self.coarse_volume[tets].sum()) < self.min_fragment_volume

    @property
    def weakest_share(self) -> Floats:
        """Strength of each tet over that of the material where it is weakest, along guides, (m,)."""
        return self.strength_share if self.guides is None else floats(self.strength_share * self.guides.strength_share)

    @property
    def tet_mass(self) -> Floats:
        """[kg], (m,)."""
        return floats(self.material.density * self.volume)

    @functools.cached_property
    def elements(self) -> ElementTables:
        """What its tets have of their own, whatever cracks are between them."""
        return element_tables(self.nodes, self.tets, self.fill, self.moments)

    @functools.cached_property
    def middles(self) -> Floats:
        """Of its tets [m], (m, 3)."""
        return floats(self.nodes[self.tets].mean(axis=1))

    @functools.cached_property
    def _spread(self) -> Floats:
        """How far the corners of each tet are from its middle, at most [m], (m,)."""
        return floats(np.linalg.norm(self.nodes[self.tets] - self.middles[:, None], axis=2).max(axis=1))

    def may_be_within(self, tets: Indices, place: Floats, radius: float) -> Bools:
        """Returns which of some tets, (k,), may have points nearer to a place [m] than a radius [m], (k,)."""
        return np.asarray(np.linalg.norm(self.middles[tets] - place, axis=1) <= radius + self._spread[tets])

    @functools.cached_property
    def tet_tree(self) -> TetTree:
        """Halves of its tets, for the factors of its pieces."""
        return tet_tree(self.nodes, self.tets)

    @functools.cached_property
    def is_thin(self) -> Bools:
        """Which tets have walls in them that are thinner than they are: even the fullest around is not full, (m,)."""
        return np.asarray(self.fill / self.load_share < THIN_FILL)

    @functools.cached_property
    def is_almost_empty(self) -> Bools:
        """Which parts of coarse tets have next to nothing in them, (m,): they pass on what presses on them."""
        return np.asarray((self.size < self.coarse_size) & (self.load_share < MIN_FILL))

    @functools.cached_property
    def is_stress_checked(self) -> Bools:
        """Whose stress tells whether the body breaks, (m,): not that of tets that are held or have little in them."""
        return np.asarray(self.is_breakable & (self.load_share >= MIN_LOAD_SHARE) & ~self.is_held)


def brittle_body(
    mesh: TetMesh,
    material: BrittleMaterial,
    strength_share: Floats | None = None,
    is_breakable: Bools | None = None,
    guides: GuidedFaces | None = None,
    is_held: Bools | None = None,
    moments: MaterialMoments | None = None,
    coarse: CoarseTets | None = None,
) -> BrittleBody:
    """Returns a whole body.

    Args:
        mesh: Its tets, which hang together by faces (`mesh/node_splitting/node_duplication.py`, `separate_hinges`).
        material: What it is made of.
        strength_share: Of its tets, (m,); None: all are as strong as the material.
        is_breakable: Which tets may part from each other, (m,); None: all.
        guides: Faces across which it is weaker; None: there are none.
        is_held: Which tets pins hold, (m,); None: none.
        moments: Where in its tets the material is; None: evenly in them.
        coarse: The coarse tets that its tets are parts of; None: these are coarse.
    """
    count = len(mesh.tets)
    corners = mesh.nodes[mesh.tets]
    volume = np.linalg.det(corners[:, 1:] - corners[:, :1]) / 6.0
    size, filled = floats(np.cbrt(12.0 * volume)), floats(mesh.fill * volume)
    neighbours = face_adjacency(mesh.tets, np.ones(count, bool))
    load_share = load_shares(mesh.tets, mesh.fill)
    fullest = mesh.fill / load_share
    if coarse is not None:  # parts outside of the surface count as the tet that they are of
        fullest = np.maximum(fullest, coarse.fullest)
        load_share = floats(mesh.fill / fullest)
    is_thin = fullest < THIN_FILL
    # of walls thinner than tets, half a cell as full as their fullest tets
    least = min_fragment_volume(floats(size * np.where(is_thin, np.cbrt(fullest), 1.0)), filled)
    return BrittleBody(
        nodes=mesh.nodes,
        tets=mesh.tets,
        fill=mesh.fill,
        moments=full_tets(count) if moments is None else moments.only_of(is_thin),
        material=material,
        strength_share=np.ones(count) if strength_share is None else strength_share,
        is_breakable=np.ones(count, bool) if is_breakable is None else is_breakable,
        load_share=load_share,
        size=size,
        coarse_size=size if coarse is None else coarse.size,
        volume=filled,
        coarse_volume=filled if coarse is None else floats(filled * 2.0**coarse.halvings),
        neighbours=neighbours,
        # where walls are thinner than tets, none is full: what counts is how full it is beside those around
        is_bonded=neighbours.bonded_faces(floats(np.where(is_thin, load_share, mesh.fill)), filled),
        min_fragment_volume=least if coarse is None else coarse.min_fragment_volume,
        is_held=np.zeros(count, bool) if is_held is None else is_held,
        guides=guides,
    )
