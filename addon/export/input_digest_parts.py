# SPDX-License-Identifier: GPL-3.0-or-later
"""What the digest of a bake's input has of each data-block: its values, and in place of animated ones F-curves and
drivers."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping
from typing import Any

import bpy
import numpy as np

from ...solver.scene.settings.setting import VECTOR_ATTRIBUTE, WEIGHT_GROUP, Setting
from ...solver.scene.settings.tables import settings_of_role
from ..blender_data import sinew_modifier
from ..blender_data.held_transform import artist_constraints
from ..blender_data.motion_track import unmoved_values
from ..blender_data.names_at_first_bake import name_at_first_bake
from ..blender_data.rna_serialisation import INTERFACE_PROPERTIES, Parts, animated_paths, animation_parts, rna_parts
from ..evaluation.evaluated_mesh import corner_vertices, loose_edges, raw_positions
from ..evaluation.sample_times import frame_range, preroll
from ..evaluation.vertex_weights import VECTOR_TYPE, WEIGHT_TYPES, raw_vectors, raw_weights
from ..evaluation.weight_digest import weight_digest
from ..objects.roles import roles_of
from ..objects.tet_estimate import has_preview
from ..properties.role_definitions import WRAP
from .body_features import is_ever_sewn
from .force_fields import ALIASES, animated_properties
from .relevant_settings import unread_scene_settings

TRANSFORM_PROPERTIES = (
    "location",
    "rotation_mode",
    "rotation_euler",
    "rotation_quaternion",
    "rotation_axis_angle",
    "scale",
    "delta_location",
    "delta_rotation_euler",
    "delta_rotation_quaternion",
    "delta_scale",
    "parent_type",
    "parent_bone",
    "track_axis",
)
STILL_IMAGE_SOURCES = {"FILE", "GENERATED", "TILED"}
# what else the rest pose of an armature says of a bone than its place and its turn
REST_BONE_PROPERTIES = ("name", "length", "use_deform", "use_inherit_rotation", "inherit_scale")


def field_parts(obj: bpy.types.Object, waiting: list[bpy.types.ID]) -> Parts:
    """Returns what bakes read of a force field; `obj` itself goes into `waiting` with where it is and its mesh."""
    waiting.append(obj)
    # a number with two names changes under both where one is animated
    animated = {f"field.{name}" for name in animated_properties(obj)}
    parts = ["field", name_at_first_bake(obj, obj.name), *rna_parts(obj.field, ALIASES, animated, "field.", waiting)]
    texture = obj.field.texture
    if texture is None:
        return parts
    return [*parts, *(_ramp_parts(texture) if texture.use_color_ramp else []), *_image_parts(texture)]


def _image_parts(texture: bpy.types.Texture) -> Parts:
    """Returns the pixels of an image texture, which may have been painted and not be in any file."""
    image = texture.image if texture.type == "IMAGE" else None
    # the pixels of others change with the playhead
    if image is None or image.source not in STILL_IMAGE_SOURCES:
        return []
    pixels = np.empty(len(image.pixels), np.float32)
    image.pixels.foreach_get(pixels)
    return [repr(tuple(image.size)), image.colorspace_settings.name, image.alpha_mode, pixels]


def _ramp_parts(texture: bpy.types.Texture) -> Parts:
    ramp, animated = texture.color_ramp, animated_paths(texture)
    parts = rna_parts(ramp, (), animated, "color_ramp.")
    for i, element in enumerate(ramp.elements):
        # `rna_parts` takes colours for those of the interface
        path = f"color_ramp.elements[{i}]."
        parts += [
            f"{path}{n}={_plain_value(getattr(element, n))}" for n in ("position", "color") if path + n not in animated
        ]
    return parts


def scene_parts(scene: bpy.types.Scene, bodies: Iterable[bpy.types.Object]) -> Parts:
    """Returns what a bake of some bodies reads of a scene itself: settings, frames, gravity."""
    render = scene.render
    animated = animated_paths(scene)
    parts = rna_parts(scene.sinew, unread_scene_settings(scene, bodies), animated, "sinew.")
    numbers: list[float] = [
        frame_range(scene)[0],
        preroll(scene),
        render.fps,
        render.fps_base,
        render.frame_map_old,
        render.frame_map_new,
        scene.unit_settings.scale_length,
        scene.use_gravity,
    ]
    if "gravity" not in animated:
        numbers += list(scene.gravity)
    return [*parts, repr(numbers), *animation_parts(scene, [])]


def preview_parts(bodies: Mapping[bpy.types.Object, str]) -> Parts:
    """Returns how many tets bodies, with their keys, get at Preview, where these are not their final ones."""
    return sorted(f"preview {key} {obj.sinew.preview_tets}" for obj, key in bodies.items() if has_preview(obj.sinew))


def id_parts(item: bpy.types.ID, waiting: list[bpy.types.ID]) -> Parts:
    """Returns what bakes read of a data-block that takes no part itself; what that depends on goes into `waiting`."""
    if isinstance(item, bpy.types.Object):
        # a wrap plays the bake below Sinew's place
        cut = sinew_modifier.input_modifier_count(item) if item.sinew.role == WRAP else None
        return object_parts(item, cut, waiting)
    if isinstance(item, bpy.types.NodeTree):
        return _tree_parts(item, waiting)
    parts = animation_parts(item, waiting)
    if isinstance(item, bpy.types.Collection):
        waiting += list(item.all_objects)
    else:
        parts += rna_parts(item, set(), animated_paths(item), "")
    return parts


def object_parts(obj: bpy.types.Object, cut: int | None, waiting: list[bpy.types.ID]) -> Parts:
    """Returns what bakes read of an object and its data, with its first `cut` modifiers; None: all."""
    animated, unmoved = animated_paths(obj), unmoved_values(obj)
    parts = animation_parts(obj, waiting)
    for name in TRANSFORM_PROPERTIES:
        if name not in animated:
            parts.append(f"{name}={_plain_value(unmoved[name] if name in unmoved else getattr(obj, name))}")
    parts.append(repr([list(row) for row in obj.matrix_parent_inverse]))
    for constraint in artist_constraints(obj):
        parts += rna_parts(constraint, set(), animated, f'constraints["{constraint.name}"].', waiting, unmoved)
    for modifier in list(obj.modifiers)[:cut]:
        parts += rna_parts(modifier, set(), animated, f'modifiers["{modifier.name}"].', waiting)
        parts += _inputs_of_nodes(modifier, animated, waiting)
    if obj.parent is not None:
        waiting.append(obj.parent)
    return parts + _data_parts(obj, waiting)


def _data_parts(obj: bpy.types.Object, waiting: list[bpy.types.ID]) -> Parts:
    data = obj.data
    if isinstance(data, bpy.types.Mesh):
        return _mesh_parts(obj, data, waiting)
    if isinstance(data, bpy.types.Armature):
        return _armature_parts(obj, data, waiting)
    if isinstance(data, bpy.types.Lattice):
        points = np.empty(len(data.points) * 3, np.float32)
        data.points.foreach_get("co_deform", points)
        return [points, *_key_parts(obj, points, waiting)]
    return [] if data is None else rna_parts(data, set(), animated_paths(data), "")


def _mesh_parts(obj: bpy.types.Object, mesh: bpy.types.Mesh, waiting: list[bpy.types.ID]) -> Parts:
    sizes = np.empty(len(mesh.polygons), np.int32)
    mesh.polygons.foreach_get("loop_total", sizes)
    points = raw_positions(mesh).ravel()
    parts: Parts = [points, corner_vertices(mesh), sizes, weight_digest(obj)]
    if is_ever_sewn(obj):
        parts.append(loose_edges(mesh))
    return [*parts, *_painted_parts(obj, mesh), *_key_parts(obj, points, waiting)]


def _painted_parts(obj: bpy.types.Object, mesh: bpy.types.Mesh) -> Parts:
    """Returns the values of the mesh's own attributes that settings name instead of a vertex group."""
    parts: Parts = []
    fields = [s.name for role in roles_of(obj) for s in settings_of_role(role) if s.kind == WEIGHT_GROUP]
    rows = {row.group for row in [*obj.sinew.muscle_heads, *obj.sinew.attachments]}
    for name in sorted({getattr(obj.sinew, field) for field in fields} | rows):
        attribute = mesh.attributes.get(name) if name and name not in obj.vertex_groups else None
        if attribute is not None and attribute.domain == "POINT" and attribute.data_type in WEIGHT_TYPES:
            parts += [name, raw_weights(attribute, len(mesh.vertices))]
    lines = {getattr(obj.sinew, s.name) for role in roles_of(obj) for s in settings_of_role(role) if _is_line(s)}
    for name in sorted(lines):
        attribute = mesh.attributes.get(name) if name else None
        if attribute is not None and attribute.domain == "POINT" and attribute.data_type == VECTOR_TYPE:
            parts += [name, raw_vectors(attribute, len(mesh.vertices))]
    return parts


