# SPDX-License-Identifier: GPL-3.0-or-later
"""Contacts of skins in one step: found by their search, and tied to the tets that bear them.

Where a point p of one body meets a place q of another, both are tied to one tet each, q to that of the triangle's
corner that is nearest. Where q is told, it carries p along. Where p is told, as a vertex of a collider is, q is the
point that is pushed, the other way.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Protocol

import numpy as np
import numpy.typing as npt

from ..arrays import Bools, Floats, Indices
from ..model import Model
from ..skins.skin import Met, Skins
from .memory import Memory
from .points import INERTIA, ContactPoints, place_points
from .skin_ties import Tie, tie_skins, turned_since
from .touching import Touching

Ids = npt.NDArray[np.int64]
NO_FRAMES = np.zeros((0, 3, 3))


class Search(Protocol):
    """Finds where skins meet that go from their start to an end of the step [m], (v, 3)."""

    def find(self, end: Floats) -> Met:
        """Returns what meets."""


class Begin(Protocol):
    """Begins the search of a step."""

    def __call__(self, skins: Skins, start: Floats, known: Memory) -> Search:
        """Takes vertices at the start [m], (v, 3), and contacts remembered, by ids of `Met`."""


@dataclass(frozen=True, eq=False)
class SkinSurfaces:
    """Skins with what their contacts need to push and rub.

    Attributes:
        skins: All skins.
        points: Their vertices: tets −1, stiffness and mass infinite where they are told.
        friction: μ of every skin, (s,).
    """

    skins: Skins
    points: ContactPoints
    friction: Floats


class SkinContacts:
    """The skins during one step."""

    def __init__(
        self, surfaces: SkinSurfaces, model: Model, dt: float, told: tuple[Floats, Floats], search: Begin
    ) -> None:
        """Takes where the vertices of colliders are at both ends of the step [m], (v, 3) each; others are not read."""
        self.surfaces, self.model, self.dt, self.told, self.search_of = surfaces, model, dt, told, search
        skins = surfaces.skins
        self.count, self.is_told = len(skins.rest), skins.tet < 0
        self.bound = np.flatnonzero(~self.is_told)

    def begin(self, x: Floats, is_fixed: Bools | None, memory: Memory, first: int) -> None:
        """Begins a step at node positions x [m], (n, 3); ids in a memory are larger by `first` than those of skins."""
        skins = self.surfaces.skins
        self.x, self.first = x, first
        self.moves = ~self.is_told
        if is_fixed is not None:
            self.moves[self.bound] = ~is_fixed[self.model.tets[skins.tet[self.bound]]].all(axis=1)
        self.start = self.places(x, 0)
        known = memory.only(slice(int(np.searchsorted(memory.id, first)), None))
        self.search = self.search_of(skins, self.start, known.numbered(known.id - first))

    def places(self, x: Floats, moment: int) -> Floats:
        """Returns where vertices are for node positions x, those told at the start (0) or the end (1) [m], (v, 3)."""
        skins, at = self.surfaces.skins, self.told[moment].copy()
        bound = np.empty((len(self.bound), 3))
        place_points(x, self.model.tets, skins.tet[self.bound], skins.weights[self.bound], bound)
        at[self.bound] = bound
        return at

    def find(self, x: Floats) -> Touching:
        """Returns the contacts where nodes go to x [m], (n, 3); what carries their points is left to `tie`."""
        skins, met = self.surfaces.skins, self.search.find(self.places(x, 1))
        point = met.id % self.count
        normal = np.where(self.is_told[point, None], -met.normal, met.normal)
        found = Touching(met.id + self.first, normal, met.gap, np.zeros_like(normal), met.side, met.triangle, met.place)
        moves = self.moves[point] | self.moves[skins.triangles[met.triangle]].any(axis=1)
        return found if moves.all() else found.only(moves)

    def tie(self, touching: Touching, which: npt.NDArray[np.int64]) -> Tie:
        """Returns what the contacts `which` are tied to, and writes what carries their points."""
        assert touching.triangle is not None and touching.place is not None
        id, triangle, place = touching.id[which] - self.first, touching.triangle[which], touching.place[which]
        skins, model, points = self.surfaces.skins, self.model, self.surfaces.points
        k = len(which)
        tie = Tie(np.empty((k, 2), np.int32), np.empty((k, 8)), np.empty((3, k)))
        carried = np.empty((k, 3))
        tie_skins(
            id, triangle, place, self.x, self.told[0], self.told[1], model.X, model.tets, skins.tet, skins.weights,
            skins.triangles, skins.rest, np.searchsorted(skins.vertex_start, id % self.count, side="right") - 1,
            self.surfaces.friction, points.stiffness, points.mass, points.tet_size, INERTIA / self.dt**2,
            tie.ends, tie.weights, tie.numbers, carried,
        )  # fmt: skip
        touching.carried[which] = carried
        return tie

    def frames(self, triangle: Indices) -> Floats:
        """Returns the rotations of triangles from rest to the start of the step, (k, 3, 3)."""
        skins = self.surfaces.skins
        corners = skins.triangles[triangle]
        return turned_since(skins.rest[corners], self.start[corners])
