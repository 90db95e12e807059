# SPDX-License-Identifier: GPL-3.0-or-later
"""What the panels say about flow, heat and fracture, and what of it can be changed when."""

from __future__ import annotations

import json
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pytest

bpy = pytest.importorskip("bpy")

from fixtures.blender_scenes import add_box, add_mesh, fresh, write_cache
from fixtures.fake_layout import PROXIES, FakeLayout
from sinew.addon.baking import bake_status, frame_report_reader
from sinew.addon.baking.bake_status import Status
from sinew.addon.baking.frame_report_reader import BodyReport
from sinew.addon.cache import cache_folder_status
from sinew.addon.objects import mesh_defects, new_role_objects, roles
from sinew.addon.overlays import heat_source_overlay
from sinew.addon.panels import panels, role_menus
from sinew.addon.panels.property_rows import BLENDER_UNITS, SETTINGS, label_with_unit
from sinew.addon.properties import softening_table_editing
from sinew.addon.runtime.quantity_text import stress_text
from sinew.solver.scene.settings.tables import SCENE_SETTINGS
from test_addon import drawn

PARTS = ("draw_plasticity", "draw_heat", "draw_fracture", "draw_attributes", "draw_heat_source")


def body() -> bpy.types.Object:
    obj = add_box()
    roles.make_body(obj)
    own = obj.sinew
    own.use_plasticity = own.use_heat = own.use_fracture = True
    return obj


def test_every_setting_stands_in_a_panel() -> None:
    fresh()
    obj = body()
    obj.sinew.use_toughness = True
    names = {name for _, name in drawn(obj, *PARTS).drawn}
    unseen = {"use_plasticity", "use_heat", "use_fracture", "softening_index"}
    for group in type(obj.sinew).__mro__:
        if group.__name__ in {
            "PlasticityProperties",
            "HeatProperties",
            "FractureProperties",
            "ResultProperties",
            "HeatSourceProperties",
        }:
            assert set(group.__annotations__) - unseen - set(PROXIES) <= names, group
    assert "air_temperature" in names


def test_a_brittle_body_has_what_acts_on_it_and_its_pieces(tmp_path: Path) -> None:
    scene = fresh()
    obj = body()
    obj.sinew.motion = "BRITTLE"
    layout = drawn(obj, "draw_fracture")
    names = {name for _, name in layout.drawn}
    assert {"breaking_stress", "scatter", "wanted_pieces", "makes_dust", "most_pieces"} <= names
    assert not {"crack_advances", "most_splits"} & names
    assert not any("known once it is baked" in line for line in layout.lines)
    scene.sinew.cache_path = str(tmp_path / "c.sinew")
    write_cache(tmp_path / "c.sinew", {"Box": np.zeros((3, len(obj.data.vertices), 3))})
    report = tmp_path / "c.sinew" / "report.jsonl"
    for count, words in ((1.0, "In one piece so far"), (7.0, "It has broken into 7 pieces")):
        line = json.dumps({"frame": 1, "bodies": {"Box": {"pieces": count, "dust": 2.0}}})
        report.write_text(line + "\n")
        cache_folder_status.invalidate()
        assert words in drawn(obj, "draw_fracture").lines
    obj.sinew.method = "SHEET"
    assert {"crack_advances", "most_splits"} <= {name for _, name in drawn(obj, "draw_fracture").drawn}


def test_units_stand_beside_the_names() -> None:
    scene = fresh()
    obj = body()
    lines = drawn(obj, *PARTS).lines
    for name in ("flow", "temperature", "conductivity", "heat_capacity", "heat_exchange", "melting_point"):
        assert f"{SETTINGS[name].label} ({SETTINGS[name].unit})" in lines
    assert {"Breaking Stress (kPa)", "Toughness (Pa √m)", "Air Temperature (°C)"} <= set(lines)
    for name, setting in SETTINGS.items():
        group = scene.sinew if name in SCENE_SETTINGS else obj.sinew
        description = group.bl_rna.properties[name].description
        assert not setting.unit or f"[{setting.unit}]" in description, name
        if setting.unit in BLENDER_UNITS:
            assert label_with_unit(group, name) == setting.label, "Blender shows the unit itself"
    assert label_with_unit(obj.sinew, "yield_strain") == "Yield Strain"


def test_settings_are_locked_while_baked_but_not_what_is_made_of_a_bake(monkeypatch: pytest.MonkeyPatch) -> None:
    fresh()
    obj = body()
    for state in (Status(), Status("baking"), Status("finishing"), Status("baked", frame=8)):
        monkeypatch.setattr(bake_status, "status", lambda _, state=state: state)
        layout = drawn(obj, *PARTS)
        for name in ("yield_strain", "melting_point", "softening", "breaking_stress", "attributes", "source_radius"):
            assert layout.enabled_of(name) == (not state.is_locked), name
        assert layout.enabled_of("broken_material") and layout.enabled_of("separate_pieces")
        assert layout.enabled_of("sinew.add_heat_source") == (not state.is_running)


