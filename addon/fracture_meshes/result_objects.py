# SPDX-License-Identifier: GPL-3.0-or-later
"""Finds, makes and removes the objects that replace a broken body."""

from __future__ import annotations

from collections.abc import Iterable

import bpy
from mathutils import Matrix, Vector

from ...solver.runtime.arrays import Floats
from ...solver.scene.settings.tables import NONE
from ..blender_data import sinew_modifier
from ..cache.final_mesh_file import StoredResult
from ..playback import attribute_modifier
from ..playback.dust_nodes import DUST_GROUP_NAME
from . import closed_crack_normal_nodes, result_mesh
from .closed_crack_normals import find_closed_crack_normals
from .source_mesh_arrays import SourceMesh

SUFFIX = " Broken"
PIECES_SUFFIX = " Pieces"
PLAIN_MATERIAL_NAME = "Sinew Broken"
# custom property that marks data-blocks of Sinew, which it may remove
MADE_BY_SINEW_KEY = "made_by_sinew"
PLAIN_GREY = (0.35, 0.35, 0.35, 1.0)


def results_of(obj: bpy.types.Object) -> list[bpy.types.Object]:
    """Returns the result objects of a body, without the artist's duplicates of them."""
    return _original_results(o for o in bpy.data.objects if o.library is None and o.sinew.result_of == obj)


def orphans() -> list[bpy.types.Object]:
    """Returns the results of deleted bodies."""
    stamped = (o for o in bpy.data.objects if o.library is None and o.sinew.result_stamp)
    return _original_results(o for o in stamped if o.sinew.result_of is None or not o.sinew.result_of.users_scene)


def _original_results(objects: Iterable[bpy.types.Object]) -> list[bpy.types.Object]:
    """Returns one object per original name, renamed or not."""
    found: dict[str, bpy.types.Object] = {}
    for obj in objects:
        name = obj.sinew.result_name
        if name not in found or obj.name == name:
            found[name] = obj
    return list(found.values())


def make_object(
    scene: bpy.types.Scene, obj: bpy.types.Object, result: StoredResult, source: SourceMesh, points: Floats
) -> bpy.types.Object:
    """Returns a new object with the transform, parent, animation and lower modifiers of `obj`.

    `obj` must have the artist's visibility and only its own drivers.
    """
    made = _make_object(scene, obj, obj.name + SUFFIX, result, source, points)
    if not (source.has_custom_normals or source.is_flat):
        closed_crack_normal_nodes.attach(made, find_closed_crack_normals(result, source.topology, source.normals))
    return made


def make_piece(
    scene: bpy.types.Scene,
    obj: bpy.types.Object,
    parent: bpy.types.Object,
    piece: StoredResult,
    source: SourceMesh,
    points: Floats,
) -> bpy.types.Object:
    """Returns a new object of one piece, a child of `parent`, with its origin in the centre of its box.

    Args:
        scene: The scene.
        obj: The body.
        parent: An empty in place of the body.
        piece: The piece.
        source: The render mesh of the body.
        points: Vertices of the piece at the first frame [Blender units], object space of the body, (k, 3).
    """
    number = int(piece.piece[0])
    made = _make_object(scene, obj, f"{obj.name} Piece {number + 1}", piece, source, points)
    middle = box_centre(points)
    made.data.transform(Matrix.Translation(-Vector(middle)))
    made.animation_data_clear()
    made.constraints.clear()
    made.parent, made.parent_type = parent, "OBJECT"
    made.matrix_parent_inverse = Matrix()
    made.delta_location, made.delta_scale = (0, 0, 0), (1, 1, 1)
    made.delta_rotation_euler, made.delta_rotation_quaternion = (0, 0, 0), (1, 0, 0, 0)
    made.matrix_basis = Matrix.Translation(Vector(middle))
    return made


def box_centre(points: Floats) -> Floats:
    """Returns the centre of the box around points, (3,)."""
    return (points.min(axis=0) + points.max(axis=0)) / 2.0


def make_parent(scene: bpy.types.Scene, obj: bpy.types.Object) -> bpy.types.Object:
    """Returns an empty that moves with the body, hidden or not."""
    made = make_child(scene, obj, obj.name + PIECES_SUFFIX, None)
    made.empty_display_size = 0.5 * max(obj.dimensions) / (max(obj.scale) or 1.0)
    return made


