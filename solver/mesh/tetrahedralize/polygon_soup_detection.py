# SPDX-License-Identifier: GPL-3.0-or-later
"""Whether a surface is a polygon soup: many pieces whose faces do not say where inside is."""

from __future__ import annotations

import numpy as np

from ..geometry.orient_outward import OrientedSurface

MIN_SOUP_PIECES = 4  # connected pieces of a soup: a few are sheets, such as the front and the back of a shirt
MAX_PIECE_AREA_SHARE = 0.5  # of the area, in the largest piece of a soup


def is_polygon_soup(outward: OrientedSurface) -> bool:
    """Whether a surface is open and consists of many pieces, none of which has most of its area.

    Faces that share vertices, or have them in the same places, are one piece, whatever way round they were.
    """
    if outward.is_closed:
        return False
    corners = outward.surface.corners
    areas = np.linalg.norm(np.cross(corners[:, 1] - corners[:, 0], corners[:, 2] - corners[:, 0]), axis=1)
    pieces = np.bincount(outward.shell, areas)
    return np.count_nonzero(pieces) >= MIN_SOUP_PIECES and bool(pieces.max() <= MAX_PIECE_AREA_SHARE * pieces.sum())
