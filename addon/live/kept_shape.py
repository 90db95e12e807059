# SPDX-License-Identifier: GPL-3.0-or-later
"""Keep Shape: writes the shape that bodies have in a live run into their meshes, as a shape key of its own.

The key is in the space of the mesh: an Armature before Sinew's modifier brings it, in its present pose,
to what is seen.
"""

from __future__ import annotations

import bpy
import numpy as np

from ...solver.bake.cache import layout
from ...solver.live.sample_files import SampleReader
from ...solver.runtime.arrays import Floats
from ...solver.runtime.errors import BadInput
from ..baking.addon_session import session
from ..baking.live_state import LiveRun
from ..blender_data import sinew_modifier
from ..evaluation.unposed_vertices import unposed_vertices

KEY_NAME = "Kept Shape"


def can_keep(scene: bpy.types.Scene) -> bool:
    """Whether there is a run of a scene, or was one last, that has a shape, and nothing is being baked."""
    run = session.live or session.last_live
    return session.bake is None and run is not None and run.scene_uid == scene.session_uid and run.seconds > 0.0


def keep(scene: bpy.types.Scene) -> list[bpy.types.Object]:
    """Gives the selected bodies of the run the shape that they have in it; all of them where none is selected.

    Returns:
        Them.

    Raises:
        BadInput: There is no run; or a mesh cannot have this shape, then nothing was changed.
    """
    run = session.live or session.last_live
    if run is None or not can_keep(scene):
        raise BadInput("shape-of-no-run")
    found = {key: obj for key, handle in run.bodies.items() if (obj := handle.find()) is not None}
    selected = {key: obj for key, obj in found.items() if obj.select_get()}
    shapes = {obj: _shape(scene, run, key, obj) for key, obj in (selected or found).items()}
    for obj, shape in shapes.items():
        _add_key(obj, shape)
    return list(shapes)


def _shape(scene: bpy.types.Scene, run: LiveRun, key: str, obj: bpy.types.Object) -> Floats:
    """Returns the newest shape of a body in the space of its mesh [Blender units], (n, 3)."""
    if obj.mode == "EDIT":
        raise BadInput("leave-edit-mode", name=obj.name)
    if not obj.data.is_editable:
        raise BadInput("shape-mesh-linked", name=obj.name)
    reader = run.reader or _open(run)
    try:
        head = reader.newest()
        posed = None if head is None else reader.positions(key, head)
        if head is None or posed is None:
            raise BadInput("shape-of-no-run")
        if reader.generation_of(key, head):
            raise BadInput("shape-torn", name=obj.name)
    finally:
        if reader is not run.reader:
            reader.close()
    cut = sinew_modifier.input_modifier_count(obj)
    return unposed_vertices(scene, obj, cut, posed.astype(np.float64))


def _open(run: LiveRun) -> SampleReader:
    try:
        return SampleReader(run.folder / layout.LIVE_FOLDER)
    except (OSError, ValueError) as problem:
        raise BadInput("shape-of-no-run") from problem


def _add_key(obj: bpy.types.Object, shape: Floats) -> None:
    if obj.data.shape_keys is None:
        obj.shape_key_add(name="Basis", from_mix=False)
    block = obj.shape_key_add(name=KEY_NAME, from_mix=False)
    block.data.foreach_set("co", shape.astype(np.float32).ravel())
    block.value = 0.0
