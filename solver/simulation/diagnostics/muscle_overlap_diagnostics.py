# SPDX-License-Identifier: GPL-3.0-or-later
"""Findings about muscles that lie in each other or in bone by more than a tenth of their thickness."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from itertools import combinations

import numpy as np

from ...mesh.geometry.local_thickness import local_thicknesses
from ...mesh.geometry.orient_outward import orient_outward
from ...mesh.geometry.penetration_depth import penetration_depths
from ...mesh.geometry.triangle_bvh import Bvh, build_bvh
from ...mesh.geometry.triangle_surface import Surface
from ...runtime.arrays import Bools, Indices
from ...runtime.errors import SinewError
from ...scene.muscle import END_WEIGHT
from ...scene.scene import Body, Scene
from .finding import Finding
from .surface_diagnostics import area_quantile

MAX_DEPTH_SHARE = 0.1  # of the thickness


@dataclass(frozen=True, eq=False)
class _Solid:
    """A muscle or a bone: its surface, and the tree of it."""

    key: str
    name: str
    surface: Surface
    bvh: Bvh


def overlap_findings(scene: Scene, surfaces: Mapping[str, Surface]) -> Iterator[Finding]:
    """Yields muscles that lie too deep in each other or in bone meshes.

    Args:
        scene: The scene.
        surfaces: Of its bodies, by key.
    """
    muscles = [body for body in scene.bodies if body.muscle is not None and body.key in surfaces]
    solids = {body.key: _solid(body.key, body.name, surfaces[body.key]) for body in muscles}
    thickness = {body.key: median_thickness(surfaces[body.key]) for body in muscles}
    for one, other in combinations(muscles, 2):
        limit = MAX_DEPTH_SHARE * min(thickness[one.key], thickness[other.key])
        for first, second in ((one, other), (other, one)):
            found = _deep(solids[first.key], solids[second.key], limit, np.zeros(len(first.vertices), bool))
            if found is not None:
                yield found
                break  # the same overlap seen from the other side
    for bone in scene.bones:
        if not len(bone.triangles):
            continue
        solid = _solid(bone.key, bone.name, Surface(bone.vertices, bone.triangles))
        for body in muscles:
            found = _deep(solids[body.key], solid, MAX_DEPTH_SHARE * thickness[body.key], end_vertices(body))
            if found is not None:
                yield found


def median_thickness(surface: Surface) -> float:
    """Returns the thickness below which half of a surface is [m]; inf where it has no inside."""
    outward = orient_outward(surface).surface
    if not len(outward.triangles):
        return np.inf
    thickness, area = local_thicknesses(outward)
    is_known = np.isfinite(thickness)
    return area_quantile(thickness[is_known], area[is_known]) if is_known.any() else np.inf


def end_vertices(body: Body) -> Bools:
    """Returns which vertices of a muscle are an end or held, and may therefore be in bone, (n,)."""
    is_end = np.zeros(len(body.vertices), np.bool_)
    is_end[body.pinned] = True
    for weights in (body.muscle.origin, body.muscle.insertion) if body.muscle is not None else ():
        if len(weights):
            is_end |= weights > END_WEIGHT
    return is_end


def _solid(key: str, name: str, surface: Surface) -> _Solid:
    return _Solid(key, name, surface, build_bvh(surface.vertices, surface.triangles))


def _deep(body: _Solid, other: _Solid, limit: float, is_exempt: Bools) -> Finding | None:
    """Returns the finding that a body lies deeper in another solid than a limit [m], or None."""
    used, faces = np.unique(body.surface.triangles), body.surface.triangles
    used, faces = used[~is_exempt[used]], faces[~is_exempt[faces].any(axis=1)]
    points = np.concatenate([body.surface.vertices[used], body.surface.vertices[faces].mean(axis=1)])
    depth = penetration_depths(other.bvh, points)
    deepest = float(depth.max(initial=0.0))
    if not deepest > limit:
        return None
    problem = SinewError("muscle-overlaps", name=body.name, other=other.name, depth=float(f"{deepest:.2g}"))
    return Finding(problem, body.key, _vertices(depth > limit, used, faces))


def _vertices(is_deep: Bools, used: Indices, faces: Indices) -> Indices:
    deep_faces = faces[is_deep[len(used) :]]
    return np.union1d(used[is_deep[: len(used)]], deep_faces).astype(np.int32)
