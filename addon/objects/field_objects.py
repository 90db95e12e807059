# SPDX-License-Identifier: GPL-3.0-or-later
"""Objects with a force field of Blender's: which of them act on bodies, and which do nothing. They need no role."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from types import MappingProxyType

import bpy

from ...solver.runtime.errors import SinewError
from . import roles

# Blender's identifier of a type of field → the kind of the solver
FIELD_KINDS: Mapping[str, str] = MappingProxyType(
    {
        "FORCE": "force",
        "WIND": "wind",
        "VORTEX": "vortex",
        "MAGNET": "magnetic",
        "HARMONIC": "harmonic",
        "CHARGE": "charge",
        "LENNARDJ": "lennardjones",
        "TEXTURE": "texture",
        "TURBULENCE": "turbulence",
        "DRAG": "drag",
    }
)
IDLE_KINDS: Mapping[str, str] = MappingProxyType(
    {"BOID": "Boid", "GUIDE": "Curve Guide", "FLUID_FLOW": "Fluid Flow"}
)  # with Blender's labels
TEXTURE_POINTS_ALONG = 64  # of the longest side of the grid that a texture is read on
MESH_SHAPES: Mapping[str, str] = MappingProxyType({"SURFACE": "Surface", "POINTS": "Every Point"})


def force_fields(scene: bpy.types.Scene) -> list[bpy.types.Object]:
    """Returns the objects of a scene whose force fields act on bodies, by name."""
    return sorted((obj for obj in _with_field(scene) if _problem(obj) is None), key=lambda obj: obj.name)


def acts_on(field: bpy.types.Object, body: bpy.types.Object) -> bool:
    """Whether a force field may act on a body: it is another object, in the body's Effector Collection if any."""
    collection = body.sinew.effector_collection
    return field != body and (collection is None or field in set(collection.all_objects))


def field_warnings(scene: bpy.types.Scene) -> Iterator[SinewError]:
    """Yields what an artist should know about force fields that do nothing, where there are bodies to act on."""
    for obj in sorted(_with_field(scene), key=lambda obj: obj.name):
        problem = _problem(obj)
        if problem is not None:
            yield problem
    for obj in sorted(_enabled_objects(scene), key=lambda obj: obj.name):
        settings = [system.settings for system in obj.particle_systems]
        if any(_is_on(own.force_field_1) or _is_on(own.force_field_2) for own in settings):
            yield SinewError("field-of-particles", name=obj.name)
    acting = force_fields(scene)
    for obj in acting:
        if obj.field.type == "TEXTURE":
            yield SinewError("texture-field-sampled", name=obj.name, count=TEXTURE_POINTS_ALONG)
    if acting:
        for body in roles.bodies(scene):
            if roles.is_flesh(body) and body.sinew.motion == "POSE":
                yield SinewError("field-on-posed-flesh", name=body.name)


def _problem(obj: bpy.types.Object) -> SinewError | None:
    """Returns why the field of an object does nothing; None where it acts."""
    field = obj.field
    if field.type in IDLE_KINDS:
        return SinewError("field-kind-idle", name=obj.name, field_type=IDLE_KINDS[field.type])
    if field.shape in MESH_SHAPES:
        lacks = "vertices" if field.shape == "POINTS" else "faces"
        if obj.type != "MESH" or not (obj.data.vertices if field.shape == "POINTS" else obj.data.polygons):
            return SinewError("field-without-mesh", name=obj.name, shape=MESH_SHAPES[field.shape], lacks=lacks)
    if field.type == "TEXTURE" and field.texture is None:
        return SinewError("field-without-texture", name=obj.name)
    return None


def _with_field(scene: bpy.types.Scene) -> Iterator[bpy.types.Object]:
    return (obj for obj in _enabled_objects(scene) if _is_on(obj.field) and obj.field.apply_to_location)


def _is_on(field: bpy.types.FieldSettings | None) -> bool:
    return field is not None and field.type != "NONE"


def _enabled_objects(scene: bpy.types.Scene) -> Iterator[bpy.types.Object]:
    """Yields the objects that are in the first view layer and not disabled in viewports, as Blender takes fields."""
    # until Blender updates the view layer, a deleted object is None there
    present = (obj for obj in scene.view_layers[0].objects if obj is not None)
    return (obj for obj in present if not obj.hide_viewport or obj.sinew.is_replaced)
