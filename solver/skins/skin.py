# SPDX-License-Identifier: GPL-3.0-or-later
"""Skins: surfaces in motion, of bodies and of colliders, whose vertices are the points that touch other skins."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from ..arrays import Bools, Floats, Indices

Whole = npt.NDArray[np.int64]


@dataclass(frozen=True, eq=False)
class Skins:
    """All skins, s of them, one after the other: v vertices and t triangles.

    Vertices are hard-bound to tets (S07, 6.2), or told by a track where the skin is a collider's. Triangles have no
    edge longer than the tets of their body, so that the skin bends with them.

    Attributes:
        names: Keys of bodies and colliders, (s,).
        vertex_start, triangle_start: Where each skin begins, (s + 1,) each.
        body: Number of the body, −1 of a collider, (s,).
        rest: Vertices at rest, of colliders where they begin [m], (v, 3).
        tet, weights: Binding of vertices in the model, (v,), −1 in colliders, and (v, 4).
        triangles: Vertices, counted over all skins, outward where the skin is closed, (t, 3).
        area: Share of the surface of every vertex [m²], (v,).
        is_one_sided: Whether only what comes from the front of a skin's triangles meets it, (s,).
        thickness: Of the skin [m], (s,).
        meets: Whether points of one skin meet triangles of another, (s, s); the diagonal: whether it meets itself.
    """

    names: tuple[str, ...]
    vertex_start: Whole
    triangle_start: Whole
    body: Indices
    rest: Floats
    tet: Indices
    weights: Floats
    triangles: Indices
    area: Floats
    is_one_sided: Bools
    thickness: Floats
    meets: Bools


@dataclass(frozen=True, eq=False)
class Met:
    """Which points go into which triangles during a step, k of them, by rising id.

    The contact is linear in the motion of the point p and of the place q of the triangle: it keeps
    gap + n · ((p⁺ − p) − (q⁺ − q)) ≥ 0.

    Attributes:
        id: skin of the triangle · v + point, (k,). A point meets a skin at one place.
        triangle, place: The triangle, and the barycentric weights of q in it, (k,) and (k, 3).
        normal: n, of length one, towards the side on which the point is kept, at the end of the step, (k, 3).
        gap: n · (p − q) less both thicknesses, at the start [m], (k,).
        side: 1 in front of the triangle, −1 behind it, (k,) int8.
    """

    id: Whole
    triangle: Indices
    place: Floats
    normal: Floats
    gap: Floats
    side: npt.NDArray[np.int8]

    def __len__(self) -> int:
        return len(self.id)
