# SPDX-License-Identifier: GPL-3.0-or-later
"""Replaces broken bodies by their results from the cache, after a bake, a load, an undo or a deletion."""

from __future__ import annotations

import json
from pathlib import Path

import bpy
import numpy as np

from ...solver.bake.cache import CacheMetadata, layout
from ...solver.bake.cache.pc2 import read_header, read_samples
from ...solver.runtime.arrays import Floats
from ...solver.runtime.errors import BadInput, StorageFailed
from ...solver.scene.scene import SCENE_FILE, Body, Scene
from ..blender_data import object_hiding, sinew_modifier
from ..cache import baked_tets
from ..cache.final_mesh_file import read_result, result_stamp
from ..playback import mesh_cache
from . import dust_object, piece_objects, result_objects, transmissive_materials
from .source_mesh_arrays import SourceMesh, read_source

# suffix of the stamp of results in separate pieces
PIECES_STAMP_SUFFIX = " in pieces"


def has_result(folder: Path, key: str) -> bool:
    """Whether the cache has the final mesh of a body, and its motion."""
    mesh, motion = layout.result_paths(folder, key)
    try:
        return mesh.is_file() and read_header(motion).samples > 0
    except (OSError, ValueError):
        return False


def may_break(folder: Path, key: str) -> bool:
    """Whether a body was baked as breakable, with Sinew's modifier below its last Subdivision."""
    try:
        tree = json.loads((folder / layout.SCENE_FOLDER / SCENE_FILE).read_text(encoding="utf-8"))
        return any(body["key"] == key and body["fracture"] is not None for body in tree["scene"]["bodies"])
    except (OSError, ValueError, KeyError, TypeError):
        return False


def has_result_objects(obj: bpy.types.Object, folder: Path, key: str) -> bool:
    """Whether the objects that replace a body exist and belong to the result in the cache."""
    found = result_objects.results_of(obj)
    stamp = _stamp(obj, folder, key)
    return bool(found) and all(made.sinew.result_stamp == stamp and made.users_collection for made in found)


def _stamp(obj: bpy.types.Object, folder: Path, key: str) -> str:
    """Returns the stamp that identifies the result in a cache, with the settings of the body."""
    return result_stamp(layout.result_paths(folder, key)[0]) + (
        PIECES_STAMP_SUFFIX if obj.sinew.separate_pieces else ""
    )


def show_result(
    scene: bpy.types.Scene, obj: bpy.types.Object, folder: Path, key: str, is_undoable: bool = True
) -> list[bpy.types.Object]:
    """Replaces a body by its result from a cache, in one object or in pieces, and returns the mesh objects.

    Makes them if they do not exist yet. If `is_undoable` is false, they have to exist, and keep their materials.

    Raises:
        BadInput: The mesh of `obj` has changed since the bake.
        StorageFailed: The cache is damaged, or files of pieces cannot be written.
    """
    _, motion = layout.result_paths(folder, key)
    is_new = not has_result_objects(obj, folder, key)
    if is_new:
        restore_body(obj)
        stamp = _stamp(obj, folder, key)
        new = _make(scene, obj, folder, key)
        if dust_object.has_dust(folder, key):
            new.append(dust_object.make_dust_object(scene, obj))
        for made in new:
            made.sinew.result_stamp = stamp
    found = result_objects.results_of(obj)
    shown = [made for made in found if made.type == "MESH"]
    head = CacheMetadata.load(folder)
    for made in shown:
        path = piece_objects.motion_path(folder, key, made) if obj.sinew.separate_pieces else motion
        mesh_cache.play_file(made, _modifier(made), head, path)
        if is_undoable:
            result_objects.use_material(made, obj.sinew.broken_material)
    for made in found:
        if made.type == "POINTCLOUD":
            dust_object.play_dust(made, folder, key, is_undoable)
    # hidden from a frame on: a material lets light in, or no result existed before an undo or a redo
    if is_new or not obj.sinew.is_replaced or object_hiding.hidden_from(obj) is not None:
        transmissive_materials.show_from_first_crack(shown, obj)
    return shown


def show_original(obj: bpy.types.Object, folder: Path, key: str) -> None:
    """Shows the body itself up to its first crack; after it, the mesh would stretch like rubber."""
    remove_results(obj)
    from_frame = baked_tets.first_crack(folder, key)
    if from_frame is None:
        object_hiding.restore_visibility(obj)
    elif object_hiding.hidden_from(obj) != from_frame or not obj.sinew.is_replaced:
        object_hiding.hide(obj, from_frame)


def restore_body(obj: bpy.types.Object) -> None:
    """Removes the results of a body and restores its visibility."""
    remove_results(obj)
    object_hiding.restore_visibility(obj)


def remove_results(obj: bpy.types.Object) -> None:
    """Removes the results of a body."""
    result_objects.remove(result_objects.results_of(obj))


def remove_orphans() -> None:
    """Removes the results of deleted bodies."""
    result_objects.remove(result_objects.orphans())


def _make(scene: bpy.types.Scene, obj: bpy.types.Object, folder: Path, key: str) -> list[bpy.types.Object]:
    mesh_path, motion = layout.result_paths(folder, key)
    result = read_result(mesh_path)
    head = CacheMetadata.load(folder)
    sinew_modifier.move_below_subdivision(obj)
    source = read_source(scene, obj, head.frame_start)
    if _is_mirrored(obj, source, folder, key):
        result = result.flipped()
    if obj.sinew.separate_pieces:
        return piece_objects.make_piece_objects(scene, obj, result, source, folder, key)
    points = _first_sample(folder, key, len(result.rest))
    return [result_objects.make_object(scene, obj, result, source, points)]


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
    """As `is_mirrored`, for a body in a cache."""
    bodies = Scene.load(folder / layout.SCENE_FOLDER).bodies
    return is_mirrored(obj, source, next((body for body in bodies if body.key == key), None))


def is_mirrored(obj: bpy.types.Object, source: SourceMesh, exported: Body | None) -> bool:
    """Whether exported triangles are the reversed ones of `obj`, as those of mirrored objects are.

    Raises:
        BadInput: They belong to another mesh.
    """
    if exported is not None and len(exported.vertices) == len(source.points):
        for mirrored, triangles in ((False, source.triangle_vertices), (True, source.triangle_vertices[:, ::-1])):
            if np.array_equal(exported.triangles, triangles):
                return mirrored
    raise BadInput("result-other-mesh", name=obj.name)


def _modifier(made: bpy.types.Object) -> bpy.types.MeshCacheModifier:
    """Returns the Mesh Cache modifier of a result, the first in its stack."""
    modifier = next(
        (m for m in made.modifiers if m.type == "MESH_CACHE" and m.name == sinew_modifier.MODIFIER_NAME), None
    )
    if modifier is None:
        modifier = made.modifiers.new(sinew_modifier.MODIFIER_NAME, "MESH_CACHE")
        modifier.show_expanded = False
        made.modifiers.move(len(made.modifiers) - 1, 0)
    return modifier
