# SPDX-License-Identifier: GPL-3.0-or-later
"""What hits a body at a place, and what goes on pressing on its pieces when it has broken there."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace

import numpy as np

from ..runtime.arrays import Floats, Indices, floats, indices
from .brittle_body import BrittleBody
from .contact_patch import MIN_POINTS, ContactPatch, contact_patch, spread_force
from .cracked_mesh import CrackedMesh
from .hertz_impact import HertzImpact
from .inertia_relief import PlacedForces
from .rigid_mass import RigidMass

PATCH_SIZES = 1.5  # least radius over which a force is spread, in sizes of coarse tets
SPLINTER_SIZES = 3.0  # a splinter has less material than there is so near to the contact, in sizes of coarse tets
MAX_SPLINTER_SHARE = 0.1  # and less than this share of what it comes off
# of the mass of a body that pins hold: what nothing moves, such as a collider, hits it as if it were so heavy
IMMOVABLE_SHARE = 1.0e3
WIDENINGS = (1.0, 1.5, 2.25, 3.4, 5.1, 7.6, 11.4, 17.1, 25.6)  # of the radius, until other pieces bear the force


@dataclass(frozen=True, eq=False)
class Hit:
    """What hits a body at a place.

    Attributes:
        tet: The tet at the place.
        weights: Barycentric coordinates in it, (4,).
        direction: Of the force on the body, a unit vector, (3,).
        impact: The law of the force.
        other_inverse_mass: What the other body gives to 1 / m at the place [1/kg]; 0: nothing moves it.
        radius: Of the area of contact [m]; the force is spread over more where tets are larger.
        is_on_cracks: Whether it presses on faces of cracks too, since what it pressed on before has come off.
    """

    tet: int
    weights: Floats
    direction: Floats
    impact: HertzImpact
    other_inverse_mass: float = 0.0
    radius: float = 0.0
    is_on_cracks: bool = False

    @property
    def peak(self) -> PlacedForces:
        """Its force at the peak by Hertz's law."""
        force = self.impact.peak_force * self.direction
        return PlacedForces(indices([self.tet]), floats(self.weights).reshape(1, 4), floats(force).reshape(1, 3))

    def place(self, body: BrittleBody) -> Floats:
        """Returns where it is [m], (3,)."""
        return floats(self.weights @ body.nodes[body.tets[self.tet]])

    def patch(self, cracked: CrackedMesh, tets: Indices, widened: float = 1.0) -> ContactPatch:
        """Returns where it presses on a piece of these tets, (k,), within so many times its radius."""
        body = cracked.body
        radius = widened * self.reach(body)
        tets = tets[body.may_be_within(tets, self.place(body), radius) & ~body.is_almost_empty[tets]]
        across = body.neighbours.tet[tets]
        is_free = (across < 0) | body.is_almost_empty[across]
        if self.is_on_cracks:
            is_free |= cracked.is_parted[tets]
        row, face = np.nonzero(is_free)
        return contact_patch(body, (tets[row], indices(face)), self.peak, radius)

    def reach(self, body: BrittleBody) -> float:
        """Returns the radius over which its force is spread [m]."""
        return max(PATCH_SIZES * float(body.coarse_size[self.tet]), self.radius)

    def splinter_volume(self, body: BrittleBody, tets: Indices) -> float:
        """Returns the volume below which what comes off a piece of these tets, (k,), is a splinter [m³]."""
        volume = body.volume[tets]
        is_near = np.linalg.norm(body.middles[tets] - self.place(body), axis=1) < SPLINTER_SIZES * float(
            body.coarse_size[self.tet]
        )
        return min(float(volume[is_near].sum()), MAX_SPLINTER_SHARE * float(volume.sum()))

    def on_pieces(self, cracked: CrackedMesh, pieces: Sequence[tuple[Indices, RigidMass]]) -> dict[int, Hit]:
        """Returns what goes on pressing on the pieces of what it has pressed on: number of the piece → hit.

        Splinters bear nothing: they are wedged in, and pass the force on to what is around and behind. So the area
        widens until it has part of a larger piece, of its cracks too.

        Args:
            cracked: The body by now.
            pieces: Their tets, (k,), and masses.
        """
        body = cracked.body
        all_tets = indices(np.concatenate([tets for tets, _ in pieces]))
        least = self.splinter_volume(body, all_tets)
        volumes = [float(body.volume[tets].sum()) for tets, _ in pieces]
        bearing = [n for n, volume in enumerate(volumes) if volume >= min(least, max(volumes))]
        owner = np.full(len(body.tets), -1, np.int32)
        for n in bearing:
            owner[pieces[n][0]] = n
        for widened in WIDENINGS:
            wider = replace(self, is_on_cracks=self.is_on_cracks or widened > 1.0)
            own = wider.patch(cracked, all_tets, widened).within(owner >= 0)
            if len(own.tet) >= MIN_POINTS:
                break
        total = float(own.nearness.sum())
        made = {}
        for n in np.unique(owner[own.tet]).tolist():
            part = own.within(owner == n)
            share = float(part.nearness.sum()) / total
            other = self.other_inverse_mass / share
            row = part.nearest()
            hit = replace(
                wider,
                tet=int(part.tet[row]),
                weights=part.weights[row],
                other_inverse_mass=other,
                radius=widened * self.reach(body),
            )
            mass = pieces[n][1]
            stopped = stopped_mass(mass, mass.inverse_effective_mass(hit.place(body), self.direction) + other)
            made[n] = replace(hit, impact=self.impact.on_part(share, stopped))
        # where places have moved, parts can seem heavier than the whole
        heavier = max(sum(hit.impact.mass for hit in made.values()) / self.impact.mass, 1.0)
        return {n: replace(hit, impact=hit.impact.on_part(1.0, hit.impact.mass / heavier)) for n, hit in made.items()}


def stopped_mass(body: RigidMass, inverse_mass: float) -> float:
    """Returns 1 / (1 / m) of a body and what hits it [kg], and `IMMOVABLE_SHARE` of its mass where neither moves."""
    return 1.0 / max(inverse_mass, 1.0 / (IMMOVABLE_SHARE * body.mass))


def forces_on_piece(cracked: CrackedMesh, tets: Indices, hits: Iterable[Hit]) -> PlacedForces:
    """Returns the forces of hits at their peaks, spread over the surface of a piece of these tets, (k,)."""
    spread = [spread_force(hit.patch(cracked, tets), hit.peak) for hit in hits]
    return PlacedForces(
        indices(np.concatenate([each.tet for each in spread])),
        floats(np.concatenate([each.weights for each in spread])),
        floats(np.concatenate([each.force for each in spread])),
    )
