# SPDX-License-Identifier: GPL-3.0-or-later
"""Links between points of the surface of a body and another surface, and what they do at any node positions.

A sliding link holds the distance φ of its point from the other surface (`signed_distance_derivatives.py`) at its
value at rest φ₀. Its energy is W(s) of `link_energy.py` with s = ±(φ − φ₀), so it pulls along the normal alone:

    f = −W'(s) ∂s/∂p on the point,   −β_a f on the corners of the triangle.

The closest place is part of the energy, so it moves with every evaluation; a lagged one would be friction, and make
energy where the surface is curved. Both forces are along p − q, so neither momentum nor angular momentum comes from
nothing. A spring link ties its point to the place where it is at rest, as if that were made of the other body.

Source: S07, section 2.7, whose correction of positions and velocities these springs take the place of.
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace

import numpy as np

from ...mechanics.model import BodyRange
from ...mechanics.state_fields import BROKEN_FIELD
from ...mesh.geometry.signed_distance_derivatives import SignedDistances, SurfaceSnapshot
from ...mesh.geometry.triangle_frames import triangle_frames
from ...runtime.arrays import Bools, Floats, Indices, floats
from ..tet_pair_springs import MAX_TETS_PER_CONTACT, PairTets
from .link_energy import link_energy
from .target_surface import TargetSurface

TINY = 1.0e-300


@dataclass(frozen=True, eq=False)
class AnimatedPoints:
    """Points on a surface that no body moves, k of them.

    Attributes:
        surface: A collider.
        corners, weights: Vertices of the triangles that they are in, and barycentric weights in these, (k, 3) each.
    """

    surface: TargetSurface
    corners: Indices
    weights: Floats

    def positions(self, vertices: Floats) -> Floats:
        """Returns where they are [m], (k, 3), for vertices of the surface at [m], (v, 3)."""
        return np.einsum("kc,kci->ki", self.weights, vertices[self.corners])

    def select(self, which: Indices) -> AnimatedPoints:
        """Returns some of the points."""
        return replace(self, corners=self.corners[which], weights=self.weights[which])


@dataclass(frozen=True, eq=False)
class SurfaceLinks:
    """The links of one attachment, k of them.

    Attributes:
        key: Beginning of the names of its tracks.
        body: Number of the body whose points they begin at; None: of a collider.
        own: Its nodes and tets in the model.
        name: Of that body or collider, for people.
        strength: Factor on the stiffness without a track.
        reach: r [m].
        tet, weights: Of the points, in the tets of the model, (k,) and (k, 4); of a collider −1 and 0.
        stiffness: k at a strength of 1 [N/m], (k,).
        target: The other surface.
        rest_distance: φ₀ of sliding links [m], (k,); (0,) of springs.
        side: 1 where φ rises as a link is drawn out, −1 where it falls, (k,).
        anchor_tet, anchor_weights: Of springs to a body: what their other ends are part of, (k,) and (k, 4).
        anchor_triangle, anchor_place, anchor_offset: Of springs to a collider or bone: a triangle, barycentric weights
            in it, and the way from there in its frame [m], (k,), (k, 3) and (k, 3).
        animated: The points of a collider; None: of a body.
        is_fixed: Whether they are springs that are meant not to be drawn out.
        damping: b of springs to a body [N s/m], (k,), or (0,) for none.
        breaking_force: Above which force of all links of the row it lets go for good [N]; None: never.
        rest_length: Of springs that keep a length [m], (k,): legs on a sheet, three one after the other for each point;
            or edges; (0,) for springs of none.
        max_force: With which each spring without a length pulls at most [N].
        are_edges: Whether they are edges of the row (`edge_links.py`), each of a length of its own.
    """

    key: str
    body: int | None
    own: BodyRange | None
    name: str
    strength: float
    reach: float
    tet: Indices
    weights: Floats
    stiffness: Floats
    target: TargetSurface
    rest_distance: Floats
    side: Floats
    anchor_tet: Indices
    anchor_weights: Floats
    anchor_triangle: Indices
    anchor_place: Floats
    anchor_offset: Floats
    animated: AnimatedPoints | None = None
    is_fixed: bool = False
    damping: Floats = field(default_factory=lambda: np.zeros(0))
    breaking_force: float | None = None
    rest_length: Floats = field(default_factory=lambda: np.zeros(0))
    max_force: float = np.inf
    are_edges: bool = False

    @property
    def moved_bodies(self) -> set[int]:
        """Numbers of the bodies on both sides."""
        return {number for number in (self.body, self.target.body) if number is not None}

    @property
    def body_key(self) -> str:
        """The key of the body, or of the Wrap or collider, that has the attachment."""
        return self.key.split(".")[1]

    @property
    def number(self) -> int:
        """The number of the attachment in `Body.attachments`."""
        return int(self.key.rpartition(".")[2])

    @property
    def broken_field(self) -> str:
        """The field of the state that says that the row has broken."""
        return BROKEN_FIELD.format(key=self.body_key, number=self.number)

    @property
    def slides(self) -> bool:
        """Whether the links slide."""
        return len(self.rest_distance) > 0

    def points(self, x: Floats, tets: Indices) -> Floats:
        """Returns where the points of a body are [m], (k, 3), for nodes at x [m], (n, 3)."""
        return np.einsum("ka,kai->ki", self.weights, x[tets[self.tet]])

    def select(self, which: Indices) -> SurfaceLinks:
        """Returns some springs between two bodies, or of one, that have neither a length nor damping."""
        names = ("tet", "weights", "stiffness", "side", "anchor_tet", "anchor_weights")
        return replace(self, **{name: getattr(self, name)[which] for name in names})

    def of_tets(self, rows: Indices) -> SurfaceLinks:
        """Returns the links with tets numbered as in `rows`, rising, which has all of them."""

        def renumbered(tet: Indices) -> Indices:
            return np.searchsorted(rows, tet).astype(np.int32)

        target = replace(self.target, tet=renumbered(self.target.tet)) if self.target.body is not None else self.target
        own = self.tet if self.animated is not None else renumbered(self.tet)
        return replace(self, tet=own, anchor_tet=renumbered(self.anchor_tet), target=target)


@dataclass(frozen=True, eq=False)
class LinkForces:
    """What some links do, m of them.

    Attributes:
        energy: Of all [J].
        attachment: The tets that they move: of the point and of the place on the other side, where these are a body's.
        force: On the points, and against the places [N], (m, 3).
        directions: d with the stiffness Σ d dᵀ, (m, 3, 3) [√(N/m)].
        acting: Which of the links these are, (m,).
    """

    energy: float
    attachment: PairTets
    force: Floats
    directions: Floats
    acting: Indices

    @property
    def stiffness(self) -> Floats:
        """Positive semi-definite [N/m], (m, 3, 3)."""
        return np.einsum("kji,kjl->kil", self.directions, self.directions)


def link_forces(
    links: SurfaceLinks,
    strength: float,
    points: Floats,
    x: Floats,
    tets: Indices,
    target: SurfaceSnapshot,
    places: SignedDistances | None,
) -> LinkForces:
    """Returns what links do.

    Args:
        links: All of one attachment.
        strength: Factor on their stiffness.
        points: Where their points are [m], (k, 3).
        x: Node positions [m], (n, 3).
        tets: Nodes of the tets, (m, 4).
        target: The other surface, now.
        places: Of sliding links: the closest places to keep as planes; None: where they are now.
    """
    if not links.slides:
        return _spring_forces(links, strength, points, x, tets, target)
    if places is None:
        places = target.distances(points)
        distance = places.distance
    else:
        apart = points - np.einsum("kc,kci->ki", places.weights, target.corners[places.triangle])
        distance = np.einsum("ki,ki->k", apart, places.normal)
    s = links.side * (distance - links.rest_distance)
    energy, secant = link_energy(s, strength * links.stiffness, links.reach)
    acts = np.flatnonzero(secant > 0.0)
    slope = (links.side * secant * s)[acts]  # dW/dφ
    # where ∂²φ/∂p² is infinite, a bound still leads to the minimum
    curvature = np.clip(slope / np.where(distance[acts] == 0.0, TINY, distance[acts]), 0.0, secant[acts])
    directions = np.empty((len(acts), 3, 3))
    directions[:, 0] = np.sqrt(secant[acts])[:, None] * places.normal[acts]
    directions[:, 1:] = np.sqrt(curvature)[:, None, None] * places.curved[acts]
    force = -slope[:, None] * places.normal[acts]
    attachment = _attach_to_triangles(links, acts, places)
    return LinkForces(float(energy.sum()), attachment, floats(force), floats(directions), acts)


def _spring_forces(
    links: SurfaceLinks, strength: float, points: Floats, x: Floats, tets: Indices, target: SurfaceSnapshot
) -> LinkForces:
    if links.target.body is not None:
        tet, weights = attach_to_tets(links, links.anchor_weights)
    else:
        tet, weights = _no_places(links, np.arange(len(links.tet), dtype=np.int64))
    apart = points - anchors(links, x, tets, target)
    length = np.sqrt(np.einsum("ki,ki->k", apart, apart))
    drawn = length - links.rest_length if len(links.rest_length) else length
    energy, secant = link_energy(drawn, strength * links.stiffness, links.reach)
    if np.isfinite(links.max_force):
        is_limited = secant * drawn > links.max_force
        linear = links.max_force * (drawn - 0.5 * links.max_force / np.maximum(secant, TINY))
        energy = np.where(is_limited, linear, energy)
        secant = np.where(is_limited, links.max_force / np.maximum(drawn, TINY), secant)
    acts = np.flatnonzero(secant > 0.0)
    if not len(links.rest_length):
        directions, force = np.sqrt(secant[acts])[:, None, None] * np.eye(3), -secant[acts, None] * apart[acts]
    else:
        along = apart[acts] / np.maximum(length[acts], TINY)[:, None]
        force = -(secant * drawn)[acts, None] * along
        # what keeps a length resists a motion across itself where it is drawn out alone
        share = np.where(length[acts] > 0.0, np.clip(drawn[acts] / np.maximum(length[acts], TINY), 0.0, 1.0), 1.0)
        across = np.sqrt(secant[acts] * share)
        directions = across[:, None, None] * np.eye(3)
        directions += (np.sqrt(secant[acts]) - across)[:, None, None] * along[:, :, None] * along[:, None, :]
    attachment = PairTets(tet[acts], weights[acts])
    return LinkForces(float(energy.sum()), attachment, floats(force), floats(directions), acts)


def anchors(links: SurfaceLinks, x: Floats, tets: Indices, target: SurfaceSnapshot) -> Floats:
    """Returns where the other ends of springs are [m], (k, 3); the rest as in `link_forces`."""
    if links.target.body is not None:
        return np.einsum("ka,kai->ki", links.anchor_weights, x[tets[links.anchor_tet]])
    corners = target.corners[links.anchor_triangle]
    offset = np.einsum("kij,ki->kj", triangle_frames(corners), links.anchor_offset)
    return np.einsum("kc,kci->ki", links.anchor_place, corners) + offset


def attach_to_tets(links: SurfaceLinks, anchor_weights: Floats) -> PairTets:
    """Returns the tets of links that end in tets, with weights in these, (k, 4)."""
    tet, weights = _no_places(links, np.arange(len(links.tet), dtype=np.int64))
    tet[:, 1], weights[:, 4:8] = links.anchor_tet, anchor_weights
    return PairTets(tet, weights)


def _no_places(links: SurfaceLinks, which: Indices) -> tuple[Indices, Floats]:
    """Returns tets and weights of the points of some links, with nothing on the other side; see `PairTets`."""
    tet = np.full((len(which), MAX_TETS_PER_CONTACT), -1, np.int32)
    weights = np.zeros((len(which), 4 * MAX_TETS_PER_CONTACT))
    tet[:, 0], weights[:, :4] = links.tet[which], links.weights[which]
    return tet, weights


def _attach_to_triangles(links: SurfaceLinks, which: Indices, places: SignedDistances) -> PairTets:
    """Returns the tets of points and of the corners that their places lie between, each tet once."""
    tet, weights = _no_places(links, which)
    target = links.target
    if target.body is None:
        return PairTets(tet, weights)
    corners, place = target.surface.triangles[places.triangle[which]], places.weights[which]
    tet[:, 1:], on_corners = target.tet[corners], place[:, :, None] * target.weights[corners]
    tet[:, 1:][place <= 0.0] = -1
    for later, earlier in ((2, 1), (1, 0), (2, 0)):
        same: Bools = (tet[:, 1 + later] == tet[:, 1 + earlier]) & (tet[:, 1 + later] >= 0)
        on_corners[same, earlier] += on_corners[same, later]
        on_corners[same, later] = 0.0
        tet[same, 1 + later] = -1
    weights[:, 4:] = on_corners.reshape(len(which), 12)
    return PairTets(tet, weights)
