# SPDX-License-Identifier: GPL-3.0-or-later
"""The skin of a body after cuts: its closed surface, cut faces included, by which it touches others and its own pieces.

Who cuts the tets also cuts the skin that the body has, and says which vertices and triangles are still those of before:
contacts there go on as they are.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from ...runtime.arrays import Floats, Indices, floats, indices

Int64s = npt.NDArray[np.int64]


@dataclass(frozen=True, eq=False)
class CutSkin:
    """The skin that a cut makes of the skin before (`cut_contacts.present_skin`).

    Attributes:
        rest: Vertices at rest [m], (v, 3).
        tet: The copies of tets that hold them, numbered in the body, (v,).
        weights: Barycentric weights in these, (v, 4).
        triangles: Outward, (t, 3).
        vertex_source, triangle_source: The vertex and triangle before that each is, rising, and −1 of new ones, which
            come last; (v,) and (t,).
    """

    rest: Floats
    tet: Indices
    weights: Floats
    triangles: Indices
    vertex_source: Indices
    triangle_source: Indices


class KeyedSkin(NamedTuple):
    """A skin as a state stores it.

    Attributes:
        rest, tet, weights, triangles: See `CutSkin`.
        vertex_key, triangle_key: Numbers that stay as long as a vertex or triangle is there, rising; those of the skin
            of the whole body are its vertices and triangles themselves, (v,) and (t,).
    """

    rest: Floats
    tet: Indices
    weights: Floats
    triangles: Indices
    vertex_key: Int64s
    triangle_key: Int64s


def keyed_skin(skin: CutSkin, vertex_key: Int64s, triangle_key: Int64s) -> KeyedSkin:
    """Returns a skin with the keys that its vertices and triangles have had, and new ones.

    Args:
        skin: The skin.
        vertex_key, triangle_key: Of the skin before, rising.

    Raises:
        ValueError: Its arrays do not fit each other; the sentence says which.
    """
    count = len(skin.rest)
    if skin.tet.shape != (count,) or skin.weights.shape != (count, 4) or skin.vertex_source.shape != (count,):
        raise ValueError("vertices of the skin have arrays of other lengths")
    if skin.triangle_source.shape != (len(skin.triangles),) or (skin.triangles >= count).any():
        raise ValueError("triangles of the skin have other vertices or sources")
    return KeyedSkin(
        rest=floats(skin.rest, -1, 3),
        tet=indices(skin.tet),
        weights=floats(skin.weights, -1, 4),
        triangles=indices(skin.triangles, -1, 3),
        vertex_key=_keys(skin.vertex_source, vertex_key, "vertex_source"),
        triangle_key=_keys(skin.triangle_source, triangle_key, "triangle_source"),
    )


def _keys(source: Indices, before: Int64s, name: str) -> Int64s:
    """Returns rising keys: those of sources, and of new ones numbers above all before."""
    is_new = source < 0
    if (np.diff(np.where(is_new, len(before), source)) < 0).any() or (np.diff(source[~is_new]) <= 0).any():
        raise ValueError(f"{name} does not rise, or new ones do not come last")
    if (source >= len(before)).any():
        raise ValueError(f"{name} has numbers that are not from 0 to {len(before) - 1}")
    first = int(before[-1]) + 1 if len(before) else 0
    new = first + np.arange(int(is_new.sum()), dtype=np.int64)
    return np.concatenate([before[source[~is_new]], new])
