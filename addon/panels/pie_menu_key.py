# SPDX-License-Identifier: GPL-3.0-or-later
"""The key of the pie menu, which an artist can change in the Preferences, under Keymap or in those of Sinew."""

from __future__ import annotations

from collections.abc import Iterator

import bpy

from ..live import live_keys

# J, as in jelly, is free in Object Mode in both keymaps of Blender, 4.5 to 5.2
KEY, KEYMAP, OPERATOR, MENU = "J", "Object Mode", "wm.call_menu_pie", "SINEW_MT_pie"


def key_items(config: bpy.types.KeyConfig | None) -> Iterator[tuple[bpy.types.KeyMap, bpy.types.KeyMapItem]]:
    """Yields the keys of the pie menu in a configuration, with their keymap; none without a window manager's."""
    keymap = None if config is None else config.keymaps.get(KEYMAP)
    for item in () if keymap is None else keymap.keymap_items:
        if item.idname == OPERATOR and item.properties is not None and item.properties.name == MENU:
            yield keymap, item


def draw_key(layout: bpy.types.UILayout, config: bpy.types.KeyConfig) -> None:
    """Draws the keys, to be changed or switched off, as Preferences › Keymap draws them."""
    _draw_items(layout, config, "Pie Menu in Object Mode", key_items(config))
    _draw_items(layout, config, "Live in the 3D View", live_keys.key_items(config))


def _draw_items(
    layout: bpy.types.UILayout,
    config: bpy.types.KeyConfig,
    label: str,
    items: Iterator[tuple[bpy.types.KeyMap, bpy.types.KeyMapItem]],
) -> None:
    import rna_keymap_ui

    column = layout.column()
    column.use_property_split = False
    column.label(text=label)
    for keymap, item in items:
        column.context_pointer_set("keymap", keymap)
        rna_keymap_ui.draw_kmi([], config, keymap, item, column, 0)


def register() -> None:
    """Adds the key to those of add-ons."""
    config = bpy.context.window_manager.keyconfigs.addon
    if config is not None:  # there is none in some Blenders without a window
        keymap = config.keymaps.new(name=KEYMAP, space_type="EMPTY")
        keymap.keymap_items.new(OPERATOR, KEY, "PRESS").properties.name = MENU


def unregister() -> None:
    """Takes it away."""
    for keymap, item in list(key_items(bpy.context.window_manager.keyconfigs.addon)):
        keymap.keymap_items.remove(item)
