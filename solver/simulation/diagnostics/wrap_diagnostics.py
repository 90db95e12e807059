# SPDX-License-Identifier: GPL-3.0-or-later
"""Findings about Wraps that stick out of the skin around them: where, and which muscle or bone is the reason."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from ...mesh.geometry.closest_point import closest_points
from ...mesh.geometry.triangle_bvh import Bvh, build_bvh
from ...mesh.geometry.triangle_surface import Surface
from ...runtime.arrays import Floats, Indices
from ...runtime.errors import SinewError
from ...scene.attachment import WRAP_SUFFIX
from ...scene.contact import Collider
from ...scene.flesh import Bone
from ...scene.scene import Body, Scene
from ..wrap_position_check import distance_outside, skin_tree
from .finding import Finding

MIN_DISTANCE_SHARE = 1.0e-4  # of the size of the body: what is less outside is not told


@dataclass(frozen=True, eq=False)
class _Solid:
    """A muscle, a bone, or something else that a Wrap may be around."""

    name: str
    corners: Floats
    bvh: Bvh


def wrap_findings(scene: Scene, surfaces: Mapping[str, Surface]) -> Iterator[Finding]:
    """Yields where Wraps are outside of the bodies that end at them, one finding for each muscle or bone below.

    Args:
        scene: The scene.
        surfaces: Of its bodies, by key.
    """
    for body in scene.bodies:
        if body.wrap_vertices and body.key in surfaces:
            yield from _body_findings(body, _solids(scene, body, surfaces))


def _solids(scene: Scene, body: Body, surfaces: Mapping[str, Surface]) -> list[_Solid]:
    """Returns what the Wrap of a body may be around: other bodies, bone meshes, and what it is attached to."""
    attached = {target for each in body.attachments for target in each.targets}
    others = [each for each in scene.bodies if each.key != body.key and each.key in surfaces and not each.wrap_vertices]
    meshes: list[Body | Bone | Collider] = [
        *others,
        *scene.bones,
        *(each for each in scene.colliders if each.key in attached),
    ]
    found = ((each.name, each.vertices, each.triangles) for each in meshes if len(each.triangles))
    return [_Solid(name, vertices[triangles], build_bvh(vertices, triangles)) for name, vertices, triangles in found]


def _body_findings(body: Body, solids: Sequence[_Solid]) -> Iterator[Finding]:
    skin, wrap = skin_tree(body), body.vertices[len(body.vertices) - body.wrap_vertices :]
    beyond = distance_outside(skin, wrap)
    least = MIN_DISTANCE_SHARE * float(np.ptp(body.vertices, axis=0).max())
    outside = np.flatnonzero(beyond > least).astype(np.int32)
    if not len(outside):
        return
    below, places = _nearest_solids(wrap[outside], solids)
    for number in np.unique(below).tolist():
        own = np.flatnonzero(below == number)
        farthest = _rounded(float(beyond[outside[own]].max()))
        problem = SinewError("wrap-sticks-out", name=body.name, distance=farthest)
        if number >= 0:
            problem = _reason(body, solids[number].name, farthest, distance_outside(skin, places[own]))
        yield Finding(problem, body.key + WRAP_SUFFIX, outside[own])


def _reason(body: Body, other: str, farthest: float, beyond: Floats) -> SinewError:
    """Returns why a Wrap is outside over a muscle or bone whose nearest points are so far outside of the skin [m]."""
    details = {"name": body.name, "other": other, "distance": farthest}
    out = float(beyond.max())
    if out > 0.0:
        return SinewError("wrap-out-with", beyond=_rounded(out), **details)
    return SinewError("wrap-out-over", depth=_rounded(-out), **details)


def _nearest_solids(points: Floats, solids: Sequence[_Solid]) -> tuple[Indices, Floats]:
    """Returns which solid is nearest to each of some points [m], (k,), −1 without any, and the place there, (k, 3)."""
    best, places = np.full(len(points), np.inf), np.zeros((len(points), 3))
    number = np.full(len(points), -1, np.int32)
    for row, solid in enumerate(solids):
        found = closest_points(solid.bvh, points)
        is_nearer = found.distance < best
        best[is_nearer], number[is_nearer] = found.distance[is_nearer], row
        corners, weights = solid.corners[found.triangle[is_nearer]], found.weights[is_nearer]
        places[is_nearer] = np.einsum("kc,kci->ki", weights, corners)
    return number, places


def _rounded(value: float) -> float:
    return float(f"{value:.2g}")
