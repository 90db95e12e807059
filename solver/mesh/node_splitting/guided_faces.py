# SPDX-License-Identifier: GPL-3.0-or-later
"""The faces between tets along which a crack guide makes a body weaker, and the planes that cracks take there."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from ...runtime.arrays import Bools, Floats, Indices, floats


@dataclass(frozen=True, eq=False)
class GuidedFaces:
    """Faces of tets beside a guide. They are a staircase; the guide's own planes tell how it runs.

    Attributes:
        is_guided: Which faces of the tets, (m, 4), both sides of each.
        normal: Unit normal n of the guide there, of either sign, (m, 4, 3).
        offset: n · p of a point p of the guide there [m], (m, 4).
        strength_share: Strength across these faces over that of the tet itself, (m,); 1 in tets without such a face.
    """

    is_guided: Bools
    normal: Floats
    offset: Floats
    strength_share: Floats

    def of_tets(self, tets: Indices) -> GuidedFaces:
        """Returns those of some tets, (k,)."""
        return GuidedFaces(self.is_guided[tets], self.normal[tets], self.offset[tets], self.strength_share[tets])

    def heights(self, tet: int, face: int, places: Floats) -> Floats:
        """Returns how far places [m], (k, 3), are above the plane of the guide at a face [m], (k,)."""
        return floats(places @ self.normal[tet, face] - self.offset[tet, face])


def no_guided_faces(count: int) -> GuidedFaces:
    """Returns what tets without a guide have."""
    return GuidedFaces(np.zeros((count, 4), bool), np.zeros((count, 4, 3)), np.zeros((count, 4)), np.ones(count))
