# SPDX-License-Identifier: GPL-3.0-or-later
"""Skins made of any meshes and points, without bodies, for tests of how they meet."""

from __future__ import annotations

import numpy as np

from sinew.solver.skins.skin import Known, Skins


def skins_from(parts, *, sizes=0.1, one_sided=True, thickness=0.0, meets=None, nodes=None) -> Skins:
    """Returns skins of (vertices, triangles), which meet each other and not themselves unless `meets` says so.

    `nodes`: of the tets of all vertices, (v, 4); None: every vertex has tets of its own.
    """
    count = len(parts)
    starts = np.cumsum([0, *(len(vertices) for vertices, _ in parts)])
    faces = [np.asarray(triangles, np.int64).reshape(-1, 3) for _, triangles in parts]
    total = int(starts[-1])
    numbers = np.arange(total, dtype=np.int32)
    return Skins(
        names=tuple(f"skin{k}" for k in range(count)),
        vertex_start=starts.astype(np.int64),
        triangle_start=np.cumsum([0, *(len(face) for face in faces)]).astype(np.int64),
        body=np.arange(count, dtype=np.int32),
        collider=np.full(count, -1, np.int32),
        rest=np.concatenate([np.asarray(vertices, float).reshape(-1, 3) for vertices, _ in parts]),
        tet=numbers,
        weights=np.tile([1.0, 0.0, 0.0, 0.0], (total, 1)),
        nodes=np.repeat(numbers[:, None], 4, axis=1) if nodes is None else np.asarray(nodes, np.int32),
        corners=np.full((total, 3), -1, np.int32),
        shares=np.zeros((total, 3)),
        triangles=np.concatenate([face + first for face, first in zip(faces, starts[:-1], strict=True)]).astype(
            np.int32
        ),
        area=np.ones(total),
        size=np.full(total, sizes) if np.isscalar(sizes) else np.asarray(sizes, float),
        is_one_sided=np.broadcast_to(one_sided, count).copy(),
        thickness=np.broadcast_to(thickness, count).astype(float),
        meets=~np.eye(count, dtype=bool) if meets is None else np.asarray(meets, bool),
        vertex_key=numbers.astype(np.int64),
        triangle_key=np.arange(sum(len(face) for face in faces), dtype=np.int64),
    )


def known_from(met, shift=0.0) -> Known:
    """Returns contacts that were met as known to the next step."""
    return Known(met.id, met.triangle, met.side, np.full(len(met), float(shift)))


def gaps_at(skins, met, start, end):
    """Returns gap + n · ((p⁺ − p) − (q⁺ − q)) of what was met, (k,)."""
    corners = skins.triangles[met.triangle]
    q, q_end = (np.einsum("kc,kci->ki", met.place, x[corners]) for x in (start, end))
    moved = (end[met.point] - start[met.point]) - (q_end - q)
    return met.gap + np.einsum("ki,ki->k", met.normal, moved)
