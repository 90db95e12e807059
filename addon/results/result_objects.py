# SPDX-License-Identifier: GPL-3.0-or-later
"""The objects that stand in for a body that broke: found, made, removed."""

from __future__ import annotations

import bpy

from ...solver.arrays import Floats
from .. import modifier_place
from ..attributes import playing
from . import result_mesh, visibility
from .source_mesh import SourceMesh
from .stored import StoredResult

SUFFIX = " Broken"
PLAIN = "Sinew Broken"
# marks what is Sinew's own to remove, on data that has no settings of Sinew's
MADE = "made_by_sinew"
PLAIN_GREY = (0.35, 0.35, 0.35, 1.0)


def results_of(obj: bpy.types.Object) -> list[bpy.types.Object]:
    """Returns the objects that were made of a body."""
    return [o for o in bpy.data.objects if o.library is None and o.sinew.result_of == obj]


def make_object(
    scene: bpy.types.Scene, obj: bpy.types.Object, result: StoredResult, source: SourceMesh, points: Floats
) -> bpy.types.Object:
    """Returns a new object that has the transform, parent, animation and lower modifiers of `obj`.

    `obj` must be as the artist left it: visible or not, with its own drivers only.
    """
    mesh, vertices = result_mesh.make_mesh(obj.name + SUFFIX, result, source, points)
    made = obj.copy()
    if made.override_library is not None:
        made = made.make_local(clear_liboverride=True)
    for modifier in list(made.modifiers)[: modifier_place.input_count(obj) + 1]:
        made.modifiers.remove(modifier)
    made.name = obj.name + SUFFIX
    _make_nothing_to_sinew(made)
    made.sinew.result_of = obj
    made.data = mesh
    _keep_texture_space(obj.data, mesh)
    result_mesh.add_groups(made, vertices, source)
    for collection in _homes(scene, obj):
        collection.objects.link(made)
    return made


def remove(made: bpy.types.Object) -> None:
    """Takes a result out of the file, with its mesh, and with the plain material when nothing else uses that."""
    mesh = made.data
    playing.detach(made)
    bpy.data.objects.remove(made)
    if isinstance(mesh, bpy.types.Mesh) and mesh.users == 0:
        bpy.data.meshes.remove(mesh)
    remove_unused_plain()


def use_material(made: bpy.types.Object, chosen: bpy.types.Material | None) -> None:
    """Gives the broken faces the material that the artist chose, or a plain one."""
    slot = result_mesh.broken_slot(made.data)
    material = chosen if chosen is not None else plain_material()
    if made.data.materials[slot] != material:
        made.data.materials[slot] = material
        remove_unused_plain()


def plain_material() -> bpy.types.Material:
    """Returns the material of broken faces for which none was chosen, made once per file."""
    known = next((m for m in bpy.data.materials if m.library is None and m.get(MADE)), None)
    if known is not None:
        return known
    material = bpy.data.materials.new(PLAIN)
    material[MADE] = True
    material.diffuse_color = PLAIN_GREY
    if material.node_tree is None:  # always there from Blender 5.0 on
        material.use_nodes = True
    shader = next((n for n in material.node_tree.nodes if n.type == "BSDF_PRINCIPLED"), None)
    if shader is not None:
        shader.inputs["Base Color"].default_value = PLAIN_GREY
        shader.inputs["Roughness"].default_value = 0.8
    return material


def remove_unused_plain() -> None:
    """Takes the plain material away when no result uses it any more."""
    for material in [m for m in bpy.data.materials if m.library is None and m.get(MADE)]:
        if material.users == int(material.use_fake_user):
            bpy.data.materials.remove(material)


def _make_nothing_to_sinew(made: bpy.types.Object) -> None:
    own = made.sinew
    own.role, own.key, own.modifier_uid, own.affect_group = "NONE", "", 0, ""
    own.is_replaced, own.place_before = False, 0


def _keep_texture_space(before: bpy.types.Mesh, mesh: bpy.types.Mesh) -> None:
    """Lets Generated texture coordinates be those of the original mesh."""
    mesh.use_auto_texspace = False
    mesh.texspace_location, mesh.texspace_size = before.texspace_location, before.texspace_size


def _homes(scene: bpy.types.Scene, obj: bpy.types.Object) -> list[bpy.types.Collection]:
    """Returns the collections of `obj` into which something can be put, else that of the scene."""
    own = [c for c in obj.users_collection if c.library is None and c.override_library is None]
    return own or [scene.collection]


def as_visible_as(made: bpy.types.Object, obj: bpy.types.Object, swap_at: float | None) -> None:
    """Hides `obj`, and shows its result instead, always or from a frame on."""
    visibility.remove_drivers(made)
    if swap_at is not None:
        visibility.show_from(made, swap_at)
    visibility.hide(obj, swap_at)
