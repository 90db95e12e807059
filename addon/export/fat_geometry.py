# SPDX-License-Identifier: GPL-3.0-or-later
"""Fat: a body that ends at a Wrap inside of it. Its surface is the skin, closed for the physics, and the Wrap.

What is painted on the skin goes on inside: vertices of the Wrap and of closed holes have the values of the nearest
vertex of the skin. What the Wrap is attached to, its vertices alone are attached to.
"""

from __future__ import annotations

import dataclasses

import bpy
import numpy as np

from ...solver.mesh.geometry.hole_caps import hole_caps
from ...solver.runtime.arrays import Floats, Indices
from ...solver.runtime.errors import BadInput
from ...solver.scene.attachment import Attachment
from ...solver.scene.scene import Body
from ..evaluation.evaluated_mesh import evaluated_mesh, positions, triangles
from ..evaluation.matrix_units import scale_to_metres, transform_points
from ..evaluation.nearest_vertices import nearest_vertices
from ..evaluation.scene_copy import SceneCopy
from . import validation
from .attachments import read_attachments
from .participants import Participants
from .per_vertex_rows import with_more_vertices
from .weight_reader import WeightReader


def with_wrap(scene_copy: SceneCopy, inputs: Participants, body: Body, obj: bpy.types.Object) -> Body:
    """Returns a body that ends at a Wrap.

    Args:
        scene_copy: Evaluated in the rest pose.
        inputs: What takes part.
        body: As it is without.
        obj: Its object, which has the Wrap.

    Raises:
        BadInput: The Wrap cannot be read, or what it is attached to takes no part.
    """
    caps, wrap = hole_caps(body.vertices, body.triangles), obj.sinew.wrap
    inner, faces, attachments = _read_wrap(scene_copy, inputs, obj, wrap)
    vertices = np.concatenate([body.vertices, caps.middles, inner])
    skin = np.concatenate([body.triangles, caps.triangles])
    if (_volume(vertices, skin) > 0.0) == (_volume(inner, faces) > 0.0):
        faces = faces[:, ::-1]  # the inside of the Wrap is a hollow: its faces look into it
    first = len(body.vertices) + len(caps.middles)
    is_wrap = np.arange(len(vertices), dtype=np.int64) >= first
    nearest = nearest_vertices(body.vertices, np.concatenate([caps.middles, inner]))
    own = with_more_vertices(body, len(body.vertices), nearest)
    return dataclasses.replace(
        own,
        vertices=vertices,
        triangles=np.concatenate([skin, faces + np.int32(first)]),
        attachments=(*own.attachments, *(_on_wrap_alone(each, is_wrap) for each in attachments)),
        cap_vertices=len(caps.middles),
        wrap_vertices=len(inner),
    )


def _read_wrap(
    scene_copy: SceneCopy, inputs: Participants, obj: bpy.types.Object, wrap: bpy.types.Object
) -> tuple[Floats, Indices, tuple[Attachment, ...]]:
    """Returns vertices [m], world, (n, 3), and faces, (t, 3), of the Wrap of a body, and its attachments."""
    evaluated = scene_copy.evaluated(wrap)
    matrix = scale_to_metres(scene_copy.matrix(wrap), inputs.unit)
    validation.check_matrix(wrap.name, matrix)
    with evaluated_mesh(evaluated) as mesh:
        points, faces = positions(mesh), triangles(mesh)
        attachments = read_attachments(scene_copy, inputs, obj, WeightReader(wrap, evaluated, mesh))
    if not len(faces):
        raise BadInput("mesh-empty", name=wrap.name)
    validation.check_points(wrap.name, points)
    if np.linalg.det(matrix[:3, :3]) < 0:  # mirrored: faces look outwards again when they are turned round
        faces = faces[:, ::-1]
    return transform_points(matrix, points), faces, attachments


def _volume(vertices: Floats, faces: Indices) -> float:
    """Returns six times the volume in closed faces [m³], negative where they look inside."""
    a, b, c = (vertices[faces[:, corner]] - vertices[0] for corner in range(3))
    return float(np.einsum("ti,ti->", a, np.cross(b, c)))


def _on_wrap_alone(attachment: Attachment, is_wrap: np.ndarray) -> Attachment:
    paint = np.zeros(len(is_wrap))
    paint[is_wrap] = attachment.paint if len(attachment.paint) else 1.0
    return dataclasses.replace(attachment, paint=paint)
