# SPDX-License-Identifier: GPL-3.0-or-later
"""Where several objects are selected, operators and settings act on all of them.

Blender applies an edit with Alt, and Copy to Selected, by the path of the property from each object; in a window,
tests/window/several_objects.py does both with the mouse.
"""

from __future__ import annotations

from pathlib import Path

import pytest

bpy = pytest.importorskip("bpy", reason="needs Blender's module")

from fixtures.blender_scenes import add_box, add_rig, fresh
from sinew.addon.blender_data import sinew_modifier
from sinew.addon.objects import roles, self_weight_collapse
from sinew.addon.panels import user_material_presets
from sinew.addon.properties.unit_proxies import proxies_of
from sinew.solver.scene.settings.tables import OBJECT_SETTINGS

PROXIES = [(setting, proxy) for setting in OBJECT_SETTINGS.values() for proxy in proxies_of(setting)]


@pytest.fixture
def three() -> list[bpy.types.Object]:
    """Returns three bodies, of which the first is active and the first two are selected."""
    fresh()
    made = [add_box(name) for name in ("A", "B", "C")]
    for obj in made:
        roles.make_body(obj)
    for obj in made:
        obj.select_set(obj is not made[2])
    bpy.context.view_layer.objects.active = made[0]
    return made


def select_vertices(obj: bpy.types.Object, height: float) -> None:
    """Selects the vertices above a height, and no edge or face, from which Blender would select others."""
    for items in (obj.data.edges, obj.data.polygons):
        items.foreach_set("select", [False] * len(items))
    for vertex in obj.data.vertices:
        vertex.select = vertex.co.z > height


@pytest.mark.parametrize(("setting", "proxy"), PROXIES, ids=[proxy.name for _, proxy in PROXIES])
def test_a_proxy_has_a_path_on_every_object_and_sets_what_it_shows(three, setting, proxy) -> None:
    """As Blender does it: the path from the active object, resolved and set on each selected one."""
    active, other, _ = three
    path = active.sinew.path_from_id(proxy.name)
    owner, _, name = path.rpartition(".")
    settings = other.path_resolve(owner)
    assert (path, settings) == (f"sinew.{proxy.name}", other.sinew)
    assert settings.bl_rna.properties[name] == active.sinew.bl_rna.properties[name], "Blender skips another property"
    assert not settings.is_property_readonly(name)
    before = getattr(active.sinew, setting.name)
    bounds = settings.bl_rna.properties[name]
    shown = min(max(7.0, bounds.hard_min), bounds.hard_max)
    setattr(settings, name, shown)
    assert getattr(other.sinew, setting.name) == pytest.approx(shown * proxy.factor)
    assert getattr(active.sinew, setting.name) == before


def test_what_is_too_soft_is_helped_on_all_selected(three: list[bpy.types.Object]) -> None:
    scene = bpy.context.scene
    for obj in three:
        obj.sinew.youngs_modulus = 100.0
        assert self_weight_collapse.collapses(obj, scene)
    bpy.ops.sinew.stiffen()
    assert [self_weight_collapse.collapses(obj, scene) for obj in three] == [False, False, True]
    for obj in three:
        obj.sinew.youngs_modulus = 100.0
    bpy.ops.sinew.stand_up()
    assert [obj.sinew.use_simulated_size for obj in three] == [True, True, False]


def test_tets_are_shown_on_all_selected(three: list[bpy.types.Object]) -> None:
    three[1].sinew.show_tets = True
    for wanted in (True, False):
        assert bpy.ops.sinew.show_tets() == {"FINISHED"}
        assert [obj.sinew.show_tets for obj in three] == [wanted, wanted, False]
    for obj in three:
        obj.select_set(False)
    bpy.ops.sinew.show_tets()
    assert [obj.sinew.show_tets for obj in three] == [True, False, False], "the active one, where none is selected"


def test_vertices_are_pinned_on_all_that_are_edited(three: list[bpy.types.Object]) -> None:
    for obj in three:
        select_vertices(obj, 0.9)
    bpy.ops.object.mode_set(mode="EDIT")
    assert [obj.mode for obj in three] == ["EDIT", "EDIT", "OBJECT"]
    assert bpy.ops.sinew.pin_selected() == {"FINISHED"}
    assert [obj.mode for obj in three] == ["EDIT", "EDIT", "OBJECT"]
    bpy.ops.object.mode_set(mode="OBJECT")
    assert [obj.sinew.pin_group for obj in three] == ["Pin", "Pin", ""]
    held = [[v.index for v in obj.data.vertices if any(g.weight == 1.0 for g in v.groups)] for obj in three]
    assert held[0] == held[1] == [v.index for v in three[0].data.vertices if v.co.z > 0.9] and not held[2]
    for obj in three:
        select_vertices(obj, 9.0)
    with pytest.raises(RuntimeError, match="A"):
        bpy.ops.sinew.pin_selected()


def test_sinew_moves_below_the_armature_on_all_selected_that_need_it(three: list[bpy.types.Object]) -> None:
    for obj in three:
        add_rig(obj)
    for obj in three:
        obj.modifiers.move(list(obj.modifiers).index(sinew_modifier.find_modifier(obj)), 0)
        obj.select_set(obj is not three[2])
    bpy.context.view_layer.objects.active = three[0]
    bpy.ops.sinew.move_below_armature()
    assert [bool(sinew_modifier.posing_modifiers_below(obj)) for obj in three] == [False, False, True]


def test_a_material_of_ones_own_goes_to_all_selected(
    three: list[bpy.types.Object], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(bpy.utils, "user_resource", lambda *_, path="", **__: str(tmp_path / path))
    (tmp_path / "presets" / user_material_presets.FOLDER).mkdir(parents=True)
    three[0].sinew.density = 1650.0
    bpy.ops.sinew.material_preset_add(name="Heavy")
    three[0].sinew.density = 900.0
    (saved,) = tmp_path.rglob("*.py")
    menu = user_material_presets.SINEW_MT_material_presets
    bpy.ops.script.execute_preset(filepath=str(saved), menu_idname=menu.bl_idname)
    assert [obj.sinew.density for obj in three][:2] == [1650.0, 1650.0] and three[2].sinew.density != 1650.0
    assert bpy.context.object == three[0]
