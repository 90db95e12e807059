# SPDX-License-Identifier: GPL-3.0-or-later
"""What the links of attachments carry, and between which places: for breaking forces, reports and the viewport."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

import numpy as np

from ...runtime.arrays import Floats, Indices, floats
from .attachment_potential import ActiveLinks

MAX_REPORTED_EDGES = 500  # of a row: each frame's report has their ends


@dataclass(frozen=True, eq=False)
class AttachmentLoad:
    """What all links of one attachment carry at one time.

    Attributes:
        force: Σ |f_i| over its links [N]: sizes, since what twists or peels pulls to both sides.
        place: Where they pull at the body: mean of the points, weighted by |f_i| [m], (3,); by 1 where nothing pulls.
        end: The same of the places that they are pulled to [m], (3,).
        edges: Both ends of its edges, of many some evenly chosen ones [m], (e, 2, 3); (0, 2, 3) of what has no edges.
    """

    force: float
    place: Floats
    end: Floats
    edges: Floats = field(default_factory=lambda: np.zeros((0, 2, 3)))

    def to_list(self) -> list[float]:
        """Returns what a report of a frame has: force, place and end, seven numbers, and then both ends of edges."""
        return [self.force, *self.place.tolist(), *self.end.tolist(), *self.edges.ravel().tolist()]


def attachment_load(parts: Sequence[ActiveLinks], x: Floats, tets: Indices) -> AttachmentLoad:
    """Returns what one attachment carries, whose links go to one or several surfaces.

    Args:
        parts: Its links to each surface, at least one of which has links.
        x: Node positions [m], (n, 3).
        tets: Nodes of the tets, (m, 4).
    """
    forces = [part.sizes_of_forces(x, tets) for part in parts]
    size = np.concatenate(forces)
    weights = size / size.sum() if size.sum() > 0.0 else np.full(len(size), 1.0 / len(size))
    points = np.concatenate([part.points(x, tets) for part in parts])
    ends = np.concatenate([part.ends(x, tets) for part in parts])
    edges = np.stack([points, ends], axis=1)[_shown(len(points)) if parts[0].links.are_edges else []]
    return AttachmentLoad(float(size.sum()), weights @ points, weights @ ends, floats(edges, -1, 2, 3))


def _shown(count: int) -> Indices:
    """Returns the numbers of those of so many edges whose ends a report has, (k,)."""
    return np.linspace(0, count - 1, min(count, MAX_REPORTED_EDGES)).astype(np.int32)
