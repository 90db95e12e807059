# SPDX-License-Identifier: GPL-3.0-or-later
"""Moves points by next to nothing, so that no four of them lie in one plane, and tells sides without error.

A render mesh may have vertices right on nodes, edges and faces of tets: a cube that lies along the lattice. Cut in a
copy of size one whose points are moved a little at random, no such case is left, and what follows from the sides
alone fits together everywhere. The surface that comes out has the true positions.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from ...runtime.arrays import Floats, Indices
from ...runtime.jit import kernel
from ..geometry.error_free_transformations import two_product, two_sum

NODE_PERTURBATION = 2.0e-10  # of the median edge: tets that touch the surface within 1e-9 were taken (TOUCH_TOLERANCE)
VERTEX_PERTURBATION = 1.0e-12  # of the size: triangles without area get one
GRID_CELLS = 2.0**52  # all coordinates are whole multiples of 1/GRID_CELLS, so differences are exact
DOUBLE_DOUBLE_THRESHOLD = 1.0e-6  # of the sum of absolute products: below, one number per result has too few digits
# of the same: two numbers have 106 digits in base 2, of which 20 and more operations cost a few
EXACT_THRESHOLD = 1.0e-29


class DegeneratePosition(Exception):
    """Four points lie in one plane even so."""


@dataclass(frozen=True)
class PerturbedPoints:
    """Nodes and render vertices in general position, in a copy of size one.

    Attributes:
        positions: Nodes, then vertices, multiples of 1/GRID_CELLS between −1/2 and 1/2, (n + v, 3).
        node_count: Number n of nodes; vertex i is point n + i.
    """

    positions: Floats
    node_count: int

    def signed_volumes(self, a: npt.NDArray, b: npt.NDArray, c: npt.NDArray, d: npt.NDArray) -> Floats:
        """Returns det(b − a, c − a, d − a) of points, > 0 where d is above a b c; the sign is exact, (k,).

        Raises:
            DegeneratePosition: One of them is zero.
        """
        quads = np.stack([np.asarray(each, np.int32) for each in np.broadcast_arrays(a, b, c, d)], axis=-1)
        flat = np.ascontiguousarray(quads.reshape(-1, 4))
        out, in_doubt = np.empty(len(flat)), np.empty(len(flat), np.bool_)
        fill_volumes(self.positions, flat, out, in_doubt)
        unsure = np.flatnonzero(in_doubt)
        if len(unsure):
            out[unsure] = exact_volumes(self.positions[flat[unsure]])
            if (out[unsure] == 0.0).any():
                raise DegeneratePosition
        return out.reshape(quads.shape[:-1])


def perturb_points(nodes: Floats, tets: Indices, vertices: Floats, seed: int) -> PerturbedPoints:
    """Returns nodes and vertices moved a little and scaled to size one.

    Args:
        nodes: Rest positions [m], (n, 3).
        tets: Tets, whose edges say what little is, (m, 4).
        vertices: Render vertices at rest [m], (v, 3).
        seed: Number of the attempt.
    """
    points = np.concatenate([nodes, vertices])
    lower, upper = points.min(axis=0), points.max(axis=0)
    unit = (points - (lower + upper) / 2) / (1.001 * float((upper - lower).max()))
    corner = unit[: len(nodes)][tets]
    edge = float(np.median(np.linalg.norm(corner[:, 1:] - corner[:, :1], axis=2)))
    move = np.random.default_rng(seed).uniform(-1.0, 1.0, points.shape)
    move[: len(nodes)] *= NODE_PERTURBATION * edge
    move[len(nodes) :] *= VERTEX_PERTURBATION
    return PerturbedPoints(np.round((unit + move) * GRID_CELLS) / GRID_CELLS, len(nodes))


def exact_volumes(corners: Floats) -> Floats:
    """Returns det(b − a, c − a, d − a) with the right sign, in whole numbers; corners on the grid, (k, 4, 3)."""
    out = np.empty(len(corners))
    for i, points in enumerate(corners):
        a, b, c, d = ([int(x) for x in point * GRID_CELLS] for point in points)
        u, v, w = ([end - start for end, start in zip(ends, a, strict=True)] for ends in (b, c, d))
        total = u[0] * (v[1] * w[2] - v[2] * w[1])
        total += u[1] * (v[2] * w[0] - v[0] * w[2])
        total += u[2] * (v[0] * w[1] - v[1] * w[0])
        out[i] = total / int(GRID_CELLS) ** 3
    return out


@kernel()
def fill_volumes(points, quads, out, in_doubt):
    """Fills six times the signed volume of tets of points, and whether its sign is in doubt.

    What is small against its terms is computed again in two numbers: where an edge nearly lies in a plane, the place
    at which it crosses it is a ratio of two such volumes.

    Args:
        points: Positions, (n, 3).
        quads: Four points each, (k, 4).
        out: Filled, (k,).
        in_doubt: Filled, (k,).
    """
    for i in range(quads.shape[0]):
        a, b, c, d = quads[i, 0], quads[i, 1], quads[i, 2], quads[i, 3]
        ux, uy, uz = points[b, 0] - points[a, 0], points[b, 1] - points[a, 1], points[b, 2] - points[a, 2]
        vx, vy, vz = points[c, 0] - points[a, 0], points[c, 1] - points[a, 1], points[c, 2] - points[a, 2]
        wx, wy, wz = points[d, 0] - points[a, 0], points[d, 1] - points[a, 1], points[d, 2] - points[a, 2]
        yz, zy, zx, xz, xy, yx = vy * wz, vz * wy, vz * wx, vx * wz, vx * wy, vy * wx
        value = ux * (yz - zy) + uy * (zx - xz) + uz * (xy - yx)
        size = abs(ux) * (abs(yz) + abs(zy)) + abs(uy) * (abs(zx) + abs(xz)) + abs(uz) * (abs(xy) + abs(yx))
        in_doubt[i] = False
        if not abs(value) > DOUBLE_DOUBLE_THRESHOLD * size:
            high, low = add_times_minor(ux, vy, wz, vz, wy, 0.0, 0.0)
            high, low = add_times_minor(uy, vz, wx, vx, wz, high, low)
            high, low = add_times_minor(uz, vx, wy, vy, wx, high, low)
            value = high + low
            in_doubt[i] = not abs(value) > EXACT_THRESHOLD * size
        out[i] = value


@kernel(device_only=True)
def add_times_minor(u, a, b, c, d, high, low):
    """Returns high + low + u (a b − c d) as two numbers."""
    p, p_error = two_product(a, b)
    q, q_error = two_product(c, d)
    minor, error = two_sum(p, -q)
    error += p_error - q_error
    r, r_error = two_product(u, minor)
    r_error += u * error
    whole, rest = two_sum(high, r)
    return two_sum(whole, rest + (low + r_error))
