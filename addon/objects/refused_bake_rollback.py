# SPDX-License-Identifier: GPL-3.0-or-later
"""A scene as it was before an operator made bodies in it, to be restored where their bake is refused.

Sinew stores only names and session ids between two calls, so values that are data-blocks are left out; no operator that
uses this sets one.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

import bpy

from ..blender_data import rigid_body_world
from ..properties import material_preset_filling
from ..properties.friction_preset_filling import friction_presets
from ..properties.muscle_preset_filling import muscle_presets
from ..properties.sheet_preset_filling import sheet_presets

RESTORED_KINDS = {"BOOLEAN", "INT", "FLOAT", "STRING", "ENUM"}
MAX_PASSES = 2  # setting one value may change another by its callback


@dataclass(frozen=True)
class _ObjectSnapshot:
    """An object before.

    Attributes:
        values: Of those of Sinew's properties that were set, by name.
        modifiers: Identifiers of its modifiers.
    """

    values: dict[str, Any]
    modifiers: frozenset[int]


class SceneSnapshot:
    """The settings and modifiers of some objects, and which objects there are."""

    def __init__(self, scene: bpy.types.Scene, objects: Iterable[bpy.types.Object]) -> None:
        """Takes the state before the operator acts."""
        self._objects = {obj.session_uid: _ObjectSnapshot(_set_values(obj.sinew), _modifiers(obj)) for obj in objects}
        self._present = _uids(scene)
        self._new_objects: frozenset[int] = frozenset()
        self._new_modifiers: dict[int, frozenset[int]] = {}

    def note_additions(self, scene: bpy.types.Scene) -> None:
        """Notes what the operator has added, so that nothing goes that the artist adds later."""
        self._new_objects = _uids(scene) - self._present
        found = ((obj.session_uid, obj) for obj in scene.objects if obj.session_uid in self._objects)
        self._new_modifiers = {uid: _modifiers(obj) - self._objects[uid].modifiers for uid, obj in found}

    def restore(self) -> None:
        """Restores the objects that are still there, and removes those that the operator added."""
        for obj in list(bpy.data.objects):
            if obj.session_uid in self._new_objects:
                mesh = obj.data
                bpy.data.objects.remove(obj)
                if mesh is not None and not mesh.users:
                    bpy.data.meshes.remove(mesh)
            elif obj.session_uid in self._objects:
                for modifier in list(obj.modifiers):
                    if modifier.persistent_uid in self._new_modifiers.get(obj.session_uid, ()):
                        obj.modifiers.remove(modifier)
                before = self._objects[obj.session_uid].values
                if not before.get("is_out_of_world"):
                    rigid_body_world.give_back(obj)
                _restore_values(obj.sinew, before)


def _uids(scene: bpy.types.Scene) -> frozenset[int]:
    return frozenset(obj.session_uid for obj in scene.objects)


def _modifiers(obj: bpy.types.Object) -> frozenset[int]:
    return frozenset(modifier.persistent_uid for modifier in obj.modifiers)


def _restored_names(settings: bpy.types.PropertyGroup) -> list[str]:
    return [rna.identifier for rna in settings.bl_rna.properties if rna.type in RESTORED_KINDS and not rna.is_readonly]


def _set_values(settings: bpy.types.PropertyGroup) -> dict[str, Any]:
    return {name: _value(settings, name) for name in _restored_names(settings) if settings.is_property_set(name)}


def _value(settings: bpy.types.PropertyGroup, name: str) -> Any:
    value = getattr(settings, name)
    is_array = getattr(settings.bl_rna.properties[name], "is_array", False)
    return tuple(value) if is_array and not isinstance(value, str) else value


def _restore_values(settings: bpy.types.PropertyGroup, values: dict[str, Any]) -> None:
    for name in _restored_names(settings):
        if name not in values and settings.is_property_set(name):
            settings.property_unset(name)
    with material_preset_filling.filling, friction_presets, muscle_presets, sheet_presets:
        for _ in range(MAX_PASSES):
            for name, value in values.items():
                if _value(settings, name) != value:
                    setattr(settings, name, value)
