# SPDX-License-Identifier: GPL-3.0-or-later
"""Which of Sinew's settings a bake reads: those of the object's roles that count, by the tables of settings."""

from __future__ import annotations

from collections.abc import Collection, Iterable

import bpy

from ...solver.scene.settings.flesh_settings import FORMER_FLESH_PAINTS, IS_FLESH, POSE
from ...solver.scene.settings.plasticity_settings import IS_PLASTIC
from ...solver.scene.settings.rigid_body_settings import USE_RIGID_BODY
from ...solver.scene.settings.setting import CHOICES, COLLECTION, MATERIAL, OBJECT, TABLE, VECTOR, Setting, When
from ...solver.scene.settings.tables import SCENE_SETTINGS, settings_of_role
from ...solver.scene.settings.tet_settings import IS_MESHED
from ..objects.rigid_body_settings import SETTINGS_OF_BLENDER, counting_rigid_body
from ..properties.role_definitions import BODY
from . import formulation

# Sinew 0.2.0 put these into the digest even where they do not count. Without them its bakes would seem out of date
DIGEST_CONDITIONS: dict[str, tuple[When, ...]] = {
    "divisions": (IS_MESHED,),
    "tet_size": (IS_MESHED,),
    "interior_size": (IS_MESHED,),
    "simulated_size": (),
    "initial_velocity": (),
    "pin_stiffness": (),
    "hardening": (IS_PLASTIC,),
    "collider_sides": (),
}
# Sinew 0.2.0 read these where the condition holds; elsewhere they are settings that came later
EARLIER_CONDITIONS = {setting.name: IS_FLESH for setting in FORMER_FLESH_PAINTS}
# the digest has the content of the file of tets and the keys of bodies instead of these
REPLACED_SETTINGS = {"tets_path", "bone_body", "attachments", "wrap"}


def unread_settings(obj: bpy.types.Object, roles: Collection[str]) -> set[str]:
    """Returns the properties of an object that a bake does not read where it takes part with some of its roles."""
    settings = obj.sinew
    read = {s.name for role in roles for s in settings_of_role(role) if _is_in_digest(settings, s)} - REPLACED_SETTINGS
    read |= {"role", "extra_roles"} if settings.extra_roles else {"role"}
    if BODY in roles:
        read -= formulation.unread_properties(settings)
    if counting_rigid_body(obj) is not None:
        read -= SETTINGS_OF_BLENDER
    elif obj.rigid_body is None:
        read.discard(USE_RIGID_BODY.name)
    return {p.identifier for p in settings.bl_rna.properties} - read


def unread_scene_settings(scene: bpy.types.Scene, bodies: Iterable[bpy.types.Object] | None = None) -> set[str]:
    """Returns the properties of the scene that a bake does not read, of some bodies or of all."""
    settings = scene.sinew
    chosen = [o for o in (scene.objects if bodies is None else bodies) if o.sinew.role == BODY]
    motions, has_heat = {o.sinew.motion for o in chosen}, any(o.sinew.use_heat for o in chosen)
    read = {s.name for s in SCENE_SETTINGS.values() if _is_in_digest(settings, s)}
    read -= set() if has_heat else {"air_temperature"}
    read -= set() if POSE in motions else {"pose_tolerance", "pose_iterations"}
    return {p.identifier for p in settings.bl_rna.properties} - read


def _is_in_digest(settings: bpy.types.PropertyGroup, setting: Setting) -> bool:
    conditions = DIGEST_CONDITIONS.get(setting.name, setting.when)
    return (
        setting.changes_bake
        and all(condition.holds(lambda name: getattr(settings, name)) for condition in conditions)
        and not (_is_later(settings, setting) and _has_default(settings, setting))
    )


def _is_later(settings: bpy.types.PropertyGroup, setting: Setting) -> bool:
    """Whether 0.2.0 did not read a setting of such an object."""
    earlier = EARLIER_CONDITIONS.get(setting.name)
    return bool(setting.since) or not (earlier is None or earlier.holds(lambda name: getattr(settings, name)))


def _has_default(settings: bpy.types.PropertyGroup, setting: Setting) -> bool:
    """Whether a setting has its default value, as in every file of an earlier version."""
    value = getattr(settings, setting.name)
    if setting.kind == TABLE:
        return not len(value)
    if setting.kind in (OBJECT, COLLECTION, MATERIAL):
        return value is None
    if setting.kind == TABLE:
        return not len(value)
    rna = settings.bl_rna.properties[setting.name]
    if setting.kind == VECTOR:
        return list(value) == list(rna.default_array)
    return bool(value == (rna.default_flag if setting.kind == CHOICES else rna.default))
