# SPDX-License-Identifier: GPL-3.0-or-later
"""Whether the Wrap at which a body ends is inside of it."""

from __future__ import annotations

import numpy as np

from ..mesh.geometry.orient_outward import orient_outward
from ..mesh.geometry.triangle_bvh import build_bvh
from ..mesh.geometry.triangle_surface import Surface
from ..mesh.geometry.winding_number import winding_numbers
from ..mesh.tetrahedralize.inside_classification import INSIDE_WINDING
from ..runtime.errors import BadInput
from ..scene.scene import Body

MAX_OUTSIDE_SHARE = 0.05  # of the vertices of the Wrap


def check_wrap_is_inside(body: Body) -> None:
    """Raises BadInput where more than a twentieth of the Wrap of a body is outside of its skin."""
    if not body.wrap_vertices:
        return
    first = len(body.vertices) - body.wrap_vertices
    skin = body.triangles[(body.triangles < first).all(axis=1)]
    outward = orient_outward(Surface(body.vertices[:first], skin)).surface
    wrap = body.vertices[first:]
    bvh = build_bvh(outward.vertices, outward.triangles)
    share = float(np.mean(winding_numbers(bvh, wrap) < INSIDE_WINDING))
    if share > MAX_OUTSIDE_SHARE:
        raise BadInput("wrap-outside", name=body.name, share=f"{100.0 * share:.0f}")
