# SPDX-License-Identifier: GPL-3.0-or-later
"""Converts a bake to shape keys on a copy that needs no rig, no cache and no add-on."""

from __future__ import annotations

from pathlib import Path

import bpy
import numpy as np
import numpy.typing as npt
from mathutils import Matrix

from ...solver.bake.cache import CacheMetadata, CacheReader
from ...solver.runtime.errors import BadInput
from ...solver.scene.settings.tables import NONE
from ..blender_data import sinew_modifier
from ..blender_data.object_keys import body_key
from ..evaluation.evaluated_mesh import evaluated_mesh, positions
from ..evaluation.matrix_units import transform_points
from ..evaluation.scene_copy import SceneCopy
from . import solved_frame

# per vertex: a shape key, and a quad mesh with a UV map (saved grid of 90,000 vertices and 101 keys: 119.4 MB)
BYTES_PER_KEY_VERTEX = 12
BYTES_PER_MESH_VERTEX = 110

NAME_SUFFIX = " Shape Keys"
# Blender's number of linear interpolation, for keyframe_points.foreach_set
LINEAR_INTERPOLATION = 1


def shape_key_bytes(vertices: int, samples: int) -> int:
    """Returns the file size of a mesh with one key per sample [bytes]: 119 MB for 90,000 vertices and 101 samples.

    In memory, Blender needs twice as much while the object is in a scene, for the evaluated copy.
    """
    return (BYTES_PER_KEY_VERTEX * samples + BYTES_PER_MESH_VERTEX) * vertices


def convert_to_shape_keys(
    context: bpy.types.Context,
    scene: bpy.types.Scene,
    obj: bpy.types.Object,
    cache: Path,
    result_object: bpy.types.Object | None = None,
) -> bpy.types.Object:
    """Returns a new object with the baked motion of `obj`: one shape key per sample, linear in between.

    The copy keeps the modifiers below Sinew's. The keys contain the effect of those above.

    Args:
        context: Selects the new object.
        scene: The scene.
        obj: The body.
        cache: The cache of the bake.
        result_object: The object that replaces the body, if it broke.

    Raises:
        BadInput: `obj` has no baked frames.
        StorageFailed: The folder has no cache.
    """
    metadata = CacheMetadata.load(cache)
    last = CacheReader(cache).last_frame()
    modifier = sinew_modifier.find_modifier(obj)
    if last is None or modifier is None or body_key(obj) not in {body.key for body in metadata.bodies}:
        raise BadInput("not-baked", name=obj.name)
    sample_times = _whole_frame_samples(metadata, last)
    obj = result_object or obj
    mesh, shapes, matrix_world = _read(scene, obj, sample_times)
    copy = _make_copy(obj, mesh, matrix_world)
    _collection_of(scene, obj).objects.link(copy)
    _add_keys(copy, shapes, [frame + part for frame, part in sample_times])
    for other in context.selected_objects:
        other.select_set(False)
    if copy.name in context.view_layer.objects:
        context.view_layer.objects.active = copy
        copy.select_set(True)
    return copy


def _collection_of(scene: bpy.types.Scene, obj: bpy.types.Object) -> bpy.types.Collection:
    """Returns the collection of `obj` if it is editable, or else that of the scene."""
    own = (c for c in obj.users_collection if c.library is None and c.override_library is None)
    return next(own, scene.collection)