def test_headers_have_switches() -> None:
    fresh()
    found = {p.bl_label: p for p in panels.CLASSES if getattr(p, "draw_header", None) and "physics" in p.bl_idname}
    names = {"Plasticity", "Surface Detail", "Heat", "Fracture", "Rigid Core", "Goal", "Pressure", "Stretch Limit"}
    assert set(found) == names | {"Muscle"}


def test_the_largest_stress_stands_beside_the_breaking_stress(tmp_path: Path) -> None:
    scene = fresh()
    obj = body()
    assert any("known once it is baked" in line for line in drawn(obj, "draw_fracture").lines)
    scene.sinew.cache_path = str(tmp_path / "c.sinew")
    write_cache(tmp_path / "c.sinew", {"Box": np.zeros((3, len(obj.data.vertices), 3))})
    told = [
        {"largest_stress": 1.0e4, "pieces": 1.0, "splits": 0.0, "splits_left": 0.0},
        {"largest_stress": 2.5e4, "pieces": 1.0, "splits": 3.0, "splits_left": 4.0},
        {"largest_stress": 2.5e4, "pieces": 2.0, "splits": 1234.0, "splits_left": 0.0},
    ]
    report = tmp_path / "c.sinew" / "report.jsonl"
    rest = {"coldest": 20.0, "hottest": 61.25, "largest_plastic_strain": 0.125}
    lines = [json.dumps({"frame": i + 1, "bodies": {"Box": told[i] | rest}}) + "\n" for i in range(3)]
    report.write_text(lines[0] + lines[1][:20])
    cache_folder_status.invalidate()
    obj.sinew.breaking_stress = 1.0e5
    assert "10 kPa, 10 % of Breaking Stress" in " ".join(drawn(obj, "draw_fracture").lines)
    obj.sinew.breaking_stress = 5.0e3
    assert "10 kPa, above the 5 kPa it bears" in " ".join(drawn(obj, "draw_fracture").lines)
    report.write_text("".join(lines[:2]))
    layout = drawn(obj, "draw_fracture")
    assert "It has cracked" in layout.lines and "of Breaking Stress" not in " ".join(layout.lines)
    button = next(button for name, button in layout.buttons if name == "sinew.explain_note")
    assert "25 kPa, above the 5 kPa it bears. 3 points split" in button.measured
    report.write_text("".join(lines))
    words = " ".join(drawn(obj, "draw_fracture").lines)
    assert "It has broken into 2 pieces" in words and "held cracks back in 1 frame" in words
    assert "20 to 61.25 °C at the last frame" in drawn(obj, "draw_heat").lines
    assert "Largest plastic strain so far: 0.125" in drawn(obj, "draw_plasticity").lines


def test_a_report_is_read_on_from_where_it_was_and_anew_when_it_is_another(tmp_path: Path) -> None:
    report = tmp_path / "report.jsonl"
    assert frame_report_reader.reports(tmp_path) == {}

    def line(stress: float) -> str:
        return json.dumps({"bodies": {"a": {"largest_stress": stress, "splits_left": 1}}}) + "\n"

    report.write_text(line(2.0) + "broken\n" + json.dumps({"frame": 3}) + "\n")
    assert frame_report_reader.reports(tmp_path)["a"] == BodyReport(2.0, frames_held=1)
    with open(report, "a") as file:
        file.write(line(1.0) + line(3.0))
    assert frame_report_reader.reports(tmp_path)["a"] == BodyReport(3.0, frames_held=3)
    report.write_text(line(0.5))
    assert frame_report_reader.reports(tmp_path)["a"] == BodyReport(0.5, frames_held=1)
    report.write_text(line(0.1) + line(0.2))  # a longer one under the same number of the file
    assert frame_report_reader.reports(tmp_path)["a"] == BodyReport(0.2, frames_held=2)


def test_the_panel_says_what_cannot_be_and_offers_a_way() -> None:
    fresh()
    obj = body()
    assert mesh_defects.mesh_defects(obj) is None
    sheet = add_mesh("Sheet", np.array([[0, 0, 0], [1, 0, 0], [1, 1, 0], [0, 1, 0]]), [[0, 1, 2, 3]])
    roles.make_body(sheet)
    assert not any("could not be closed" in line for line in drawn(sheet, "draw_fracture").lines)
    sheet.sinew.use_fracture = True
    layout = drawn(sheet, "draw_fracture")
    assert any(line.startswith("4 open edges: pieces of this mesh") for line in layout.lines)
    assert "sinew.remesh_closed" in [name for _, name in layout.drawn]
    assert "sinew.remesh_closed" in [name for _, name in drawn(sheet).drawn], "its panel may be closed"
    sheet.modifiers.new("Solidify", "SOLIDIFY")
    sheet.modifiers.move(1, 0)
    assert "sinew.remesh_closed" not in [name for _, name in drawn(sheet, "draw_fracture").drawn]
    sheet.sinew.use_plasticity, sheet.sinew.use_heat = False, True
    assert any("takes no new shape" in line for line in drawn(sheet, "draw_heat").lines)
    assert "Bodies with Fracture get Robust tets" in drawn(sheet, "draw_tets").lines