def _is_line(setting: Setting) -> bool:
    return setting.kind == VECTOR_ATTRIBUTE


def _key_parts(obj: bpy.types.Object, points: np.ndarray, waiting: list[bpy.types.ID]) -> Parts:
    """Returns what shape keys add to a mesh or lattice with the points, (3 n,): nothing where all are off."""
    keys = obj.data.shape_keys
    if keys is None:
        return []
    animated = animated_paths(keys)
    parts = animation_parts(keys, waiting)
    needed = _acting_keys(obj, keys, animated)
    for block in keys.key_blocks:
        if block.name not in needed:
            continue
        array = np.empty(len(block.data) * 3, np.float32)
        block.data.foreach_get("co", array)
        if len(needed) == 1 and np.array_equal(array, points):
            continue  # the basis alone, which is what the points are without keys
        parts += rna_parts(block, set(), animated, f'key_blocks["{block.name}"].')
        parts.append(array)
    return parts


def _acting_keys(obj: bpy.types.Object, keys: bpy.types.Key, animated: Collection[str]) -> set[str]:
    """Returns the names of the keys that a shape depends on, without those of constant value 0 and no other use."""
    if not keys.use_relative or obj.show_only_shape_key:
        return set(keys.key_blocks.keys())
    named = obj.sinew.flexed_shape
    acting = [
        block
        for block in keys.key_blocks
        if block.value != 0.0 or block.name == named or f'key_blocks["{block.name}"].value' in animated
    ]
    return {keys.reference_key.name, *(each.name for each in acting), *(each.relative_key.name for each in acting)}