def make_child(scene: bpy.types.Scene, obj: bpy.types.Object, name: str, data: bpy.types.ID | None) -> bpy.types.Object:
    """Returns a new object of some data that is a result of a body, in its space, and its child."""
    made = bpy.data.objects.new(name, data)
    made.sinew.result_of, made.sinew.result_name = obj, made.name
    made.parent = obj
    for collection in _collections_of(scene, obj):
        collection.objects.link(made)
    return made


def _make_object(
    scene: bpy.types.Scene,
    obj: bpy.types.Object,
    name: str,
    result: StoredResult,
    source: SourceMesh,
    points: Floats,
) -> bpy.types.Object:
    mesh, vertices = result_mesh.make_mesh(name, result, source, points)
    made = obj.copy()
    if made.override_library is not None:
        made = made.make_local(clear_liboverride=True)
    for modifier in list(made.modifiers)[: sinew_modifier.input_modifier_count(obj) + 1]:
        made.modifiers.remove(modifier)
    attribute_modifier.detach(made)
    made.name = name
    _clear_sinew_settings(made)
    made.sinew.result_of, made.sinew.result_name = obj, made.name
    made.data = mesh
    _keep_texture_space(obj.data, mesh)
    result_mesh.add_groups(made, vertices, source.groups)
    for collection in _collections_of(scene, obj):
        collection.objects.link(made)
    return made


def remove(results: Iterable[bpy.types.Object]) -> None:
    """Removes results with their meshes and nodes, and the plain material if nothing else uses it."""
    objects = list(results)
    if not objects:
        return
    made_for_them: set[bpy.types.ID] = {made.data for made in objects if made.data is not None}
    made_for_them |= {
        modifier.node_group
        for made in objects
        for modifier in made.modifiers
        if modifier.type == "NODES"
        and modifier.name in (attribute_modifier.GROUP_NAME, closed_crack_normal_nodes.GROUP_NAME, DUST_GROUP_NAME)
        and modifier.node_group
    }
    bpy.data.batch_remove(objects)
    bpy.data.batch_remove([data for data in made_for_them if data.users == 0])
    remove_unused_plain()


def use_material(made: bpy.types.Object, chosen: bpy.types.Material | None) -> None:
    """Assigns the artist's material, or a plain one, to the broken faces, if there are any."""
    slot = result_mesh.broken_slot(made.data)
    if slot is None:
        return
    material = chosen if chosen is not None else plain_material()
    if made.data.materials[slot] != material:
        made.data.materials[slot] = material
        remove_unused_plain()


def plain_material() -> bpy.types.Material:
    """Returns the default material of broken faces, one per file."""
    existing = next((m for m in bpy.data.materials if m.library is None and m.get(MADE_BY_SINEW_KEY)), None)
    if existing is not None:
        return existing
    material = bpy.data.materials.new(PLAIN_MATERIAL_NAME)
    material[MADE_BY_SINEW_KEY] = True
    material.diffuse_color = PLAIN_GREY
    if material.node_tree is None:  # always there from Blender 5.0 on
        material.use_nodes = True
    shader = next((n for n in material.node_tree.nodes if n.type == "BSDF_PRINCIPLED"), None)
    if shader is not None:
        shader.inputs["Base Color"].default_value = PLAIN_GREY
        shader.inputs["Roughness"].default_value = 0.8
    return material


def remove_unused_plain() -> None:
    """Removes the plain material if no result uses it."""
    for material in [m for m in bpy.data.materials if m.library is None and m.get(MADE_BY_SINEW_KEY)]:
        if material.users == int(material.use_fake_user):
            bpy.data.materials.remove(material)


def _clear_sinew_settings(made: bpy.types.Object) -> None:
    own = made.sinew
    own.role, own.key, own.modifier_uid, own.affect_group = NONE, "", 0, ""
    own.is_replaced, own.place_before = False, 0


def _keep_texture_space(before: bpy.types.Mesh, mesh: bpy.types.Mesh) -> None:
    """Copies the texture space, so that Generated coordinates equal those of the original mesh."""
    mesh.use_auto_texspace = False
    mesh.texspace_location, mesh.texspace_size = before.texspace_location, before.texspace_size


def _collections_of(scene: bpy.types.Scene, obj: bpy.types.Object) -> list[bpy.types.Collection]:
    """Returns the editable collections of `obj`, or else that of the scene."""
    own = [c for c in obj.users_collection if c.library is None and c.override_library is None]
    return own or [scene.collection]
