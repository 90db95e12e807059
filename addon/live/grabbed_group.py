# SPDX-License-Identifier: GPL-3.0-or-later
"""Which vertices a grab holds, and how much of its pull each of them has: the same in the run and in a vertex group."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import bpy
import numpy as np

from ...solver.runtime.arrays import Floats
from ...solver.scene.grab_falloff import grab_shares
from ...solver.scene.scene import Body
from ..baking.live_state import LiveRun
from ..blender_data.scene_by_session_uid import find_scene
from ..evaluation.matrix_units import scale_to_metres, transform_points
from ..evaluation.nearest_vertices import nearest_vertices


def shares_around(vertices: Floats, nearest: int, radius: float) -> dict[str, Any]:
    """Returns the numbers of the vertices around one, and their shares, as a grab has them (`constraints/grabs.py`).

    Args:
        vertices: Where they are, (n, 3).
        nearest: The one that is grabbed.
        radius: Up to which distance others are; 0: it is alone.
    """
    if not radius > 0.0:
        return {"vertices": [nearest], "shares": [1.0]}
    distance = np.linalg.norm(vertices - vertices[nearest], axis=1)
    taken = np.flatnonzero(distance < radius)
    return {"vertices": taken.tolist(), "shares": grab_shares(distance[taken], radius).tolist()}


def make_group(run: LiveRun, obj: bpy.types.Object, grab: Mapping[str, Any], read: Callable[[], Body]) -> str:
    """Makes a vertex group of what a grab of a run held, and returns its name; "" where the mesh can have none.

    Args:
        run: The run.
        obj: The object.
        grab: What was held of it.
        read: Returns its body as it was written, which is needed only in that case.

    Where modifiers before Sinew's make vertices, those of the mesh that are nearest at rest stand for them.
    """
    vertices, shares = np.array(grab.get("vertices", []), np.int64), np.array(grab.get("shares", []))
    count = run.played_counts[grab["body"]]
    is_known = vertices < count  # a torn mesh has more
    vertices, shares = vertices[is_known], shares[is_known]
    if not len(vertices) or obj.mode == "EDIT" or not obj.data.is_editable:
        return ""
    if count != len(obj.data.vertices):
        own = np.array([vertex.co for vertex in obj.data.vertices])
        matrix = scale_to_metres(obj.matrix_world, _unit(run))
        vertices = nearest_vertices(transform_points(matrix, own), read().vertices[vertices]).astype(np.int64)
    group = obj.vertex_groups.new(name="Grabbed")
    for vertex, share in zip(vertices.tolist(), shares.tolist(), strict=True):
        group.add([vertex], share, "REPLACE")
    return str(group.name)


def _unit(run: LiveRun) -> float:
    scene = find_scene(run.scene_uid)
    return 1.0 if scene is None else float(scene.unit_settings.scale_length)
