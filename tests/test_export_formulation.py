# SPDX-License-Identifier: GPL-3.0-or-later
"""The method of a body from the window to the scene, what makes a bake Out of Date, and what is refused."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

bpy = pytest.importorskip("bpy")

from fixtures.blender_scenes import add_box, fresh
from fixtures.export_scenes import exported, refused
from fixtures.flesh_objects import flesh
from fixtures.formulation_choices import OTHER
from sinew.addon.export import input_digest
from sinew.addon.export.formulation import FEATURE_PROPERTIES, PROPERTY_PREFIX
from sinew.addon.objects import roles
from sinew.solver.scene.formulation import (
    DEFAULT_FORMULATION,
    FORMULATION_SWITCHES,
    FORMULATIONS,
    FormulationSettings,
    unsupported_features,
)
from sinew.solver.scene.scene import Scene
from sinew.solver.scene.validation import check_scene


def body() -> bpy.types.Object:
    fresh()
    bpy.context.scene.frame_end = 2
    obj = add_box(divisions=4)
    roles.make_body(obj)
    return obj


def in_blender(value: Any) -> Any:
    return value.upper().replace("-", "_") if isinstance(value, str) else value


def choose(obj: bpy.types.Object, method: FormulationSettings) -> None:
    """Sets the method in the window, and switches that it does not read as well."""
    obj.sinew.formulation = in_blender(method.name)
    for switch in OTHER:
        setattr(obj.sinew, PROPERTY_PREFIX + switch, in_blender(getattr(method, switch)))


@pytest.mark.parametrize("name", FORMULATIONS)
def test_the_method_arrives_with_the_switches_that_it_reads(name: str, tmp_path: Path) -> None:
    obj = body()
    choose(obj, FormulationSettings(name, **OTHER))
    written, _ = exported(bpy.context.scene, tmp_path / "c.sinew")
    wanted = FormulationSettings(name, **{switch: OTHER[switch] for switch in FORMULATION_SWITCHES[name]})
    assert written.bodies[0].method == wanted
    assert Scene.load(tmp_path / "c.sinew" / "scene").bodies[0].method == wanted, "as the child reads it"
    check_scene(written)


def test_each_body_has_its_own(tmp_path: Path) -> None:
    first = body()
    others = [add_box(f"Box {name}", divisions=4) for name in FORMULATIONS]
    for obj, name in zip(others, FORMULATIONS, strict=True):
        roles.make_body(obj)
        choose(obj, FormulationSettings(name))
    written, _ = exported(bpy.context.scene, tmp_path / "c.sinew")
    found = {made.name: made.method.name for made in written.bodies}
    assert found == {first.name: "polar", **{obj.name: name for obj, name in zip(others, FORMULATIONS, strict=True)}}


def test_flesh_has_none(tmp_path: Path) -> None:
    fresh()
    bpy.context.scene.frame_end = 2
    obj = flesh()
    obj.sinew.formulation, obj.sinew.motion = "GREEN", "JIGGLE"
    written, _ = exported(bpy.context.scene, tmp_path / "c.sinew")
    assert written.bodies[0].method == DEFAULT_FORMULATION and written.bodies[0].flesh is not None


@pytest.mark.parametrize("name", FORMULATIONS)
def test_a_bake_is_out_of_date_when_what_is_read_changes(name: str) -> None:
    obj = body()
    scene = bpy.context.scene
    before = input_digest.settings_digest(scene)
    choose(obj, FormulationSettings(name))
    chosen = input_digest.settings_digest(scene)
    assert (chosen == before) == (name == "polar")
    seen = {before, chosen}
    for switch, value in OTHER.items():
        own = obj.sinew
        setattr(own, PROPERTY_PREFIX + switch, in_blender(value))
        digest = input_digest.settings_digest(scene)
        assert (digest not in seen) if switch in FORMULATION_SWITCHES[name] else (digest == chosen), switch
        seen.add(digest)
        setattr(own, PROPERTY_PREFIX + switch, in_blender(getattr(DEFAULT_FORMULATION, switch)))
        assert input_digest.settings_digest(scene) == chosen
    choose(obj, DEFAULT_FORMULATION)
    assert input_digest.settings_digest(scene) == before, "and it is as before when it is chosen back"


def test_flesh_does_not_read_it() -> None:
    fresh()
    obj = flesh()
    before = input_digest.settings_digest(bpy.context.scene)
    choose(obj, FormulationSettings("hierarchical", **OTHER))
    assert input_digest.settings_digest(bpy.context.scene) == before


@pytest.mark.parametrize("name", FORMULATIONS)
def test_what_does_not_go_together_is_refused_when_simulate_is_pressed(name: str, tmp_path: Path) -> None:
    obj = body()
    choose(obj, FormulationSettings(name))
    for feature, setting in FEATURE_PROPERTIES.items():
        setattr(obj.sinew, setting, True)
        if feature in set(unsupported_features(FormulationSettings(name))):
            problem = refused(bpy.context.scene, tmp_path / "refused.sinew")
            assert problem.kind == "method-combined" and feature in problem.sentence
            assert f'"{obj.name}"' in problem.sentence
        else:
            written, _ = exported(bpy.context.scene, tmp_path / setting)
            check_scene(written)
        setattr(obj.sinew, setting, False)


def test_undo_brings_the_method_back() -> None:
    obj = body()
    bpy.context.preferences.edit.use_global_undo = True
    bpy.ops.ed.undo_push(message="before")
    name = obj.name
    obj.sinew.formulation, obj.sinew.formulation_is_stale = "QR", True
    bpy.ops.ed.undo_push(message="after")
    bpy.ops.ed.undo()
    own = bpy.data.objects[name].sinew
    assert (own.formulation, own.formulation_is_stale) == ("POLAR", False)
    bpy.ops.ed.redo()
    own = bpy.data.objects[name].sinew
    assert (own.formulation, own.formulation_is_stale) == ("QR", True)
