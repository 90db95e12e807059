# SPDX-License-Identifier: GPL-3.0-or-later
"""Lets results stand in for the bodies that broke, as the cache has it: after a bake, a load, an undo, a deletion."""

from __future__ import annotations

from pathlib import Path

import bpy
import numpy as np

from ...solver.arrays import Floats
from ...solver.cache import CacheHead, layout
from ...solver.errors import BadInput, StorageFailed
from ...solver.pc2 import read_head, read_samples
from ...solver.scene import Scene
from .. import modifier_place, playback
from . import cracks, result_objects, swap, visibility
from .source_mesh import SourceMesh, read_source
from .stored import StoredResult, read_result, stamp_of


def has_result(folder: Path, key: str) -> bool:
    """Whether the cache has the final mesh of a body, and its motion."""
    mesh, motion = layout.result_paths(folder, key)
    try:
        return mesh.is_file() and read_head(motion).samples > 0
    except (OSError, ValueError):
        return False


def show(scene: bpy.types.Scene, obj: bpy.types.Object, folder: Path, key: str) -> bpy.types.Object:
    """Lets the result in a cache stand in for a body, and returns it; makes it only where it is not there yet.

    Raises:
        BadInput: The mesh of `obj` is another one than was baked.
        StorageFailed: The cache is damaged.
    """
    mesh_path, motion = layout.result_paths(folder, key)
    stamp = stamp_of(mesh_path)
    found = result_objects.results_of(obj)
    fitting = [made for made in found if made.sinew.result_stamp == stamp]
    if fitting:
        made, result = fitting[0], None
    else:
        drop(obj)
        result = read_result(mesh_path)
        made = _make(scene, obj, folder, key, result)
        made.sinew.result_stamp = stamp
    _play(made, folder, motion)
    result_objects.use_material(made, obj.sinew.broken_material)
    if result is not None or not obj.sinew.is_replaced:
        swap.apply(made, obj)
    return made


def show_none(obj: bpy.types.Object, folder: Path, key: str) -> None:
    """Shows a body itself, up to its first crack: from there on it would be drawn out like rubber."""
    drop_results(obj)
    from_frame = cracks.first_crack(folder, key)
    if from_frame is None:
        visibility.show_again(obj)
    elif visibility.hidden_from(obj) != from_frame or not obj.sinew.is_replaced:
        visibility.hide(obj, from_frame)


def drop(obj: bpy.types.Object) -> None:
    """Removes what stood in for a body, and shows it as it was before."""
    drop_results(obj)
    visibility.show_again(obj)


def drop_results(obj: bpy.types.Object) -> None:
    """Removes what stood in for a body."""
    for made in result_objects.results_of(obj):
        result_objects.remove(made)


def drop_orphans() -> None:
    """Removes results of bodies that were deleted meanwhile."""
    for made in [o for o in bpy.data.objects if o.library is None and o.sinew.result_stamp]:
        if made.sinew.result_of is None or not made.sinew.result_of.users_scene:
            result_objects.remove(made)


def _make(
    scene: bpy.types.Scene, obj: bpy.types.Object, folder: Path, key: str, result: StoredResult
) -> bpy.types.Object:
    head = CacheHead.load(folder)
    modifier_place.settle(obj)
    source = read_source(scene, obj, head.frame_start)
    is_mirrored = _is_mirrored(obj, source, folder, key)
    points = _first_sample(folder, key, len(result.rest))
    if is_mirrored:
        result = result.turned()
    return result_objects.make_object(scene, obj, result, source, points)


def _first_sample(folder: Path, key: str, count: int) -> Floats:
    """Returns the vertices at the first frame [Blender units], object space, (k, 3)."""
    _, motion = layout.result_paths(folder, key)
    try:
        points = read_samples(motion, 0, 1)[0].astype(np.float64)
    except (OSError, ValueError) as problem:
        file = motion.relative_to(folder).as_posix()
        raise StorageFailed("cache-damaged", path=str(folder), file=file, problem=str(problem)) from problem
    if len(points) != count:
        raise StorageFailed(
            "cache-damaged", path=str(folder), file=motion.name, problem=f"{len(points)} vertices, not {count}"
        )
    return points


def _is_mirrored(obj: bpy.types.Object, source: SourceMesh, folder: Path, key: str) -> bool:
    """Whether the triangles that were baked are those of `obj` turned round, as the exporter does for mirrored ones.

    Raises:
        BadInput: They are of another mesh.
    """
    bodies = Scene.load(folder / layout.SCENE_FOLDER).bodies
    baked = next((body for body in bodies if body.key == key), None)
    if baked is not None and len(baked.vertices) == len(source.points):
        for mirrored, triangles in ((False, source.triangle_vertices), (True, source.triangle_vertices[:, ::-1])):
            if np.array_equal(baked.triangles, triangles):
                return mirrored
    raise BadInput("result-other-mesh", name=obj.name)


def _play(made: bpy.types.Object, folder: Path, motion: Path) -> None:
    modifier = next((m for m in made.modifiers if m.type == "MESH_CACHE" and m.name == modifier_place.NAME), None)
    if modifier is None:
        modifier = made.modifiers.new(modifier_place.NAME, "MESH_CACHE")
        modifier.show_expanded = False
        made.modifiers.move(len(made.modifiers) - 1, 0)
    playback.play(made, modifier, CacheHead.load(folder), motion)
