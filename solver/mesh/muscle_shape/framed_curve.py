# SPDX-License-Identifier: GPL-3.0-or-later
"""A smooth curve through points, with frames that turn about it as little as possible.

The curve is a natural cubic spline over centripetal parameters, which neither loops nor overshoots where points are
unevenly far apart. Sources: Lee (1989), Choosing nodes in parametric curve interpolation; Wang, Jüttler, Zheng and Liu
(2008), Computation of Rotation Minimizing Frames (double reflection).
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy.interpolate import CubicSpline

from ...runtime.arrays import Floats, floats

SAMPLES_PER_STATION = 8  # for arc lengths
SAME_POINT_SHARE = 1.0e-6  # of the extent of all points: points that are nearer to each other are one


@dataclass(frozen=True, eq=False)
class FramedCurve:
    """Stations at equal distances along a curve, each with an orthonormal right-handed frame (across, normal, tangent).

    Attributes:
        points: Of the stations [m], (n, 3).
        tangents, normals: Unit vectors, (n, 3).
        length: Of the curve [m].
    """

    points: Floats
    tangents: Floats
    normals: Floats
    length: float

    @property
    def across(self) -> Floats:
        """normal × tangent, (n, 3)."""
        return np.cross(self.normals, self.tangents)

    def rolled(self, angle: float) -> FramedCurve:
        """Returns the curve with its normals turned about it [rad]."""
        normals = np.cos(angle) * self.normals - np.sin(angle) * self.across
        return FramedCurve(self.points, self.tangents, normals, self.length)

    @property
    def curvature(self) -> Floats:
        """Curvature vectors dT/ds, towards the middle of the bend [1/m], (n, 3)."""
        return np.gradient(self.tangents, self.length / (len(self.points) - 1), axis=0)


def framed_curve(points: Floats, stations: int, facing: Floats) -> FramedCurve | None:
    """Returns the smooth curve through points [m], (k, 3), or None where fewer than two of them are apart.

    Args:
        points: From one end to the other.
        stations: How many, at least 2.
        facing: Direction of the normal at half the length, (3,), as far as it is across the curve.
    """
    points = _distinct(floats(points, -1, 3))
    if len(points) < 2:
        return None
    parameters = np.concatenate(
        [[0.0], np.cumsum(np.sqrt(np.linalg.norm(np.diff(points, axis=0), axis=1)), dtype=np.float64)]
    )
    spline = CubicSpline(parameters, points, bc_type="natural")
    dense = np.linspace(parameters[0], parameters[-1], SAMPLES_PER_STATION * stations)
    lengths = np.linalg.norm(np.diff(spline(dense), axis=0), axis=1)
    along = np.concatenate([[0.0], np.cumsum(lengths, dtype=np.float64)])
    at = np.interp(np.linspace(0.0, along[-1], stations), along, dense)
    tangents = _unit(spline(at, 1))
    positions = spline(at)
    return FramedCurve(positions, tangents, _normals(positions, tangents, facing), float(along[-1]))


def _distinct(points: Floats) -> Floats:
    """Returns the points without those that are where the one before them is."""
    if not len(points):
        return points
    near = SAME_POINT_SHARE * float(np.linalg.norm(np.ptp(points, axis=0)))
    kept = [points[0]]
    for point in points[1:]:
        if np.linalg.norm(point - kept[-1]) > near:
            kept.append(point)
    return np.array(kept)


def _normals(points: Floats, tangents: Floats, facing: Floats) -> Floats:
    """Returns normals that turn about the curve as little as possible, from the middle to both ends, (n, 3)."""
    middle = len(points) // 2
    normals = np.empty_like(points)
    normals[middle] = _perpendicular(tangents[middle], facing)
    for order in (range(middle, len(points) - 1), range(middle, 0, -1)):
        for i in order:
            j = i + order.step
            normals[j] = _reflected_twice(points[i], points[j], tangents[i], tangents[j], normals[i])
    return normals


def _perpendicular(tangent: Floats, facing: Floats) -> Floats:
    """Returns the unit vector across a tangent that is nearest to a direction, or any where that is along it."""
    for direction in (facing, np.eye(3)[np.argmin(np.abs(tangent))]):
        across = direction - (direction @ tangent) * tangent
        size = float(np.linalg.norm(across))
        if size > 1.0e-6 * max(float(np.linalg.norm(direction)), 1.0e-12):
            return across / size
    raise AssertionError("an axis is across every tangent")


def _reflected_twice(start: Floats, end: Floats, tangent: Floats, next_tangent: Floats, normal: Floats) -> Floats:
    """Returns the normal at the next station: reflected in the plane between both, then so that the tangents agree."""
    step = end - start
    square = float(step @ step)
    carried = normal - 2.0 / square * (step @ normal) * step
    turned = tangent - 2.0 / square * (step @ tangent) * step
    rest = next_tangent - turned
    square = float(rest @ rest)
    if square > 1.0e-24:
        carried = carried - 2.0 / square * (rest @ carried) * rest
    carried = carried - (carried @ next_tangent) * next_tangent  # what rounding leaves
    return carried / np.linalg.norm(carried)


def _unit(vectors: Floats) -> Floats:
    return vectors / np.maximum(np.linalg.norm(vectors, axis=1, keepdims=True), 1.0e-300)
