# SPDX-License-Identifier: GPL-3.0-or-later
"""Where the solve of a pose may begin: flesh goes along with what holds it, and with what its surface is linked to.

`blended_rigid_motions.py` moves flesh with its fixed nodes alone. A muscle from the shoulder blade to the forearm has
none along the upper arm: as that turns, its belly begins half way between both ends, up to 12 mm from muscles that go
with the upper arm, and in one of them. Its links to the humerus say where it belongs. With e(p) what the motion of a
linked point's closest place is beside the blended motion of the point,

    x ← blend(x) + d,

where d is harmonic over the rest shape, 0 at fixed nodes, and at nodes of linked tets the mean of e, weighted as the
points are in these tets. Only where the solve begins changes, not what it looks for.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from ...constraints.attachments.attachment_potential import ActiveLinks, AttachmentPotential
from ...linalg.harmonic_extension import HarmonicExtension, make_harmonic_extension
from ...mechanics.model import Model
from ...mesh.geometry.connected_components import mesh_components
from ...mesh.geometry.triangle_frames import triangle_frames
from ...quasistatic.blended_rigid_motions import blend_rigid_motions
from ...quasistatic.fixed_nodes import FixedNodes
from ...runtime.arrays import Bools, Floats
from ...runtime.frozen_memo import derived_from
from ...scene.tracks import TrackReader

LINEAR_TOLERANCE = 1.0e-3  # of d


@dataclass(frozen=True, eq=False)
class MovedLinks:
    """Links to a collider or bone that has moved since the sample before.

    Attributes:
        links: As they act now.
        before: Its vertices in the sample before [m], (v, 3).
    """

    links: ActiveLinks
    before: Floats

    @property
    def has_moved(self) -> bool:
        """Whether the collider or bone is elsewhere."""
        return not np.array_equal(self.before, self.links.vertices)

    def carried_points(self, points: Floats) -> Floats:
        """Returns points [m], (k, 3), moved as the triangles next to them in the sample before, which turn."""
        if not self.has_moved:
            return points
        earlier, now = self.links.links.target.surface.at(self.before), self.links.animated_target
        places = earlier.distances(points)
        old, new = earlier.corners[places.triangle], now.corners[places.triangle]
        apart = points - np.einsum("kc,kci->ki", places.weights, old)
        local = np.einsum("kai,ki->ka", triangle_frames(old), apart)
        return np.einsum("kc,kci->ki", places.weights, new) + np.einsum("kai,ka->ki", triangle_frames(new), local)


def moved_links(potentials: Sequence[AttachmentPotential], tracks: TrackReader, before: float) -> list[MovedLinks]:
    """Returns the links of bodies to colliders and bones, with where these were at a time before [s]."""
    return [
        MovedLinks(each, each.links.target.animated_vertices(tracks, before))
        for potential in potentials
        for each in potential.active
        if each.links.target.body is None and each.links.animated is None and not each.links.are_edges
    ]


def start_along_links(model: Model, x: Floats, fixed: FixedNodes, moved: Sequence[MovedLinks]) -> Floats:
    """Returns nodes at x [m], (n, 3), moved along with fixed nodes and links; x itself where no link has moved, or
    where links would invert more tets than fixed nodes alone do.
    """
    if not any(each.has_moved for each in moved):
        return x
    start = blend_rigid_motions(model, x, fixed)
    d, is_given = _linked_motion(model, x, start, moved)
    d[fixed.nodes], is_given[fixed.nodes] = 0.0, True
    given = np.flatnonzero(is_given)
    extension = derived_from(
        model.pattern, "linked_start", lambda: _extension_from(model, is_given), values=(given.astype(np.int32),)
    )
    if extension is not None:
        extension.extend(d)
    linked = start + d
    return linked if _inverted_count(model, linked) <= _inverted_count(model, start) else x


def _linked_motion(model: Model, x: Floats, start: Floats, moved: Sequence[MovedLinks]) -> tuple[Floats, Bools]:
    """Returns what links move nodes by beside `start` [m], (n, 3), and which nodes they move, (n,)."""
    total, weight = np.zeros_like(x), np.zeros(len(x))
    for each in moved:
        links = each.links.links
        extra = each.carried_points(links.points(x, model.tets)) - links.points(start, model.tets)
        share, nodes = np.maximum(links.weights, 0.0), model.tets[links.tet]
        np.add.at(total, nodes, share[:, :, None] * extra[:, None])
        np.add.at(weight, nodes, share)
    is_linked = weight > 0.0
    return np.divide(total, weight[:, None], out=total, where=is_linked[:, None]), is_linked


def _extension_from(model: Model, is_given: Bools) -> HarmonicExtension | None:
    piece = mesh_components(model.tets, model.node_count)
    has_given = np.zeros(int(piece.max(initial=0)) + 1, bool)
    has_given[piece[is_given]] = True
    return make_harmonic_extension(model.X, model.tets, ~is_given & has_given[piece], LINEAR_TOLERANCE)


def _inverted_count(model: Model, x: Floats) -> int:
    edges = x[model.tets[:, 1:]] - x[model.tets[:, :1]]
    volumes = np.einsum("mi,mi->m", edges[:, 0], np.cross(edges[:, 1], edges[:, 2]))
    return int(np.count_nonzero(~(volumes > 0.0)))
