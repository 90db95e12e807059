# SPDX-License-Identifier: GPL-3.0-or-later
"""Turns the faces of a surface outward, so that winding numbers are positive inside.

- Faces without area are dropped; of faces on the same corners, one stays.
- Neighbouring faces are turned the same way round, except in pieces that are closed already.
- A shell with a negative volume is turned. A shell inside another one is turned with it: if both have the same
  orientation it is part of the inside (an eyeball), otherwise it bounds a hollow.
- A shell that is said to bound a hollow does so wherever it is.
"""

from __future__ import annotations

import dataclasses
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from ...runtime.arrays import Bools, Floats, Indices
from .consistent_orientation import consistent_faces
from .face_edges import face_edges
from .triangle_bvh import build_bvh
from .triangle_surface import Surface
from .welding import distinct_faces, weld
from .winding_number import winding_numbers

# An open shell with less volume than this, in units of area^1.5 (a sphere has 0.094), has no side to prefer.
MIN_SHELL_VOLUME = 0.01
MAX_FACE_SAMPLES = 32  # faces of a shell that are tried
MIN_INSIDE_SHARE = 0.9  # a shell lies in another one where at least this share of them does


@dataclass(frozen=True)
class OrientedSurface:
    """A surface whose faces look outward.

    Attributes:
        surface: The vertices as they were and the faces that are left.
        face: The number that each face had before, (t,).
        shell: The shell that each face belongs to, (t,).
        is_closed: Whether no face has an open edge; then winding numbers are whole numbers.
    """

    surface: Surface
    face: Indices
    shell: Indices
    is_closed: bool


def orient_outward(surface: Surface) -> OrientedSurface:
    """Returns the surface with its faces turned outward; it may have no faces left."""
    welded = weld(surface)
    face = distinct_faces(welded)
    welded = welded[face]
    areas = _face_areas(surface.corners[face])
    turned, shell = consistent_faces(welded, areas)
    shell_count = int(shell.max(initial=-1)) + 1
    is_turned = (turned != welded).any(axis=1)
    triangles = surface.triangles[face]
    triangles[is_turned] = triangles[is_turned][:, ::-1]
    flip = _shells_to_flip(dataclasses.replace(surface, triangles=triangles), turned, shell, shell_count, areas)[shell]
    triangles[flip] = triangles[flip][:, ::-1]
    edges = face_edges(np.where(flip[:, None], turned[:, ::-1], turned))
    is_closed = len(face) > 0 and not edges.balance.any()
    kept = areas > 0.0
    return OrientedSurface(dataclasses.replace(surface, triangles=triangles[kept]), face[kept], shell[kept], is_closed)


def _shells_to_flip(surface: Surface, welded: Indices, shell: Indices, count: int, areas: Floats) -> Bools:
    """Returns which shells to turn, (count,)."""
    volume = _volumes(surface, welded, shell, count)
    area = np.bincount(shell, areas, minlength=count)
    flip = volume < -MIN_SHELL_VOLUME * area**1.5
    edges = face_edges(welded)
    is_open = np.zeros(count, np.bool_)
    is_open[shell[np.flatnonzero(edges.balance[edges.edge]) // 3]] = True
    flip |= ~is_open & (volume < 0)
    outer = outer_shells(surface, shell, count, volume)
    for i in np.argsort(-np.abs(volume), kind="stable"):
        if outer[i] >= 0:
            flip[i] = flip[outer[i]]
    first = len(surface.vertices) - surface.hollow_vertices
    hollow = np.unique(shell[(surface.triangles >= first).all(axis=1)])
    flip[hollow] = volume[hollow] > 0.0
    return flip


def _volumes(surface: Surface, welded: Indices, shell: Indices, count: int) -> Floats:
    """Returns the signed volume of each shell [m³], its border closed by a cone to the border's middle, (count,)."""
    edges = face_edges(welded)
    border = np.flatnonzero(edges.balance[edges.edge])
    corners = surface.corners
    starts = corners.reshape(-1, 3)
    middle = np.zeros((count, 3))
    weight = np.bincount(shell, minlength=count).astype(float) * 3
    for axis in range(3):
        middle[:, axis] = np.bincount(shell, corners[:, :, axis].sum(axis=1), minlength=count)
    at_border = np.bincount(shell[border // 3], minlength=count)
    for axis in range(3):
        there = np.bincount(shell[border // 3], starts[border, axis], minlength=count)
        middle[:, axis] = np.where(at_border > 0, there, middle[:, axis])
    middle /= np.where(at_border > 0, at_border, weight)[:, None]
    a, b, c = np.moveaxis(corners - middle[shell][:, None], 1, 0)
    volumes = np.bincount(shell, np.einsum("ij,ij->i", a, np.cross(b, c)) / 6, minlength=count)
    return volumes.astype(np.float64)


def outer_shells(surface: Surface, shell: Indices, count: int, volume: Floats) -> npt.NDArray[np.int64]:
    """Returns the smallest shell around each shell, -1 where there is none, (count,).

    Args:
        surface: All shells.
        shell: The shell of each face, (t,).
        count: Of shells.
        volume: Of each shell, of any sign [m³], (count,).
    """
    outer = np.full(count, -1, np.int64)
    if count < 2:
        return outer
    order = np.argsort(shell, kind="stable")
    starts = np.searchsorted(shell[order], np.arange(count + 1, dtype=np.int64))
    corners = surface.corners[order].reshape(-1, 9)
    lower = np.minimum.reduceat(corners.reshape(-1, 3, 3).min(axis=1), starts[:-1])
    upper = np.maximum.reduceat(corners.reshape(-1, 3, 3).max(axis=1), starts[:-1])
    middles = surface.corners.mean(axis=1)
    for i in np.argsort(-np.abs(volume), kind="stable"):  # the largest first: the smallest one around is set last
        within = (lower >= lower[i]).all(axis=1) & (upper <= upper[i]).all(axis=1) & (np.abs(volume) < abs(volume[i]))
        candidates = np.flatnonzero(within)
        if len(candidates) == 0:
            continue
        bvh = build_bvh(surface.vertices, surface.triangles[order[starts[i] : starts[i + 1]]])
        samples = [_sample_faces(order[starts[j] : starts[j + 1]]) for j in candidates]
        inside = np.abs(winding_numbers(bvh, middles[np.concatenate(samples)])) > 0.5
        share = np.add.reduceat(inside, np.cumsum([0] + [len(s) for s in samples[:-1]], dtype=np.int64)) / [
            len(s) for s in samples
        ]
        outer[candidates[share >= MIN_INSIDE_SHARE]] = i
    return outer


def _sample_faces(faces: Indices) -> Indices:
    """Returns at most `MAX_FACE_SAMPLES` of the faces, spread evenly."""
    return faces[np.unique(np.linspace(0, len(faces) - 1, MAX_FACE_SAMPLES).astype(np.int64))]


def _face_areas(corners: Floats) -> Floats:
    return 0.5 * np.linalg.norm(np.cross(corners[:, 1] - corners[:, 0], corners[:, 2] - corners[:, 0]), axis=1)
