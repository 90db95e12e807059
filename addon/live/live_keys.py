# SPDX-License-Identifier: GPL-3.0-or-later
"""The keys of a live run in the 3D view, which an artist can change in the Preferences.

All are J, the key of Sinew's pie menu. With Alt or Shift, Blender has it in Edit Mode of meshes alone, where nothing
runs live.
"""

from __future__ import annotations

from collections.abc import Iterator

import bpy

KEYMAP, SPACE, KEY = "3D View", "VIEW_3D", "J"
LIVE, PAUSE, STEP = "sinew.toggle_live", "sinew.pause_live", "sinew.step_live"
KEYS = (
    (LIVE, {"alt": True}),
    (PAUSE, {"shift": True}),
    (STEP, {"shift": True, "alt": True, "repeat": True}),
)


def key_items(config: bpy.types.KeyConfig | None) -> Iterator[tuple[bpy.types.KeyMap, bpy.types.KeyMapItem]]:
    """Yields the keys in a configuration, with their keymap; none without a window manager's."""
    keymap = None if config is None else config.keymaps.get(KEYMAP)
    names = {operator for operator, _ in KEYS}
    for item in () if keymap is None else keymap.keymap_items:
        if item.idname in names:
            yield keymap, item


def key_text(config: bpy.types.KeyConfig | None, operator: str) -> str:
    """Returns the key of an operator as the artist has set it, such as "Shift J"; "" where it has none."""
    found = (item for _, item in key_items(config) if item.idname == operator and item.active)
    return next((item.to_string() for item in found), "")


def register() -> None:
    """Adds the keys to those of add-ons."""
    config = bpy.context.window_manager.keyconfigs.addon
    if config is not None:  # there is none in some Blenders without a window
        keymap = config.keymaps.new(name=KEYMAP, space_type=SPACE)
        for operator, modifiers in KEYS:
            keymap.keymap_items.new(operator, KEY, "PRESS", **modifiers)


def unregister() -> None:
    """Takes them away."""
    for keymap, item in list(key_items(bpy.context.window_manager.keyconfigs.addon)):
        keymap.keymap_items.remove(item)
