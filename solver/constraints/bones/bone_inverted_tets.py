# SPDX-License-Identifier: GPL-3.0-or-later
"""Tets that bones turn inside out.

Where one bone holds all nodes of a tet, no solve can help. Such tets pull at held nodes only, so the rest of the flesh
is at rest as it should be, and only what is drawn there is crumpled. A few of them are therefore told; where it is most
of what a bone holds, its animation is broken. Where two bones run into each other, what lies between them has no
place left.
"""

from __future__ import annotations

import numpy as np

from ...mesh.rigid_alignment import align_rigidly
from ...runtime.arrays import Floats, Indices
from ...runtime.errors import SolveFailed

MAX_INVERTED_SHARE = 0.5  # share of the tets that a bone holds
NEIGHBOUR_RINGS = 3  # of tets around one that is inside out, in which both bones have to be
# of a tet's size: by how much nodes of two bones have to be off from one rigid motion of both
MIN_RELATIVE_MOTION = 0.05
MIN_INVERTED_TETS, MIN_INVERTED_SHARE = (
    4,
    0.001,
)  # tets between two bones, and of all of a body's, from which on they are told


def count_inverted(places: Floats, tets: Indices) -> int:
    """Returns how many tets, (t, 4), with corners at places [m], (k, 3), are inside out or flat."""
    corners = places[tets]
    a, b, c = (corners[:, k] - corners[:, 0] for k in (1, 2, 3))
    return int((np.einsum("ti,ti->t", a, np.cross(b, c)) <= 0.0).sum())


def refuse_inverted(count: int, all_tets: int, bone: str, name: str, time: float) -> None:
    """Raises SolveFailed where a bone turns most of the tets that it holds of the flesh `name` at a time [s]."""
    if count > MAX_INVERTED_SHARE * all_tets:
        raise SolveFailed("bone-crushes", bone=bone, name=name, count=count, all=all_tets, time=round(time, 3))


def count_inverted_between(x: Floats, tets: Indices, bone: Indices) -> dict[tuple[int, int], int]:
    """Returns how many tets are inside out where two bones are near: numbers of the bones → tets.

    Args:
        x: Node positions [m], (n, 3).
        tets: Tets of one body, (m, 4).
        bone: Number of the bone that holds each node exactly, −1 for none, (n,).
    """
    corners = x[tets]
    a, b, c = (corners[:, k] - corners[:, 0] for k in (1, 2, 3))
    turned = tets[np.einsum("ti,ti->t", a, np.cross(b, c)) <= 0.0]
    if len(turned) < max(MIN_INVERTED_TETS, MIN_INVERTED_SHARE * len(tets)):
        return {}
    # lowest and highest number of the bones that are no farther than some rings of tets from a node
    none = int(bone.max()) + 1
    lowest, highest = np.where(bone < 0, none, bone), bone.copy()
    for _ in range(NEIGHBOUR_RINGS):
        low, high = lowest[tets].min(axis=1), highest[tets].max(axis=1)
        for corner in range(4):
            np.minimum.at(lowest, tets[:, corner], low)
            np.maximum.at(highest, tets[:, corner], high)
    pairs = np.stack([lowest[turned].min(axis=1), highest[turned].max(axis=1)], axis=1)
    found, counts = np.unique(pairs[pairs[:, 0] < pairs[:, 1]], axis=0, return_counts=True)
    counted = zip(found.tolist(), counts.tolist(), strict=True)
    return {
        (one, other): count
        for (one, other), count in counted
        if count >= max(MIN_INVERTED_TETS, MIN_INVERTED_SHARE * len(tets))
    }


def have_moved_apart(X: Floats, x: Floats, tets: Indices, bone: Indices, one: int, other: int) -> bool:
    """Whether what two bones hold of a body has not moved as one rigid thing since the rest pose.

    Args:
        X, x: Node positions at rest and now [m], (n, 3).
        tets: Tets of the body, (m, 4).
        bone: Number of the bone that holds each node exactly, −1 for none, (n,).
        one, other: The bones.
    """
    nodes = np.unique(tets)
    nodes = nodes[(bone[nodes] == one) | (bone[nodes] == other)]
    off = np.linalg.norm(align_rigidly(X[nodes], X[nodes], x[nodes]) - x[nodes], axis=1)
    size = np.linalg.norm(X[tets[:, 1]] - X[tets[:, 0]], axis=1).mean()
    return bool(off.max(initial=0.0) > MIN_RELATIVE_MOTION * size)
