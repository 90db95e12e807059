# SPDX-License-Identifier: GPL-3.0-or-later
"""Which nodes of a body are its core: those deep enough below its surface, and below what is painted."""

from __future__ import annotations

import numpy as np

from ...mechanics.rigid_core import AxisMotion, RigidCore
from ...mesh.geometry.closest_point import closest_points
from ...mesh.geometry.triangle_bvh import build_bvh
from ...mesh.geometry.triangle_surface import Surface
from ...mesh.geometry.winding_number import winding_numbers
from ...runtime.arrays import Bools, Floats, Indices, floats, indices
from ...runtime.errors import BadInput
from ...scene.rigid_core import Core

CORE_PAINT_THRESHOLD = 0.5  # paint above which material may be core
INSIDE_WINDING_NUMBER = 0.5  # winding number above which a point is inside a surface


def find_core(asked: Core, name: str, surface: Surface, nodes: Floats, tets: Indices) -> RigidCore:
    """Returns the core of a body in the numbers of its own nodes at rest [m], (n, 3), and tets, (m, 4).

    Raises:
        BadInput: Nothing of it is core, or nothing is skin.
    """
    depth, paint = _depths(asked, surface, nodes)
    is_painted = paint > CORE_PAINT_THRESHOLD
    is_core = (depth >= asked.skin_thickness) & is_painted
    whole = np.flatnonzero(is_core[tets].all(axis=1))
    if not is_painted.any():
        raise BadInput("core-not-painted", name=name)
    if not len(whole):
        deepest = float(depth[is_painted].max())
        raise BadInput("core-none", name=name, thickness=f"{asked.skin_thickness:.4g}", depth=f"{deepest:.4g}")
    if is_core.all():
        raise BadInput("core-everything", name=name, thickness=f"{asked.skin_thickness:.4g}")
    return RigidCore(indices(np.flatnonzero(is_core)), indices(whole), _axis_at_rest(asked))


def whole_core(asked: Core | None, tets: Indices) -> RigidCore:
    """Returns the core of a rigid body, whose tets are (m, 4) in the numbers of its own nodes: all of it."""
    hinge = _axis_at_rest(asked) if asked else None
    return RigidCore(indices(np.unique(tets)), np.arange(len(tets), dtype=np.int32), hinge, is_whole=True)


def _axis_at_rest(asked: Core) -> AxisMotion | None:
    if asked.hinge is None:
        return None
    frame = axis_frame(np.asarray(asked.hinge.point), np.asarray(asked.hinge.direction))
    return AxisMotion(frame, frame, frame)


def axis_frame(point: Floats, direction: Floats) -> Floats:
    """Returns world ← a space whose z axis goes through `point` [m] along `direction`, (3,) each, as (4, 4)."""
    z = direction / np.abs(direction).max()  # whose squares are numbers, however long it is
    z /= np.linalg.norm(z)
    x = np.cross(np.eye(3)[np.argmin(np.abs(z))], z)
    x /= np.linalg.norm(x)
    frame = np.eye(4)
    frame[:3] = np.column_stack([x, np.cross(z, x), z, point])
    return frame


def _depths(asked: Core, surface: Surface, nodes: Floats) -> tuple[Floats, Floats]:
    """Returns how deep nodes are below the surface [m], less than zero outside, and the paint there, (n,) each."""
    tree = build_bvh(surface.vertices, surface.triangles)
    found = closest_points(tree, nodes)
    is_inside: Bools = np.abs(winding_numbers(tree, nodes)) > INSIDE_WINDING_NUMBER
    depth = np.where(is_inside, found.distance, -found.distance)
    if not len(asked.paint):
        return floats(depth), np.ones(len(nodes))
    corners = np.asarray(asked.paint, np.float64)[surface.triangles[found.triangle]]
    return floats(depth), floats(np.einsum("ka,ka->k", corners, found.weights))
