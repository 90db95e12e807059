# SPDX-License-Identifier: GPL-3.0-or-later
"""Writes the properties of Blender's data-blocks as text for digests; F-curves and drivers replace animated values."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping
from types import MappingProxyType
from typing import Any

import bpy
import numpy as np

from .animation_curves import action_curves
from .motion_track import animated_paths as animated_paths
from .motion_track import artist_actions, artist_curves, artist_tracks
from .names_at_first_bake import name_at_first_bake
from .sinew_modifier import SOLVED_MODIFIER_NAME

# whose rows may be animated: digests have the curves instead of the present values
KEYED_TABLES = {"muscle_heads", "attachments"}
# drivers of these are newer than digests without the values that drivers read
PATHS_WITH_VALUES = ("sinew.activation", "sinew.muscle_", "sinew.attachments")
Parts = list[bytes | str | np.ndarray]
NOTHING_MOVED: Mapping[str, Any] = MappingProxyType({})

# the targets of an Armature constraint, and the tables of settings with those in their rows
TABLES = {"softening", "attachments", "muscle_heads", "via_points", "response_points", "activation_poses", "rotations"}
ITEM_COLLECTIONS = {"targets", *TABLES}

# curves and drivers of these only affect the display
VISIBILITY_PATHS = {"hide_viewport", "hide_render"}

# properties of the interface, which no result depends on
INTERFACE_PROPERTIES = {
    "rna_type", "name", "name_full", "show_expanded", "show_in_editmode", "show_on_cage", "is_active", "select",
    "use_pin_to_last", "use_fake_user", "tag", "show_instancer_for_viewport", "active_index", "execution_time",
    "is_embedded_data", "is_missing", "is_editable", "is_runtime_data", "session_uid", "persistent_uid", "color_tag",
    "color", "use_custom_color", "hide", "mute_preview", "preview", "asset_data", "library", "override_library",
    "show_options", "show_preview", "show_texture", "warning_propagation", "location_absolute", "slider_min",
    "slider_max", "lock_shape", "open_data_block_inputs_panel", "open_manage_panel", "open_output_attributes_panel",
    "open_bake_data_blocks_panel", "open_named_attributes_panel", "open_warnings_panel", "open_bake_panel",
}  # fmt: skip


def rna_parts(
    struct: bpy.types.bpy_struct,
    skipped: Collection[str],
    animated: Collection[str],
    path: str,
    waiting: list[bpy.types.ID] | None = None,
    unmoved: Mapping[str, Any] = NOTHING_MOVED,
) -> Parts:
    """Returns "path=value" of all writable properties of `struct` that are neither `skipped` nor animated.

    Adds the data-blocks that it points to to `waiting`. Values in `unmoved`, by data path, replace present ones.
    """
    parts: Parts = []
    for rna in struct.bl_rna.properties:
        name = rna.identifier
        if name in INTERFACE_PROPERTIES or name in skipped or path + name in animated:
            continue
        if rna.type == "POINTER":
            target = getattr(struct, name)
            if isinstance(target, bpy.types.ID) and target != struct.id_data:
                parts.append(f"{path}{name}={name_at_first_bake(target, target.name_full)}")
                if waiting is not None:
                    waiting.append(target)
        elif rna.type == "COLLECTION":
            parts += _items(struct, name, animated, path, waiting)
        elif not rna.is_readonly:
            value = unmoved[path + name] if path + name in unmoved else getattr(struct, name)
            parts.append(f"{path}{name}={_value_text(rna, value)}")
    return parts


def _items(
    struct: bpy.types.bpy_struct,
    name: str,
    animated: Collection[str],
    path: str,
    waiting: list[bpy.types.ID] | None,
) -> Parts:
    """Returns the targets of an Armature constraint and the rows of a table, but no other collections."""
    parts: Parts = []
    for i, item in enumerate(getattr(struct, name) if name in ITEM_COLLECTIONS else ()):
        start = f"{path}{name}[{i}]."
        keyed = [each.removeprefix(start) for each in animated if name in KEYED_TABLES and each.startswith(start)]
        parts += rna_parts(item, keyed, (), f"{path}{name}.{i}.", waiting)
    return parts


def _value_text(rna: bpy.types.Property, value: object) -> str:
    if getattr(rna, "is_array", False) and rna.type != "STRING":
        return repr(np.array(value).tolist())
    return repr(sorted(value)) if isinstance(value, set) else repr(value)


def stepped_paths(item: bpy.types.ID) -> set[str]:
    """Returns the data paths of `item` whose values hold from key to key: all keys have constant interpolation.

    What NLA strips set has no steps: strips may fade in and out.
    """
    data = item.animation_data
    if data is None:
        return set()
    curves = [curve for action, slot in artist_actions(data) for curve in action_curves(action, slot)]
    moving = {curve.data_path for curve in [*data.drivers, *curves] if not _is_stepped(curve)}
    return {curve.data_path for curve in curves} - moving - strip_paths(item)


def strip_paths(item: bpy.types.ID) -> set[str]:
    """Returns the data paths of `item` that playing NLA strips set: neither muted nor beside a solo track."""
    data = item.animation_data
    tracks = [track for track in artist_tracks(data) if not track.mute] if data is not None and data.use_nla else []
    tracks = [track for track in tracks if track.is_solo] or tracks
    return {curve.data_path for track in tracks for curve in _playing_curves(track.strips)}


def _playing_curves(strips: Iterable[bpy.types.NlaStrip]) -> Iterator[bpy.types.FCurve]:
    for strip in strips:
        if not strip.mute:
            yield from action_curves(strip.action, strip.action_slot)
            yield from _playing_curves(strip.strips)  # those of a meta strip


def _is_stepped(curve: bpy.types.FCurve) -> bool:
    points = curve.keyframe_points
    return len(points) > 0 and not len(curve.modifiers) and all(p.interpolation == "CONSTANT" for p in points)


def animation_parts(item: bpy.types.ID, waiting: list[bpy.types.ID]) -> Parts:
    """Returns the animation of `item` as text. Adds the objects that drivers read to `waiting`."""
    data = item.animation_data
    if data is None:
        return []
    parts: Parts = []
    for curve in artist_curves(data):
        parts += _curve_parts(curve) if not _affects_display_only(curve.data_path) else []
    for driver in (curve for curve in data.drivers if not _affects_display_only(curve.data_path)):
        parts += [*_curve_parts(driver), driver.driver.type, driver.driver.expression]
        for variable in driver.driver.variables:
            parts += [variable.name, variable.type]
            for target in variable.targets:
                parts += [target.data_path, target.bone_target, target.transform_type, target.transform_space]
                if target.id is not None and target.id != item:
                    parts.append(name_at_first_bake(target.id, target.id.name_full))
                    waiting.append(target.id)
                if driver.data_path.startswith(PATHS_WITH_VALUES):
                    parts.append(_still_value(target))
    for track in artist_tracks(data):
        parts.append(f"{track.mute} {track.is_solo}")
        for strip in track.strips:
            parts += rna_parts(strip, {"influence", "strip_time"}, (), "")
    return parts


def _affects_display_only(path: str) -> bool:
    """Whether a data path is of what no bake reads."""
    return path in VISIBILITY_PATHS or path.startswith(f'modifiers["{SOLVED_MODIFIER_NAME}"]')


def _still_value(target: bpy.types.DriverTarget) -> str:
    """Returns the value that a driver reads where nothing animates it, such as that of a flex control without keys."""
    if target.id is None or target.data_path in animated_paths(target.id):
        return ""
    try:
        return repr(target.id.path_resolve(target.data_path))
    except ValueError:  # no such property: the driver does nothing
        return ""


def _curve_parts(curve: bpy.types.FCurve) -> Parts:
    points = curve.keyframe_points
    parts: Parts = [f"{curve.data_path}[{curve.array_index}] {curve.mute} {curve.extrapolation}"]
    for name, width in (("co", 2), ("handle_left", 2), ("handle_right", 2)):
        array = np.empty(len(points) * width, np.float32)
        points.foreach_get(name, array)
        parts.append(array)
    parts += [f"{p.interpolation} {p.easing} {p.amplitude} {p.back} {p.period}" for p in points]
    for modifier in curve.modifiers:
        parts += rna_parts(modifier, (), (), "")
    return parts
