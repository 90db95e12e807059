# SPDX-License-Identifier: GPL-3.0-or-later
"""The pie menu: its slots, its key that nothing else in Object Mode has, and the menu of the Outliner."""

from __future__ import annotations

import importlib.util
from pathlib import Path
from types import ModuleType, SimpleNamespace

import pytest

bpy = pytest.importorskip("bpy", reason="needs Blender's module")

import sinew
from fixtures.blender_scenes import add_box, fresh
from fixtures.fake_layout import FakeLayout
from sinew.addon.baking import bake_status
from sinew.addon.panels import outliner_menu, pie_menu, pie_menu_key
from test_addon import context_of

SLOTS = 8
# of the 3D view in Object Mode, beside those of its tools
KEYMAPS = {"Window", "Screen", "Screen Editing", "Frames", "3D View", "3D View Generic", "Object Mode",
           "Object Non-modal", "Grease Pencil", "User Interface"}  # fmt: skip
MODIFIERS = ("any", "shift", "ctrl", "alt", "oskey")


def drawn_pie(obj: bpy.types.Object | None) -> FakeLayout:
    layout = FakeLayout()
    menu = SimpleNamespace(layout=layout)
    pie_menu.SINEW_MT_pie.draw(menu, context_of(obj))  # type: ignore[arg-type]
    return layout


def with_a_bake(monkeypatch: pytest.MonkeyPatch, **values: object) -> None:
    status = bake_status.Status(phase="baked", frame=8, **values)  # type: ignore[arg-type]
    monkeypatch.setattr(bake_status, "status", lambda _scene: status)


def test_a_new_mesh_can_become_what_it_needs_to_be() -> None:
    fresh()
    obj = add_box()
    names = [name for _, name in drawn_pie(obj).drawn]
    assert names[:2] == ["SINEW_MT_add", "sinew.simulate_selected"]
    assert {"sinew.make_body", "sinew.make_collider"} < set(names) and "sinew.delete_bake" not in names
    assert names[-1] == "sinew.new_take"


def test_no_slot_moves_when_a_bake_comes(monkeypatch: pytest.MonkeyPatch) -> None:
    fresh()
    obj = add_box()
    bpy.ops.sinew.make_body()
    before = drawn_pie(obj)
    with_a_bake(monkeypatch)
    after = drawn_pie(obj)
    assert len(before.slots) == len(after.slots) == SLOTS
    assert [a for a, b in zip(after.slots, before.slots, strict=True) if a != b] == ["sinew.delete_bake"]
    assert "Simulate Again" in after.lines


def test_what_cannot_be_done_is_grey(monkeypatch: pytest.MonkeyPatch) -> None:
    """Blender greys a slot whose operator polls False."""
    fresh()
    assert not any(poll() for poll in (bpy.ops.sinew.show_tets.poll, bpy.ops.sinew.copy_settings.poll))
    add_box()
    bpy.ops.sinew.make_body()
    assert bpy.ops.sinew.show_tets.poll() and bpy.ops.sinew.copy_settings.poll()
    assert not bpy.ops.sinew.new_take.poll(), "there is no bake to keep"
    with_a_bake(monkeypatch)
    assert bpy.ops.sinew.new_take.poll()


def test_a_running_bake_can_be_cancelled(monkeypatch: pytest.MonkeyPatch) -> None:
    fresh()
    obj = add_box()
    running = bake_status.Status(phase="baking", frame=3)
    monkeypatch.setattr(bake_status, "status", lambda _scene: running)
    assert "sinew.cancel" in drawn_pie(obj).slots


def load_keymaps(name: str) -> ModuleType:
    path = Path(bpy.utils.system_resource("SCRIPTS"), "presets", "keyconfig", "keymap_data", f"{name}.py")
    spec = importlib.util.spec_from_file_location(name, path)
    assert spec is not None and spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


@pytest.mark.parametrize("name", ["blender_default", "industry_compatible_data"])
def test_nothing_of_blender_has_the_key_in_object_mode(name: str) -> None:
    module = load_keymaps(name)
    found = []
    for keymap, _, content in module.generate_keymaps(module.Params()):
        if keymap in KEYMAPS or keymap.startswith("3D View Tool: Object"):
            for operator, event, _ in content["items"]:
                has_key = pie_menu_key.KEY in (event["type"], event.get("key_modifier"))
                if has_key and not any(event.get(each) for each in MODIFIERS[1:]):
                    found.append((keymap, operator))
    assert not found


def test_the_key_comes_and_goes_with_the_addon() -> None:
    config = bpy.context.window_manager.keyconfigs.addon
    (found,) = pie_menu_key.key_items(config)
    assert found[0].name == "Object Mode" and (found[1].type, found[1].value) == ("J", "PRESS")
    sinew.unregister()
    try:
        assert not list(pie_menu_key.key_items(config))
    finally:
        sinew.register()
    assert len(list(pie_menu_key.key_items(config))) == 1
    assert not list(pie_menu_key.key_items(None)), "some Blenders without a window have no configuration"


def test_the_preferences_draw_the_key(monkeypatch: pytest.MonkeyPatch) -> None:
    import rna_keymap_ui

    drawn = []
    monkeypatch.setattr(rna_keymap_ui, "draw_kmi", lambda _maps, _config, _keymap, item, *_: drawn.append(item.type))
    layout = FakeLayout()
    pie_menu_key.draw_key(layout, bpy.context.window_manager.keyconfigs.addon)  # type: ignore[arg-type]
    assert drawn == ["J"] * 4 and layout.lines == ["Pie Menu in Object Mode", "Live in the 3D View"]


def test_the_outliner_offers_what_acts_on_the_selection() -> None:
    fresh()
    obj = add_box()

    def drawn() -> list[str]:
        layout = FakeLayout()
        context = context_of(obj)
        context.view_layer = bpy.context.view_layer
        outliner_menu.SINEW_MT_outliner.draw(SimpleNamespace(layout=layout), context)  # type: ignore[arg-type]
        return layout.lines

    lines = drawn()
    assert (
        "Make Flesh" in lines
        and "Remove from Sinew" not in lines
        and not [line for line in lines if line.startswith("Select ")]
    )
    bpy.ops.sinew.make_body()
    lines = drawn()
    assert {"Remove from Sinew", "Select Bodies", "Copy Settings to Selected"} < set(lines)
    assert "Make Flesh" not in lines