def _armature_parts(obj: bpy.types.Object, armature: bpy.types.Armature, waiting: list[bpy.types.ID]) -> Parts:
    animated, unmoved = animated_paths(obj), unmoved_values(obj)
    parts: Parts = [repr([_plain_value(bone.matrix_local) for bone in armature.bones]), armature.pose_position]
    parts.append(repr([[getattr(bone, name) for name in REST_BONE_PROPERTIES] for bone in armature.bones]))
    for bone in obj.pose.bones:
        path = f'pose.bones["{bone.name}"].'
        names = ("location", "rotation_mode", "rotation_quaternion", "rotation_euler", "rotation_axis_angle", "scale")
        for name in names:
            if path + name not in animated:
                value = unmoved[path + name] if path + name in unmoved else getattr(bone, name)
                parts.append(f"{path}{name}={_plain_value(value)}")
        for constraint in artist_constraints(bone):
            parts += rna_parts(
                constraint, set(), animated, f'{path}constraints["{constraint.name}"].', waiting, unmoved
            )
    return parts + animation_parts(armature, waiting)


def _inputs_of_nodes(modifier: bpy.types.Modifier, animated: set[str], waiting: list[bpy.types.ID]) -> Parts:
    if modifier.type != "NODES":
        return []
    path = f'modifiers["{modifier.name}"]'
    if not hasattr(modifier, "properties"):
        return _inputs_before_5_2(modifier, path, animated, waiting)
    parts: Parts = []
    for rna in modifier.properties.inputs.bl_rna.properties:
        if rna.type == "POINTER" and rna.identifier not in INTERFACE_PROPERTIES:
            socket = getattr(modifier.properties.inputs, rna.identifier)
            parts += rna_parts(socket, (), animated, f"{path}.properties.inputs.{rna.identifier}.", waiting)
    return parts


def _inputs_before_5_2(
    modifier: bpy.types.Modifier, path: str, animated: set[str], waiting: list[bpy.types.ID]
) -> Parts:
    parts: Parts = []
    for name in sorted(modifier.keys()):
        value = modifier[name]
        if isinstance(value, bpy.types.ID):
            waiting.append(value)
        if f'{path}["{name}"]' not in animated:
            parts.append(f"{name}={_plain_value(value)}")
    return parts


def _tree_parts(tree: bpy.types.NodeTree, waiting: list[bpy.types.ID]) -> Parts:
    animated = animated_paths(tree)
    parts = animation_parts(tree, waiting)
    for node in tree.nodes:
        path = f'nodes["{node.name}"].'
        parts += [node.bl_idname, *rna_parts(node, {"location", "width", "height", "color"}, animated, path, waiting)]
        for i, socket in enumerate(node.inputs):
            if hasattr(socket, "default_value") and f"{path}inputs[{i}].default_value" not in animated:
                parts.append(_plain_value(socket.default_value))
    return parts + [f"{link.from_socket.path_from_id()}>{link.to_socket.path_from_id()}" for link in tree.links]


def _plain_value(value: Any) -> str:
    if isinstance(value, bpy.types.ID):
        return name_at_first_bake(value, value.name_full)
    try:
        return repr([_plain_value(item) for item in value]) if not isinstance(value, str) else value
    except TypeError:
        return repr(value)
