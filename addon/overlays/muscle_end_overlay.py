# SPDX-License-Identifier: GPL-3.0-or-later
"""The overlay of the ends and tendons that Make Muscle found, on the mesh, until a bake or Build Fibres has tets."""

from __future__ import annotations

from collections.abc import Iterator

import bpy
import numpy as np

from ...solver.runtime.arrays import Floats
from ...solver.runtime.errors import BadInput
from ..cache import cache_folder_status
from ..cache.bake_passes import body_folder
from ..evaluation.evaluated_mesh import positions, triangles
from ..evaluation.matrix_units import transform_points
from ..evaluation.vertex_weights import weights
from ..objects import roles
from ..runtime.memo import Memo
from . import fibre_overlay
from .draw_handler import DrawHandler
from .fibre_geometry import INSERTION_COLOUR, ORIGIN_COLOUR, TENDON_COLOUR
from .gpu_batches import alpha_blending, draw_batch, make_batch
from .muscle_end_geometry import EndFaces, EndWeights, end_faces

END_ALPHA, TENDON_ALPHA = 0.6, 0.35
MAX_BODIES = 1000  # whose faces are remembered
_faces: Memo[EndFaces] = Memo(MAX_BODIES)  # by session id of the object


def is_shown(scene: bpy.types.Scene, obj: bpy.types.Object) -> bool:
    """Whether the ends of a muscle are to be seen: the switch is on, and neither a bake nor its fibres are there."""
    own = obj.sinew
    if not own.show_ends or not own.use_muscle or not roles.is_flesh(obj) or obj.mode == "EDIT":
        return False
    status = cache_folder_status.read_status(body_folder(scene, obj))
    if status.frame_shown_at(scene.frame_current) is not None:
        return False
    return not (fibre_overlay.is_shown(obj) and fibre_overlay.shown_fibres(scene, obj) is not None)


def shown_ends(obj: bpy.types.Object, depsgraph: bpy.types.Depsgraph) -> tuple[EndFaces, Floats] | None:
    """Returns the colored faces of a muscle, and its vertices in the world as they are now [Blender units].

    None: a group is not there. Faces are found anew when settings or the number of vertices change, and after a change
    of mode, which stands for new paint.
    """
    evaluated = obj.evaluated_get(depsgraph)
    mesh = evaluated.data
    try:
        faces = _faces.result(obj.session_uid, _stamp(obj, mesh), lambda: _find_faces(evaluated, mesh))
    except BadInput:
        return None
    return faces, transform_points(np.array(evaluated.matrix_world), positions(mesh))


def _stamp(obj: bpy.types.Object, mesh: bpy.types.Mesh) -> tuple:
    own = obj.sinew
    groups = (own.origin_group, own.insertion_group, own.tendon_group, own.tendon_only)
    return (
        *groups,
        own.origin_tendon,
        own.insertion_tendon,
        obj.mode,
        len(mesh.vertices),
        *obj.matrix_world.to_scale(),
    )


def _find_faces(evaluated: bpy.types.Object, mesh: bpy.types.Mesh) -> EndFaces:
    own = evaluated.sinew

    def weights_of(name: str, default: float) -> Floats:
        if not name:
            return np.full(len(mesh.vertices), default, dtype=np.float64)
        return weights(evaluated, mesh, name, evaluated.name, "")

    painted = weights_of("" if own.tendon_only else own.tendon_group, float(own.tendon_only))
    found = EndWeights(weights_of(own.origin_group, 0.0), weights_of(own.insertion_group, 0.0), painted)
    world = transform_points(np.array(evaluated.matrix_world), positions(mesh))
    return end_faces(world, triangles(mesh), found, (own.origin_tendon, own.insertion_tendon))


def draw() -> None:
    """Draws the ends of all visible muscles with the switch on. Blender calls it for every viewport."""
    context = bpy.context
    scene, space, depsgraph = context.scene, context.space_data, context.view_layer.depsgraph
    # an evaluation here would invalidate what Blender is about to draw
    if space is None or depsgraph is None or not space.overlay.show_overlays:
        return
    for obj in roles.bodies(scene):
        if obj.visible_get() and is_shown(scene, obj):
            _draw(obj, depsgraph)


def _draw(obj: bpy.types.Object, depsgraph: bpy.types.Depsgraph) -> None:
    """Draws in front of everything, so that an end that points away from the eye is seen through the muscle."""
    found = shown_ends(obj, depsgraph)
    if found is None:
        return
    with alpha_blending():
        for shader, batch, colour in _make_batches(*found):
            draw_batch(shader, batch, colour)


def _make_batches(faces: EndFaces, points: Floats) -> Iterator[tuple]:
    for corners, colour, alpha in (
        (faces.origin, ORIGIN_COLOUR, END_ALPHA),
        (faces.insertion, INSERTION_COLOUR, END_ALPHA),
        (faces.tendon, tuple(TENDON_COLOUR), TENDON_ALPHA),
    ):
        if len(corners):
            yield *make_batch("TRIS", points, indices=corners), (*colour, alpha)


_draw_handler = DrawHandler(draw)
register, unregister = _draw_handler.register, _draw_handler.unregister