def test_rows_out_of_order_get_a_button() -> None:
    fresh()
    obj = body()

    def has_button() -> bool:
        return "sinew.sort_softening" in [name for _, name in drawn(obj, "draw_heat").drawn]

    assert not has_button()
    softening_table_editing.write_rows(obj.sinew.softening, np.array([[20.0, 1, 1, 1], [60.0, 1, 1, 1]]))
    assert not has_button()
    obj.sinew.softening[1].temperature = 20.0
    assert has_button()


def test_panels_of_heat_sources() -> None:
    fresh()
    source = new_role_objects.add_heat_source(bpy.context)
    lines = drawn(source, "draw_heat_source").lines
    assert {"Temperature (°C)", "Radius", "Heat Transfer (W/(m² K))"} <= set(lines)
    assert "Heat Source: Heat Source" in drawn(source).lines
    roles.clear_role(source)
    assert "Simulate" not in drawn(source).lines and offered_roles(source) == ["make_heat_source"]


@pytest.mark.parametrize(
    ("value", "words"),
    [(0.0, "0 Pa"), (12.34, "12.3 Pa"), (999.9, "1 kPa"), (4.5e7, "45 MPa"), (7.0e10, "70 GPa"), (123456.0, "123 kPa")],
)
def test_stresses_are_readable(value: float, words: str) -> None:
    assert stress_text(value) == words


def test_the_reach_of_heat_sources_is_drawn_at_its_true_size() -> None:
    fresh()
    source = new_role_objects.add_heat_source(bpy.context)
    source.sinew.source_radius, source.scale = 0.5, (2.0, 2.0, 2.0)
    source.location = (1.0, 2.0, 3.0)
    cube = add_box("Iron", divisions=1, height=1.0)
    roles.make_heat_source(cube)
    cube.sinew.source_radius, cube.scale = 0.25, (3.0, 1.0, 1.0)
    bpy.context.view_layer.update()
    depsgraph = bpy.context.evaluated_depsgraph_get()
    rings = heat_source_overlay.reach_lines(source, source.evaluated_get(depsgraph))
    assert np.allclose(np.linalg.norm(rings - [1.0, 2.0, 3.0], axis=2), 0.5, atol=1e-6)
    grown = heat_source_overlay.reach_lines(cube, cube.evaluated_get(depsgraph))
    corners = np.array([1.5, 0.5, 0.5])
    assert grown.shape == (12, 2, 3)
    assert np.allclose(np.linalg.norm(np.abs(grown) - corners, axis=2), 0.25, atol=1e-5)
    edges = heat_source_overlay.box_lines(np.array([[0.0, 0, 0], [1, 1, 1]]), 0.5)
    assert len({frozenset(map(tuple, edge)) for edge in edges.round(6).tolist()}) == 12
    assert np.allclose(np.linalg.norm(edges[:, 1] - edges[:, 0], axis=1), 2.0)


def test_the_names_for_materials_are_said() -> None:
    fresh()
    obj = body()
    assert not any("Attribute nodes" in line for line in drawn(obj, "draw_attributes").lines)
    obj.sinew.attributes = {"velocity", "stress"}
    lines = " ".join(drawn(obj, "draw_attributes").lines)
    assert "stress, world_velocity" in lines and "Alembic" in lines


@pytest.mark.parametrize(
    ("stiffness", "strength", "words"), [(7.0e10, 4.5e7, "0.064 %"), (1.0e6, 1.5e6, "150 %"), (5.0e3, 1.0e5, "2,000 %")]
)
def test_the_stretch_that_breaks_is_said(stiffness: float, strength: float, words: str) -> None:
    fresh()
    obj = body()
    obj.sinew.youngs_modulus, obj.sinew.breaking_stress = stiffness, strength
    assert f"Reached by a stretch of {words}" in drawn(obj, "draw_fracture").lines


def offered_roles(obj: bpy.types.Object) -> list[str]:
    layout = FakeLayout()
    role_menus.draw_roles(layout, obj)
    return [name.removeprefix("sinew.") for _, name in layout.drawn]


def test_the_physics_tab_offers_what_suits_the_object() -> None:
    fresh()
    obj = body()
    box = add_box("Plain")
    source = new_role_objects.add_heat_source(bpy.context)
    roles.clear_role(source)
    broken = add_box("Broken")
    broken.sinew.result_of = obj

    def offered(one: bpy.types.Object) -> list[str]:
        layout = FakeLayout()
        panels.draw_add_button(SimpleNamespace(layout=layout), SimpleNamespace(object=one))
        return [name.removeprefix("sinew.") for _, name in layout.drawn]

    assert offered(obj) == ["remove"]
    assert offered(box) == offered(source) == ["SINEW_MT_make"]
    assert offered_roles(box) == [
        "make_body",
        "make_rigid",
        "make_flesh",
        "make_muscle",
        "make_bone",
        "make_collider",
        "make_heat_source",
    ]
    assert offered_roles(source) == ["make_heat_source"] and offered_roles(obj) == offered_roles(broken) == []
    assert offered(broken) == ["activate_body"]
