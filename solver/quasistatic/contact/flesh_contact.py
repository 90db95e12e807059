# SPDX-License-Identifier: GPL-3.0-or-later
"""What flesh may touch, made once."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from ...arrays import Floats
from ...contact.colliders import BuiltCollider
from ...contact.points import ContactPoints
from ...materials.elastic import youngs_modulus
from ...model import Model
from ...part_model import PartModel
from ...tracks import TrackReader
from .render_surface import RenderSurface
from .touching import Touching

STIFFNESS = 10.0  # penalty per area over Young's modulus / tet size


@dataclass(frozen=True, eq=False)
class FleshContact:
    """The points of some bodies, and what they may touch.

    Attributes:
        model: The bodies alone.
        points: Of their surfaces; tets counted in `model`.
        stiffness: Penalty k of each point [N/m], (k,).
        surfaces: In the order of the bodies.
        self_contact: Whether each body may touch itself.
        colliders: Rigid things.
    """

    model: Model
    points: ContactPoints
    stiffness: Floats
    surfaces: tuple[RenderSurface, ...]
    self_contact: tuple[bool, ...]
    colliders: tuple[BuiltCollider, ...]

    def at(self, tracks: TrackReader | None, time: float, x: Floats | None = None) -> Touching:
        """Returns what acts at a time [s].

        Args:
            tracks: Of the colliders; None where there are none.
            time: [s].
            x: Where the solve begins, the equilibrium before [m], (n, 3): tells on which side of open sheets points
                are. None: at rest.

        Raises:
            BadInput: A collider changes its scale or shear.
        """
        poses = [collider.pose(tracks, time) for collider in self.colliders] if tracks is not None else []
        return Touching(self, poses, self.model.X if x is None else x)


def make_flesh_contact(
    part: PartModel,
    surfaces: Sequence[RenderSurface],
    points: ContactPoints,
    colliders: Sequence[BuiltCollider],
    self_contact: Sequence[bool],
) -> FleshContact:
    """Returns the contact of the bodies of a part.

    Args:
        part: The bodies.
        surfaces: Of these bodies, in their order.
        points: Of the whole model, in its tets; those of other bodies are left out.
        colliders: Of the scene.
        self_contact: Whether each body may touch itself, in their order.
    """
    number = np.full(int(part.tets.max(initial=0)) + 1, -1, np.int32)
    number[part.tets] = np.arange(len(part.tets), dtype=np.int32)
    own = np.flatnonzero((points.tet < len(number)) & (number[np.minimum(points.tet, len(number) - 1)] >= 0))
    tet, weights = number[points.tet[own]], points.weights[own]
    model = part.model
    lever = np.maximum(np.abs(weights).max(axis=1, initial=0.0), 1.0) ** 2
    E = youngs_modulus(model.mu[tet], model.lam[tet])
    k = STIFFNESS * E * points.area[own] / points.tet_size[own] / lever
    ours = ContactPoints(
        tet, np.ascontiguousarray(weights), points.area[own], k, points.mass[own], points.tet_size[own]
    )
    return FleshContact(model, ours, k, tuple(surfaces), tuple(self_contact), tuple(colliders))
