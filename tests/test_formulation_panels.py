# SPDX-License-Identifier: GPL-3.0-or-later
"""The menu of methods under Advanced: what it says, which switches it shows, when it can be changed."""

from __future__ import annotations

from pathlib import Path

import pytest

bpy = pytest.importorskip("bpy")

from fixtures.blender_scenes import add_box, fresh, link_object
from fixtures.flesh_objects import flesh
from sinew.addon.baking import bake_status
from sinew.addon.baking.bake_status import Status
from sinew.addon.export.formulation import FEATURE_PROPERTIES, FORMULATION_PROPERTIES, PROPERTY_PREFIX
from sinew.addon.objects import roles
from sinew.addon.panels import formulation_layout, panels
from sinew.addon.properties import material_preset_filling
from sinew.solver.scene import formulation as method
from sinew.solver.scene.formulation import (
    FORMULATION_LABELS,
    FORMULATION_SWITCHES,
    FORMULATIONS,
    FormulationSettings,
    unsupported_features,
)
from sinew.solver.scene.material_presets import MATERIAL_PRESETS
from test_addon import context_of, drawn

NUMBERS = {name.upper().replace("-", "_"): number for number, name in enumerate(FORMULATIONS)}


def body() -> bpy.types.Object:
    fresh()
    obj = add_box(divisions=4)
    roles.make_body(obj)
    return obj


def test_the_menu_has_every_method_in_the_order_of_the_papers() -> None:
    own = body().sinew
    items = own.bl_rna.properties["formulation"].enum_items
    assert [(item.identifier, item.value) for item in items] == list(NUMBERS.items()), "as files have them"
    assert [item.name for item in items] == [FORMULATION_LABELS[name] for name in FORMULATIONS]
    assert own.bl_rna.properties["formulation"].name == "Method" and own.formulation == "POLAR"
    for item in items:
        assert item.description.startswith(("For ", "The one to begin with")), "says when to use it"
        assert len(item.description) < 170


def test_switches_are_those_of_the_solver_with_its_defaults() -> None:
    own = body().sinew
    assert FORMULATION_PROPERTIES == {
        rna.identifier for rna in own.bl_rna.properties if rna.identifier.startswith("formulation")
    }
    for switch, words in method.SWITCH_VALUES.items():
        rna = own.bl_rna.properties[PROPERTY_PREFIX + switch]
        assert [item.identifier.lower().replace("_", "-") for item in rna.enum_items] == list(words)
        assert [item.value for item in rna.enum_items] == list(range(len(words)))
        assert getattr(own, PROPERTY_PREFIX + switch) == words[0].upper().replace("-", "_")
    for switch in ("rotations_every", "keeps_momentum", "is_stale", "is_matrix_free", "one_step", "levels"):
        assert getattr(own, PROPERTY_PREFIX + switch) == getattr(FormulationSettings(), switch)
    assert own.bl_rna.properties["formulation_levels"].hard_max == method.MAX_REFINEMENTS


@pytest.mark.parametrize("name", FORMULATIONS)
def test_only_the_switches_of_the_chosen_method_are_shown_with_when_to_use_it(name: str) -> None:
    obj = body()
    obj.sinew.formulation = name.upper().replace("-", "_")
    layout = drawn(obj, "draw_advanced")
    assert [setting for _, setting in layout.drawn] == [
        "formulation",
        *(PROPERTY_PREFIX + s for s in FORMULATION_SWITCHES[name]),
    ]
    chosen = obj.sinew.bl_rna.properties["formulation"].enum_items[obj.sinew.formulation]
    assert chosen.description in " ".join(line.strip() for line in layout.lines)
    assert obj.sinew.formulation != "POLAR" or "begin with" in " ".join(layout.lines)


def test_flesh_says_where_its_law_is() -> None:
    fresh()
    obj = flesh()
    for motion in ("POSE", "JIGGLE"):
        obj.sinew.motion = motion
        layout = drawn(obj, "draw_advanced")
        assert not layout.drawn and formulation_layout.FLESH_WITHOUT_METHOD_NOTE in " ".join(layout.lines)
    obj.sinew.motion = "ELASTIC"
    assert drawn(obj, "draw_advanced").drawn


def test_what_out_of_hand_means_is_said_where_it_may_be() -> None:
    obj = body()
    own = obj.sinew
    found = [("GREEN", "one_step"), ("HYBRID", "one_step"), ("QR", "is_stale"), ("VERTEX_WARP", "rotation_field")]
    assert {PROPERTY_PREFIX + switch for _, switch in found} == set(formulation_layout.SWITCH_NOTES)
    for chosen, switch in found:
        own.formulation = chosen
        setting, told = formulation_layout.SWITCH_NOTES[PROPERTY_PREFIX + switch]
        assert told not in " ".join(drawn(obj, "draw_advanced").lines)
        setattr(own, PROPERTY_PREFIX + switch, setting)
        assert told in " ".join(drawn(obj, "draw_advanced").lines)
        own.property_unset(PROPERTY_PREFIX + switch)


