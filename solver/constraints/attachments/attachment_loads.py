# SPDX-License-Identifier: GPL-3.0-or-later
"""What the links of attachments carry, and between which places: for breaking forces, reports and the viewport."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from ...runtime.arrays import Floats, Indices
from .attachment_potential import ActiveLinks


@dataclass(frozen=True, eq=False)
class AttachmentLoad:
    """What all links of one attachment carry at one time.

    Attributes:
        force: Σ |f_i| over its links [N]: sizes, since what twists or peels pulls to both sides.
        place: Where they pull at the body: mean of the points, weighted by |f_i| [m], (3,); by 1 where nothing pulls.
        end: The same of the places that they are pulled to [m], (3,).
    """

    force: float
    place: Floats
    end: Floats

    def to_list(self) -> list[float]:
        """Returns the seven numbers as a report of a frame has them."""
        return [self.force, *self.place.tolist(), *self.end.tolist()]


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
    return AttachmentLoad(float(size.sum()), weights @ points, weights @ ends)
