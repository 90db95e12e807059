# SPDX-License-Identifier: GPL-3.0-or-later
"""What contacts of skins remember when the skins are others: bodies have broken, or begin inside each other."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import numpy.typing as npt

from ...runtime.arrays import Floats, Indices
from ..surfaces.collision_surfaces import CollisionSurfaces, Int64s
from .persistent_contacts import PersistentContacts


def remap_contacts(
    memory: PersistentContacts, before: CollisionSurfaces, now: CollisionSurfaces, first: int, first_now: int
) -> PersistentContacts:
    """Returns contacts with the numbers that their points and triangles have now; those whose point is gone are left
    out, and of those whose triangle is gone only the skin is known.

    Args:
        memory: Contacts with skins alone.
        before, now: The skins that they are of, and those that there are now.
        first, first_now: By how much their ids are larger than those of skins, before and now.
    """
    # those of edges have numbers that stay, after those of points; what broke has no edges, and forgets them
    is_edge = memory.id >= first + before.point_id_count
    rest, point = np.divmod(memory.id - first, before.vertex_count)
    point_now = _remapped_rows(before.vertex_key, before.vertex_start, now.vertex_key, now.vertex_start)[point]
    id = np.where(
        is_edge,
        memory.id - first - before.point_id_count + first_now + now.point_id_count,
        first_now + rest * now.vertex_count + point_now,
    )
    triangles = _remapped_rows(before.triangle_key, before.triangle_start, now.triangle_key, now.triangle_start)
    known = memory.triangle if memory.triangle is not None else np.full(len(memory.id), -1, np.int32)
    triangle = np.where(known >= 0, triangles[np.maximum(known, 0)] if len(triangles) else -1, -1).astype(np.int32)
    return replace(memory, id=id, triangle=triangle).select(np.flatnonzero((point_now >= 0) | is_edge))


def resolving_contacts(id: Int64s, triangle: Indices, depth: Floats) -> PersistentContacts:
    """Returns contacts of points that are behind triangles, to be let out gently.

    Args:
        id: Rising, (k,).
        triangle: (k,).
        depth: How deep they are [m], (k,).
    """
    nothing = PersistentContacts.empty().look_up(id)
    behind = np.minimum(-depth, 0.0)
    side = np.ones(len(id), np.int8)
    return replace(nothing, side=side, shift=behind, lift=behind.copy(), triangle=triangle.astype(np.int32))


def merge_contacts(one: PersistentContacts, other: PersistentContacts) -> PersistentContacts:
    """Returns what both remember, of the same skins."""
    with_skins = one.triangle is not None or other.triangle is not None
    both = [_with_triangle(memory) if with_skins else memory for memory in (one, other)]
    order = np.argsort(np.concatenate([memory.id for memory in both]), kind="stable")
    joined = {
        name: np.concatenate([getattr(memory, name) for memory in both])[order]
        for name in vars(both[0])
        if name != "triangle" or with_skins
    }
    return PersistentContacts(**joined)


def _with_triangle(memory: PersistentContacts) -> PersistentContacts:
    if memory.triangle is not None:
        return memory
    return replace(memory, triangle=np.full(len(memory.id), -1, np.int32))


def _remapped_rows(keys: Int64s, start: Int64s, keys_now: Int64s, start_now: Int64s) -> npt.NDArray[np.int64]:
    """Returns where each of the keys is now, −1 where it is gone, (k,); keys rise within a skin."""
    out = np.full(len(keys), -1, np.int64)
    for skin in range(len(start) - 1):
        own, there = slice(start[skin], start[skin + 1]), keys_now[start_now[skin] : start_now[skin + 1]]
        if not len(there):
            continue
        at = np.minimum(np.searchsorted(there, keys[own]), len(there) - 1)
        out[own] = np.where(there[at] == keys[own], start_now[skin] + at, -1)
    return out
