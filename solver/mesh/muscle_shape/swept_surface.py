# SPDX-License-Identifier: GPL-3.0-or-later
"""A closed surface of quads around a curve: elliptic sections from end to end, or several heads that merge into one.

A section has COLUMNS points above its width and as many below. Heads share out the columns: at the station where they
merge, each continues some columns of the section, and neighbours share the two points of a column. So the surface is
closed and every edge is between two quads, however many heads there are, and the connectivity depends on nothing but
their number.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from ...runtime.arrays import Floats, Indices
from .framed_curve import FramedCurve

COLUMNS = 17
STATIONS = 37
MERGE_SHARE = 0.45  # of the length, where heads become one
HEAD_ROUNDNESS = 0.5  # share of the length of a head in which its section turns from round into its part of the whole
HEAD_NARROWNESS = 0.8  # of its part of the width: what a round head has, so that heads are apart
HEAD_SPREAD = 1.35  # distance of neighbouring heads at their origins over their parts of the width
MAX_BEND = 0.7  # of the radius of the bend: how far a section reaches towards its middle
SIN_STEP = np.sin(np.pi / COLUMNS) / (np.pi / COLUMNS)
AREA_FACTOR = float(1.0 / np.sqrt(SIN_STEP))  # gives the polygon of a section the area of the ellipse


@dataclass(frozen=True, eq=False)
class SweptSurface:
    """A closed surface of quads whose normals point outwards.

    Attributes:
        vertices: [m], (n, 3).
        quads: (q, 4).
        along: Share of the length, from 0 at the origin, (n,).
        head: Number of the head of each vertex, its nearest one beyond where they merge, (n,).
        centre: Middle of the section of each vertex [m], (n, 3).
        side: Height above the middle of the section over half the thickness, -1 to 1, (n,).
    """

    vertices: Floats
    quads: Indices
    along: Floats
    head: Indices
    centre: Floats
    side: Floats

    @property
    def triangles(self) -> Indices:
        """Two triangles of each quad, (2 q, 3)."""
        return np.concatenate([self.quads[:, [0, 1, 2]], self.quads[:, [0, 2, 3]]])


@dataclass(frozen=True, eq=False)
class Sections:
    """Sections at the stations of a curve.

    Attributes:
        curve: The curve.
        half_width, half_thickness: Along `across` and along `normals` [m], (n,).
    """

    curve: FramedCurve
    half_width: Floats
    half_thickness: Floats

    @property
    def along(self) -> Floats:
        """Share of the length of each station, (n,)."""
        return np.linspace(0.0, 1.0, len(self.curve.points))

    def support(self, directions: Floats) -> Floats:
        """Returns how far the sections reach from the curve along unit vectors, (n, 3), [m], (n,)."""
        wide = self.half_width * np.einsum("ni,ni->n", directions, self.curve.across)
        thick = self.half_thickness * np.einsum("ni,ni->n", directions, self.curve.normals)
        return np.hypot(wide, thick)

    def fitted_to_bends(self) -> Sections:
        """Returns sections that are narrower where the curve bends so much that they would cross each other."""
        bend = np.linalg.norm(self.curve.curvature, axis=1)
        towards = self.curve.curvature / np.maximum(bend, 1.0e-300)[:, None]
        reach = np.maximum(self.support(towards) * bend, 1.0e-300)
        factor = np.minimum(1.0, MAX_BEND / reach)
        if factor.min() == 1.0:
            return self
        lowest = np.array([factor[max(i - 3, 0) : i + 4].min() for i in range(len(factor))])
        smooth = np.convolve(np.pad(lowest, 3, mode="edge"), np.full(7, 1.0 / 7.0), mode="valid")
        return Sections(self.curve, smooth * self.half_width, smooth * self.half_thickness)


def swept_surface(sections: Sections, heads: int = 1) -> SweptSurface:
    """Returns the surface through sections, with 1 to MOST_HEADS heads at the first station."""
    count = len(sections.along)
    across, up = _unit_section()
    merge = round(MERGE_SHARE * (count - 1)) if heads > 1 else 0
    width = 2 * COLUMNS
    points, along, side, centre = [], [], [], []
    for station in range(merge, count):
        points.append(_placed(sections, station, across, up))
        centre.append(np.broadcast_to(sections.curve.points[station], (width, 3)))
        along.append(np.full(width, sections.along[station], dtype=np.float64))
        side.append(up / AREA_FACTOR)
    body = np.arange((count - merge) * width, dtype=np.int32).reshape(-1, width)
    cuts = _cut_columns(heads)
    head = np.tile(_column_heads(cuts), count - merge)
    quads = [*_walls(body), _cap(body[-1])[:, ::-1]]
    heads_of, number = [head], body.size
    for k in range(heads) if merge else ():
        columns = np.arange(cuts[k], cuts[k + 1] + 1, dtype=np.int64)
        loop = np.concatenate([columns, width - 1 - columns[::-1]])
        rings = number + np.arange(merge * len(loop), dtype=np.int32).reshape(merge, len(loop))
        for station in range(merge):
            flat, high = _head_section(k, heads, station / merge, (across, up), loop)
            points.append(_placed(sections, station, flat, high))
            centre.append(np.broadcast_to(points[-1].mean(axis=0), (len(loop), 3)))
            along.append(np.full(len(loop), sections.along[station], dtype=np.float64))
            side.append(up[loop] / AREA_FACTOR)
        quads += [*_walls(np.concatenate([rings, body[0][loop][None]])), _cap(rings[0])]
        heads_of.append(np.full(rings.size, k, dtype=np.int64))
        number += rings.size
    if not merge:
        quads.append(_cap(body[0]))
    return SweptSurface(
        np.concatenate(points),
        np.concatenate(quads).astype(np.int32),
        np.concatenate(along),
        np.concatenate(heads_of).astype(np.int32),
        np.concatenate(centre),
        np.concatenate(side),
    )


def _unit_section() -> tuple[Floats, Floats]:
    """Returns the places of a section around a unit circle, across and up: above from one side, then below back."""
    angle = np.pi * (np.arange(COLUMNS, dtype=np.int64) + 0.5) / COLUMNS
    flat, high = -np.cos(angle), np.sin(angle)
    return AREA_FACTOR * np.concatenate([flat, flat[::-1]]), AREA_FACTOR * np.concatenate([high, -high[::-1]])


def _cut_columns(heads: int) -> list[int]:
    """Returns the first column of each head and the last one of all: neighbours share a column."""
    shares = 1.0 - 2.0 * np.arange(heads + 1, dtype=np.int64) / heads
    places = np.arccos(shares) / np.pi * COLUMNS - 0.5
    return [int(round(min(max(place, 0.0), COLUMNS - 1.0))) for place in places]


def _column_heads(cuts: list[int]) -> Indices:
    """Returns which head each point of a section continues, (2 COLUMNS,)."""
    above = np.searchsorted(np.array(cuts[1:-1], np.int64), np.arange(COLUMNS, dtype=np.int64), side="right")
    return np.concatenate([above, above[::-1]]).astype(np.int32)


def _head_section(
    k: int, heads: int, share: float, section: tuple[Floats, Floats], loop: Indices
) -> tuple[Floats, Floats]:
    """Returns the places of the section of a head across and up, over half the width and half the thickness.

    Args:
        k: Which head, of how many.
        heads: How many.
        share: 0 at its origin, 1 where it merges.
        section: Of the whole muscle.
        loop: The points of the section that the head continues.
    """
    flat, high = section[0][loop], section[1][loop]
    middle = 0.5 * (flat.min() + flat.max())
    half = HEAD_NARROWNESS / heads
    count = len(loop) // 2
    angle = np.pi * (np.arange(count, dtype=np.int64) + 0.5) / count
    grown = float(np.sqrt((np.pi / count) / np.sin(np.pi / count))) if count > 1 else 1.0
    round_flat = grown * half * np.concatenate([-np.cos(angle), np.cos(angle)])
    round_high = grown * np.concatenate([np.sin(angle), -np.sin(angle[::-1])])
    blend = _smooth((share - (1.0 - HEAD_ROUNDNESS)) / HEAD_ROUNDNESS)
    origin = HEAD_SPREAD * (2 * k + 1 - heads) / heads
    place = origin + (middle - origin) * share**2  # parallel at the origins, and at once apart where they merge
    return place + (1.0 - blend) * round_flat + blend * (flat - middle), (1.0 - blend) * round_high + blend * high


def _smooth(share: float) -> float:
    share = min(max(share, 0.0), 1.0)
    return share * share * (3.0 - 2.0 * share)


def _placed(sections: Sections, station: int, flat: Floats, high: Floats) -> Floats:
    curve = sections.curve
    wide = sections.half_width[station] * flat[:, None] * curve.across[station]
    return curve.points[station] + wide + sections.half_thickness[station] * high[:, None] * curve.normals[station]


def _walls(rings: Indices) -> Iterator[Indices]:
    """Yields the quads between each ring and the next one, (n, 4) each."""
    for first, second in zip(rings[:-1], rings[1:], strict=True):
        yield np.stack([first, second, np.roll(second, -1), np.roll(first, -1)], axis=1)


def _cap(ring: Indices) -> Indices:
    """Returns the quads that close a ring at the origin: from above to below in each pair of columns, (n, 4)."""
    count = len(ring) // 2
    above, below = ring[:count], ring[: count - 1 : -1]
    return np.stack([above[:-1], above[1:], below[1:], below[:-1]], axis=1)