def test_it_is_locked_while_baked(monkeypatch: pytest.MonkeyPatch) -> None:
    obj = body()
    obj.sinew.formulation = "GREEN"
    obj.sinew.use_plasticity = True
    for state in (Status(), Status("baking"), Status("baked", frame=8)):
        monkeypatch.setattr(bake_status, "status", lambda _, state=state: state)
        for part in ("draw_advanced", "draw_main"):
            layout = drawn(obj, part)
            assert layout.enabled_of("formulation") == (not state.is_locked), part
        assert drawn(obj, "draw_advanced").enabled_of("formulation_one_step") == (not state.is_locked)


def test_the_panel_is_closed_and_only_for_bodies() -> None:
    obj = body()
    plain = add_box("Plain")
    found = [p for p in panels.CLASSES if getattr(p, "bl_label", "") == "Advanced"]
    assert len(found) == 2, "in the Physics tab and in the sidebar"
    for panel in found:
        assert "DEFAULT_CLOSED" in panel.bl_options
        assert panel.poll(context_of(obj)) and not panel.poll(context_of(plain))


@pytest.mark.parametrize("name", FORMULATIONS)
def test_what_a_method_is_not_made_for_is_said_before_simulate(name: str) -> None:
    obj = body()
    own = obj.sinew
    own.formulation = name.upper().replace("-", "_")
    for feature, setting in FEATURE_PROPERTIES.items():
        setattr(own, setting, True)
        words = formulation_layout.INCOMPATIBLE_NOTE.format(method=FORMULATION_LABELS[name], feature=feature)
        layout = drawn(obj, "draw_main")
        clashes = feature in set(unsupported_features(FormulationSettings(name)))
        assert (words in " ".join(line.strip() for line in layout.lines)) == clashes
        assert ("formulation" in [setting for _, setting in layout.drawn]) == clashes, "to be changed there"
        setattr(own, setting, False)
    own.motion = "JIGGLE"
    assert "formulation" not in [setting for _, setting in drawn(obj, "draw_main").drawn]


def test_materials_leave_it_alone() -> None:
    own = body().sinew
    own.formulation, own.formulation_one_step = "HYBRID", True
    for key in MATERIAL_PRESETS:
        own.preset = key
        assert (own.formulation, own.formulation_one_step, own.preset) == ("HYBRID", True, key)
    own.formulation = "QR"
    assert own.preset == key and material_preset_filling.matches_preset(own), "and it leaves the material alone"


def test_nothing_of_it_can_be_keyed_and_all_of_it_can_be_overridden() -> None:
    own = body().sinew
    for name in FORMULATION_PROPERTIES:
        rna = own.bl_rna.properties[name]
        assert not rna.is_animatable and rna.is_overridable and rna.description, name


def test_it_can_be_changed_on_the_override_of_another_file(tmp_path: Path) -> None:
    body().name = "Jelly"
    bpy.ops.wm.save_as_mainfile(filepath=str(tmp_path / "jelly.blend"))
    fresh()
    made = link_object(tmp_path / "jelly.blend", "Jelly").override_create(remap_local_usages=True)
    made.sinew.formulation, made.sinew.formulation_rotation_field = "VERTEX_WARP", "EDGES"
    made.sinew.formulation_rotations_every, made.sinew.formulation_keeps_momentum = 5, False
    bpy.ops.wm.save_as_mainfile(filepath=str(tmp_path / "shot.blend"))
    bpy.ops.wm.open_mainfile(filepath=str(tmp_path / "shot.blend"))
    own = next(o for o in bpy.data.objects if o.library is None).sinew
    assert (own.formulation, own.formulation_rotation_field) == ("VERTEX_WARP", "EDGES")
    assert (own.formulation_rotations_every, own.formulation_keeps_momentum) == (5, False)


def test_tets_that_refinements_make_are_in_the_estimate() -> None:
    obj = body()
    plain = next(line for line in drawn(obj, "draw_tets").lines if line.startswith("About"))
    count = int(plain.split()[1].replace(",", ""))
    obj.sinew.formulation, obj.sinew.formulation_levels = "HIERARCHICAL", 2
    lines = drawn(obj, "draw_tets").lines
    assert lines[lines.index(f"About {count:,} tets") + 1] == f"Refined: {64 * count:,} tets"
    obj.sinew.motion = "JIGGLE"
    assert plain in drawn(obj, "draw_tets").lines


def test_names_beside_menus_fit_into_the_sidebar() -> None:
    """A menu cuts off the name inside it from 13 letters on, so its name is drawn beside it or above it."""
    obj = body()
    for switch in method.SWITCH_VALUES:
        readers = (name for name, read in FORMULATION_SWITCHES.items() if switch in read)
        obj.sinew.formulation = next(readers).upper().replace("-", "_")
        lines = drawn(obj, "draw_advanced").lines
        name = obj.sinew.bl_rna.properties[PROPERTY_PREFIX + switch].name
        assert lines[lines.index(name) + 1] == "", "the menu itself has no name"
