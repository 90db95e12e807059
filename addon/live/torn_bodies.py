# SPDX-License-Identifier: GPL-3.0-or-later
"""Shows torn bodies of a live run: their meshes are those that the child cuts, with the layers of the render mesh.

A thread reads the mesh of a new generation and computes its values. Then Blender's thread makes the mesh and shows it.
Until then the body is as it was seen last: whole and stretched, or as the tear before has left it.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import replace
from threading import Thread

import bpy
import numpy as np

from ...solver.bake.cache import layout
from ...solver.live.sample_files import SampleHead
from ...solver.runtime.errors import BadInput, SinewError
from ...solver.scene.scene import Body, Scene
from ..baking.live_state import BreakableBody, LiveRun, TornMeshReader
from ..blender_data import sinew_modifier
from ..blender_data.object_handle import ObjectHandle
from ..blender_data.scene_by_session_uid import find_scene
from ..cache.final_mesh_file import read_result
from ..evaluation.matrix_units import scale_to_metres, transform_points
from ..fracture_meshes import torn_mesh_modifier
from ..fracture_meshes.broken_mesh_values import broken_mesh_values
from ..fracture_meshes.show_results import is_mirrored
from ..fracture_meshes.source_mesh_arrays import read_source
from ..objects import roles
from ..playback import live_modifier


def move_modifiers(run: LiveRun, scene: bpy.types.Scene) -> None:
    """Moves Sinew's modifiers of breakable bodies below Subdivision, where cracks are not rounded, as a bake does."""
    for obj in roles.bodies(scene):
        is_moved = bool(obj.sinew.place_before)
        sinew_modifier.move_below_subdivision(obj)
        if obj.sinew.place_before and not is_moved:
            run.moved.append(ObjectHandle.of(obj))


def put_modifiers_back(run: LiveRun) -> None:
    """Moves those back that the run has moved."""
    for handle in run.moved:
        obj = handle.find()
        if obj is not None:
            sinew_modifier.restore_stack_index(obj)


def read_breakable(run: LiveRun, written: Scene, unit: float) -> Iterator[float]:
    """Reads the bodies of a run that may tear, one after the other.

    Args:
        run: Gets them.
        written: What was written of its scene.
        unit: A Blender unit [m].
    """
    for body in written.bodies:
        if body.fracture is None:
            continue
        yield 0.8  # Blender's window answers in between
        scene, obj = find_scene(run.scene_uid), run.bodies[body.key].find()
        found = None if scene is None or obj is None else _breakable(scene, run.frame, obj, body, unit)
        if found is not None:
            run.breakable[body.key] = found


def _breakable(
    scene: bpy.types.Scene, frame: int, obj: bpy.types.Object, exported: Body, unit: float
) -> BreakableBody | None:
    """Returns a body that may tear; None: it has other triangles than its mesh, and is seen whole and stretched."""
    source = read_source(scene, obj, frame)
    try:
        reversed_here = is_mirrored(obj, source, exported)
    except BadInput:
        return None
    uids = [0 if material is None else material.session_uid for material in source.materials]
    to_object = np.linalg.inv(scale_to_metres(source.matrix, unit))
    return BreakableBody(replace(source, materials=[None] * len(uids)), uids, to_object, reversed_here)


def follow(run: LiveRun, key: str, obj: bpy.types.Object, head: SampleHead) -> bool:
    """Lets an object show the mesh that its body has in a sample, as soon as that is read.

    Returns whether the mesh that it shows is in that sample.
    """
    body = run.breakable.get(key)
    if body is None or run.reader is None or not head.generation:
        return True
    newest = run.reader.generation_of(key, head)
    _take_read(body)
    if body.reader is None and newest not in (body.generation, body.unreadable):
        _begin_to_read(run, key, body, newest)
    if body.values is None:
        return True  # the whole mesh goes on in its file
    if not body.is_shown:
        _show(run, key, obj, body)
    return body.generation == newest


def forget_shown(run: LiveRun) -> None:
    """Notes that no torn mesh is in the file any more."""
    for body in run.breakable.values():
        body.is_shown = False


def _take_read(body: BreakableBody) -> None:
    reader = body.reader
    if reader is None or (reader.thread is not None and reader.thread.is_alive()):
        return
    body.reader = None
    if reader.values is None:
        body.unreadable = reader.generation  # of an older one, whose file a newer one has replaced
    else:
        body.values, body.generation, body.is_shown = reader.values, reader.generation, False


def _begin_to_read(run: LiveRun, key: str, body: BreakableBody, generation: int) -> None:
    path = layout.live_mesh_path(run.folder / layout.LIVE_FOLDER, key, generation)
    reader = TornMeshReader(generation)

    def read() -> None:
        try:
            result = read_result(path)
            result = result.flipped() if body.is_mirrored else result
            points = transform_points(body.to_object, result.rest)
            reader.values = broken_mesh_values(result, body.source, points, body.source.has_custom_normals)
        except (SinewError, ValueError, IndexError) as problem:
            reader.problem = problem

    reader.thread = Thread(target=read, name="sinew-torn-mesh")
    body.reader = reader
    reader.thread.start()


def _show(run: LiveRun, key: str, obj: bpy.types.Object, body: BreakableBody) -> None:
    if body.values is None:
        return
    source = replace(body.source, materials=_materials(body.material_uids))
    torn_mesh_modifier.show(obj, body.values, source)
    live_modifier.show(obj, layout.live_samples_path(run.folder / layout.LIVE_FOLDER, key, body.generation))
    body.is_shown = True


def _materials(uids: Iterable[int]) -> list[bpy.types.Material | None]:
    by_uid = {material.session_uid: material for material in bpy.data.materials}
    return [by_uid.get(uid) for uid in uids]
