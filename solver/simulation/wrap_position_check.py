# SPDX-License-Identifier: GPL-3.0-or-later
"""Whether the Wrap at which a body ends is inside of it, and how far it is outside."""

from __future__ import annotations

import numpy as np

from ..mesh.geometry.closest_point import closest_points
from ..mesh.geometry.orient_outward import orient_outward
from ..mesh.geometry.triangle_bvh import Bvh, build_bvh
from ..mesh.geometry.triangle_surface import Surface
from ..mesh.geometry.winding_number import winding_numbers
from ..mesh.tetrahedralize.inside_classification import INSIDE_WINDING
from ..runtime.arrays import Bools, Floats
from ..runtime.errors import BadInput
from ..scene.scene import Body

MAX_OUTSIDE_SHARE = 0.05  # of the vertices of the Wrap


def check_wrap_is_inside(body: Body) -> None:
    """Raises BadInput where more than a twentieth of the Wrap of a body is outside of its skin."""
    if not body.wrap_vertices:
        return
    share = float(np.mean(_is_outside(skin_tree(body), body.vertices[len(body.vertices) - body.wrap_vertices :])))
    if share > MAX_OUTSIDE_SHARE:
        raise BadInput("wrap-outside", name=body.name, share=f"{100.0 * share:.0f}")


def skin_tree(body: Body) -> Bvh:
    """Returns the skin of a body that ends at a Wrap, closed and looking outward."""
    first = len(body.vertices) - body.wrap_vertices
    skin = body.triangles[(body.triangles < first).all(axis=1)]
    outward = orient_outward(Surface(body.vertices[:first], skin)).surface
    return build_bvh(outward.vertices, outward.triangles)


def distance_outside(skin: Bvh, points: Floats) -> Floats:
    """Returns how far points [m], (k, 3), are outside of a skin, below zero inside, (k,)."""
    distance = closest_points(skin, points).distance
    return np.where(_is_outside(skin, points), distance, -distance)


def _is_outside(skin: Bvh, points: Floats) -> Bools:
    return winding_numbers(skin, points) < INSIDE_WINDING
