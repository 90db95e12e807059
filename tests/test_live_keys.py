# SPDX-License-Identifier: GPL-3.0-or-later
"""The keys of a live run, and what the status bar says of them."""

from __future__ import annotations

from pathlib import Path

import pytest

bpy = pytest.importorskip("bpy", reason="needs Blender's module")

import sinew
from fixtures.blender_scenes import fresh
from fixtures.live_in_blender import ended as ended  # a fixture
from fixtures.live_in_blender import jelly, started
from sinew.addon.live import key_hints, live_keys
from sinew.addon.operators import brush, grab
from test_pie_menu import load_keymaps


def test_the_keys_come_and_go_with_the_addon() -> None:
    fresh()
    config = bpy.context.window_manager.keyconfigs.addon
    found = {item.idname: item for _, item in live_keys.key_items(config)}
    assert set(found) == {live_keys.LIVE, live_keys.PAUSE, live_keys.STEP} and found[live_keys.STEP].repeat
    assert live_keys.key_text(config, live_keys.PAUSE) == "Shift J"
    assert all(hasattr(bpy.types, name.replace("sinew.", "SINEW_OT_")) for name in found)
    sinew.unregister()
    try:
        assert not list(live_keys.key_items(config))
    finally:
        sinew.register()
    assert len(list(live_keys.key_items(config))) == 3


@pytest.mark.parametrize("name", ["blender_default", "industry_compatible_data"])
def test_nothing_of_blender_has_the_keys_where_a_scene_can_run_live(name: str) -> None:
    module = load_keymaps(name)
    keymaps = {"3D View", "3D View Generic", "Object Mode", "Object Non-modal", "Pose", "Window", "Screen", "Frames"}
    content = {keymap: items["items"] for keymap, _, items in module.generate_keymaps(module.Params())}
    taken = [
        (keymap, operator)
        for keymap in keymaps & set(content)
        for operator, event, _ in content[keymap]
        if event["type"] == live_keys.KEY
        and any(
            all(bool(event.get(each)) == bool(wanted.get(each)) for each in ("shift", "alt", "ctrl", "oskey"))
            for _, wanted in live_keys.KEYS
        )
    ]
    assert keymaps & set(content) >= {"3D View", "Object Mode", "Pose"} and not taken


def test_the_tools_have_icons_of_blender_and_grab_has_a_hand_of_its_own() -> None:
    folder = Path(bpy.utils.system_resource("DATAFILES", path="icons"))
    tools = (*grab.TOOLS, *brush.TOOLS)
    assert all((folder / f"{tool.bl_icon}.dat").is_file() for tool in tools)
    assert {tool.bl_icon for tool in grab.TOOLS} == {"brush.uv_sculpt.grab"}


def test_the_status_bar_says_the_keys_of_the_tool_and_of_the_run() -> None:
    jelly()
    run, config = started(), bpy.context.window_manager.keyconfigs.addon
    text = key_hints.hints("sinew.soften_tool", run, config)
    assert text.startswith("LMB Soften   Ctrl Harden   F Radius") and text.endswith("Esc Stop Live")
    assert "Shift J Pause" in text and "J Step" in text
    run.is_paused = True
    text = key_hints.hints("builtin.select_box", run, config)
    assert text.startswith("Grab Live, Heat Gun, Soften Live: in the Toolbar") and "Shift J Go On" in text
    (item,) = [item for _, item in live_keys.key_items(config) if item.idname == live_keys.PAUSE]
    item.type = "Y"
    try:
        assert "Shift Y Go On" in key_hints.hints("", run, config), "as the artist has set it"
    finally:
        item.type = live_keys.KEY
