# SPDX-License-Identifier: GPL-3.0-or-later
"""Finds, adds, moves and removes Sinew's Mesh Cache modifier in the stack.

The modifiers above it are the input of the simulation; those below run on its result.
"""

from __future__ import annotations

import re

import bpy

from .override_saving import store_override_settings

MODIFIER_NAME = "Sinew"
SOLVED_MODIFIER_NAME = "Sinew Solved Frame"  # shows one frame, which no bake reads
LIVE_MODIFIER_NAME = "Sinew Live"  # shows a run, likewise
LIVE_MESH_MODIFIER_NAME = "Sinew Live Mesh"  # gives it the mesh that a tear has made of a body
PASSING_MODIFIER_NAMES = {SOLVED_MODIFIER_NAME, LIVE_MODIFIER_NAME}

# modifiers that refine, grow hair on or finish their input: they belong below
FINISHING_MODIFIERS = {
    "SUBSURF",
    "MULTIRES",
    "PARTICLE_SYSTEM",
    "PARTICLE_INSTANCE",
    "EXPLODE",
    "WEIGHTED_NORMAL",
    "NORMAL_EDIT",
}

# modifiers that refine the mesh: a breakable body needs them above, or cracks would show early, and one with Surface
# Detail, or its mesh would not be as fine as the dents
SUBDIVIDING_MODIFIERS = {"SUBSURF", "MULTIRES"}

# modifiers that pose the whole mesh: below Sinew's they would pose the simulated shape a second time
POSING_MODIFIERS = {
    "ARMATURE",
    "CLOTH",
    "CURVE",
    "HOOK",
    "LATTICE",
    "MESH_CACHE",
    "MESH_DEFORM",
    "MESH_SEQUENCE_CACHE",
    "SOFT_BODY",
    "SURFACE_DEFORM",
}


def find_modifier(obj: bpy.types.Object) -> bpy.types.MeshCacheModifier | None:
    """Returns Sinew's modifier of `obj`, also after it was renamed, or None."""
    caches = [m for m in obj.modifiers if m.type == "MESH_CACHE" and m.name not in PASSING_MODIFIER_NAMES]
    # library overrides get new identifiers at every load
    uid = 0 if obj.override_library else obj.sinew.modifier_uid
    tests = (
        lambda m: uid and m.persistent_uid == uid,
        lambda m: re.search(r"\.sinew/(pass-\d+/)?(play|wrap)/", m.filepath.replace("\\", "/")),
        lambda m: m.name == MODIFIER_NAME,
    )
    return next((m for test in tests for m in caches if test(m)), None)


def find_solved_modifier(obj: bpy.types.Object) -> bpy.types.MeshCacheModifier | None:
    """Returns the modifier of `obj` that shows a solved frame, or None."""
    return _find_passing(obj, SOLVED_MODIFIER_NAME)


def find_live_modifier(obj: bpy.types.Object) -> bpy.types.MeshCacheModifier | None:
    """Returns the modifier of `obj` that shows a live run, or None."""
    return _find_passing(obj, LIVE_MODIFIER_NAME)


def _find_passing(obj: bpy.types.Object, name: str) -> bpy.types.MeshCacheModifier | None:
    modifier = obj.modifiers.get(name)
    return modifier if modifier is not None and modifier.type == "MESH_CACHE" else None


def ensure_modifier(obj: bpy.types.Object) -> bpy.types.MeshCacheModifier:
    """Returns Sinew's modifier of `obj`; adds one that plays nothing yet, if there is none."""
    store_override_settings([obj])
    modifier = find_modifier(obj)
    if modifier is None:
        place = default_stack_index(obj)
        modifier = obj.modifiers.new(MODIFIER_NAME, "MESH_CACHE")
        modifier.cache_format = "PC2"
        modifier.show_expanded = False
        obj.modifiers.move(list(obj.modifiers).index(modifier), place)
    if obj.sinew.modifier_uid != modifier.persistent_uid:
        obj.sinew.modifier_uid = modifier.persistent_uid
    return modifier


def move_below_subdivision(obj: bpy.types.Object) -> None:
    """Moves the modifier of a body that needs the refined mesh below its last Subdivision, and stores where it was."""
    modifier = find_modifier(obj)
    if modifier is None or not _needs_refined_mesh(obj):
        return
    place, target = list(obj.modifiers).index(modifier), _index_below_subdivision(obj)
    if place < target - 1:
        obj.modifiers.move(place, target - 1)
        if list(obj.modifiers).index(modifier) != place:
            obj.sinew.place_before = place + 1


def restore_stack_index(obj: bpy.types.Object) -> None:
    """Moves the modifier back to its index before `move_below_subdivision`."""
    modifier = find_modifier(obj)
    if modifier is not None and obj.sinew.place_before:
        obj.modifiers.move(list(obj.modifiers).index(modifier), min(obj.sinew.place_before, len(obj.modifiers)) - 1)
    if obj.sinew.place_before:
        obj.sinew.place_before = 0


def _needs_refined_mesh(obj: bpy.types.Object) -> bool:
    return bool(obj.sinew.use_fracture or obj.sinew.use_surface_detail)


def _index_below_subdivision(obj: bpy.types.Object) -> int:
    """Returns how many modifiers there are up to the last Subdivision."""
    return max((i + 1 for i, modifier in enumerate(obj.modifiers) if modifier.type in SUBDIVIDING_MODIFIERS), default=0)


def remove_modifier(obj: bpy.types.Object) -> None:
    """Removes Sinew's modifier from the stack of `obj`, if it has one."""
    modifier = find_modifier(obj)
    if modifier is not None:
        obj.modifiers.remove(modifier)
    obj.sinew.modifier_uid = 0


def input_modifier_count(obj: bpy.types.Object) -> int:
    """Returns the number of modifiers above Sinew's modifier, or above its default index."""
    modifier = find_modifier(obj)
    return default_stack_index(obj) if modifier is None else list(obj.modifiers).index(modifier)


def posing_modifiers_below(obj: bpy.types.Object) -> list[bpy.types.Modifier]:
    """Returns the modifiers below Sinew's place that would pose the simulated mesh a second time."""
    below, own = list(obj.modifiers)[input_modifier_count(obj) :], find_modifier(obj)
    return [each for each in below if each.type in POSING_MODIFIERS and each != own and each.show_render]


def reset_stack_index(obj: bpy.types.Object) -> None:
    """Moves Sinew's modifier to its default index, below those that pose the mesh."""
    modifier = ensure_modifier(obj)
    place, target = list(obj.modifiers).index(modifier), default_stack_index(obj)
    obj.modifiers.move(place, target - 1 if target > place else target)


def default_stack_index(obj: bpy.types.Object) -> int:
    """Returns the index for Sinew's modifier: after those that pose, before those that refine or finish."""
    stack = list(obj.modifiers)
    posing = [i for i, m in enumerate(stack) if m.type in POSING_MODIFIERS and m.name not in PASSING_MODIFIER_NAMES]
    first = max(posing[-1] + 1 if posing else 0, _index_below_subdivision(obj) if _needs_refined_mesh(obj) else 0)
    for place in range(first, len(stack)):
        if stack[place].type in FINISHING_MODIFIERS or stack[place].use_pin_to_last:
            return place
    return len(stack)