def _whole_frame_samples(metadata: CacheMetadata, last: int) -> list[tuple[int, float]]:
    """Returns the samples of complete frames up to `last`: frame and subframe."""
    per_frame = metadata.samples_per_frame
    count = (last - metadata.frame_start) * per_frame + 1
    return [(metadata.frame_start + i // per_frame, (i % per_frame) / per_frame) for i in range(count)]


def _read(
    scene: bpy.types.Scene, obj: bpy.types.Object, sample_times: list[tuple[int, float]]
) -> tuple[bpy.types.Mesh, list[npt.NDArray[np.float32]], Matrix]:
    """Returns the mesh at the first sample, the shapes of all samples in its space, and its world matrix."""
    shapes = []
    cut = sinew_modifier.input_modifier_count(obj) + 1
    with SceneCopy(scene, {obj: cut}, plays_motion=True) as scene_copy:
        scene_copy.set_frame(*sample_times[0])
        evaluated = scene_copy.evaluated(obj)
        matrix_world = evaluated.matrix_world.copy()
        mesh = bpy.data.meshes.new_from_object(evaluated, preserve_all_data_layers=True, depsgraph=scene_copy.depsgraph)
        try:
            for time in sample_times:
                scene_copy.set_frame(*time)
                evaluated = scene_copy.evaluated(obj)
                moved = np.array(matrix_world.inverted() @ evaluated.matrix_world)
                with evaluated_mesh(evaluated) as now:
                    shapes.append(transform_points(moved, positions(now)).astype(np.float32))
        except BaseException:
            bpy.data.meshes.remove(mesh)
            raise
    return mesh, shapes, matrix_world


def _make_copy(obj: bpy.types.Object, mesh: bpy.types.Mesh, matrix_world: Matrix) -> bpy.types.Object:
    """Returns a copy of `obj` with another mesh, only the modifiers below Sinew's, and no animation."""
    copy = obj.copy()
    if copy.override_library is not None:
        copy = copy.make_local(clear_liboverride=True)
    for modifier in list(copy.modifiers)[: sinew_modifier.input_modifier_count(obj) + 1]:
        copy.modifiers.remove(modifier)
    solved_frame.remove([copy])
    copy.name = mesh.name = obj.name + NAME_SUFFIX
    copy.animation_data_clear()
    copy.constraints.clear()
    copy.parent = None
    copy.sinew.role = NONE
    copy.sinew.key = copy.sinew.baked_name = ""
    copy.sinew.modifier_uid = 0
    copy.sinew.result_of, copy.sinew.result_stamp = None, ""
    copy.hide_viewport = copy.hide_render = False
    copy.data = mesh
    copy.delta_location, copy.delta_scale = (0, 0, 0), (1, 1, 1)
    copy.delta_rotation_euler, copy.delta_rotation_quaternion = (0, 0, 0), (1, 0, 0, 0)
    copy.matrix_world = matrix_world
    return copy


def _add_keys(copy: bpy.types.Object, shapes: list[npt.NDArray[np.float32]], frames: list[float]) -> None:
    """Adds the basis and one key per further shape; each rises from the previous sample and falls to the next."""
    copy.shape_key_clear()
    copy.shape_key_add(name="Basis", from_mix=False)
    copy.active_shape_key_index = 0
    keys = copy.data.shape_keys
    curves = _new_curves(keys, copy.name)
    for i in range(1, len(shapes)):
        block = copy.shape_key_add(name=f"Frame {frames[i]:g}", from_mix=False)
        block.data.foreach_set("co", shapes[i].ravel())
        times = frames[i - 1 : i + 2]
        points = [value for pair in zip(times, (0.0, 1.0, 0.0), strict=False) for value in pair]
        curve = curves.new(f'key_blocks["{block.name}"].value')
        curve.keyframe_points.add(len(times))
        curve.keyframe_points.foreach_set("co", points)
        curve.keyframe_points.foreach_set("interpolation", [LINEAR_INTERPOLATION] * len(times))
        curve.update()


def _new_curves(keys: bpy.types.Key, name: str) -> bpy.types.ActionChannelbagFCurves:
    action = bpy.data.actions.new(name)
    slot = action.slots.new("KEY", keys.name)
    strip = action.layers.new("Layer").strips.new(type="KEYFRAME")
    data = keys.animation_data_create()
    data.action = action
    data.action_slot = slot
    return strip.channelbag(slot, ensure=True).fcurves
