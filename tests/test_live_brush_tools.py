# SPDX-License-Identifier: GPL-3.0-or-later
"""Brushes of the 3D view on bodies that run live: what is sent, and that a ball pushes and a soft place gives way."""

from __future__ import annotations

import numpy as np
import pytest

bpy = pytest.importorskip("bpy", reason="needs Blender's module")

from fixtures.blender_scenes import fresh
from fixtures.fake_layout import FakeLayout
from fixtures.live_in_blender import ended as ended  # a fixture
from fixtures.live_in_blender import ground, jelly, run_key, run_steps, shown, started, until
from sinew.addon.live import brushes
from sinew.addon.operators import brush, grab
from sinew.addon.overlays import brush_overlay
from sinew.solver.live.recording import read_inputs

pytestmark = pytest.mark.slow


def commands_of(run) -> list[dict]:
    """Returns what was recorded of brushes, in order."""
    inputs = read_inputs(run.folder)
    found = [command for step in sorted(inputs.commands) for command in inputs.commands[step]]
    return [command for command in found if "brush" in command]


def test_what_a_brush_has_done_is_written_beside_it() -> None:
    assert brush_overlay.touched_text({}) == ""
    assert brush_overlay.touched_text({"stiffness_factor": 0.3536}) == "0.35 × as stiff"
    assert brush_overlay.touched_text({"temperature": 74.26}) == "74.3 °C"


def test_a_ball_pushes_a_body_away_and_is_lifted() -> None:
    box = jelly()
    bpy.context.scene.use_gravity = False
    run = started()
    run_steps(run, 2)
    before = shown(box)
    top = before[:, 2].max()
    brushes.hold(run, brushes.PUSH, np.array([0.0, 0.0, top + 0.1]), 0.4)
    until(lambda: shown(box)[:, 2].mean() < before[:, 2].mean() - 0.05)
    assert run.brush is not None and run.brush.kind == brushes.PUSH
    brushes.lift(run)
    brushes.lift(run)  # there is nothing to lift any more
    until(lambda: len(commands_of(run)) >= 2)
    assert [command["command"] for command in commands_of(run)] == ["push", "lift"]
    assert run.brush is None and not run.note


def test_brushes_send_metres_and_their_settings() -> None:
    box = jelly()
    scene = bpy.context.scene
    box.sinew.use_heat = True
    scene.unit_settings.scale_length = 0.5
    scene.sinew.heat_gun_temperature, scene.sinew.stiffness_brush_strength = 400.0, 4.0
    run = started()
    run_steps(run, 1)
    place = np.array([0.0, 0.0, 1.0])
    for kind in (brushes.HEAT, brushes.OPPOSITES[brushes.HEAT], brushes.SOFTEN, brushes.OPPOSITES[brushes.SOFTEN]):
        brushes.hold(run, kind, place, 0.2, pressure=0.5)
    until(lambda: len(commands_of(run)) >= 4)
    sent = commands_of(run)
    assert [command["command"] for command in sent] == ["heat", "cool", "soften", "harden"]
    assert all(command["place"] == [0.0, 0.0, 0.5] and command["radius"] == 0.1 for command in sent)
    assert [command.get("temperature") for command in sent[:2]] == [210.0, -15.0], "half a pressure, in air of 20"
    assert [command.get("strength") for command in sent[2:]] == [2.0, 2.0] and not run.note


def test_wax_as_it_comes_melts_and_slumps_under_the_gun() -> None:
    """A candle with the preset, the radius and the temperature that everything has by default."""
    fresh()
    bpy.ops.mesh.primitive_cylinder_add(vertices=24, radius=0.025, depth=0.14, location=(0.0, 0.0, 0.07))
    candle = bpy.context.object
    bpy.ops.sinew.make_body()
    candle.sinew.preset = "WAX"
    ground(0.0)
    run = started()
    run_steps(run, 1)
    before, key = shown(candle), run_key(run)
    radius = brushes.radius_on(bpy.context.scene.sinew, brushes.HEAT, candle)
    brushes.hold(run, brushes.HEAT, np.array([0.0, -0.025, 0.1]), radius, body=key)
    until(lambda: run.seconds > 2.0)
    assert np.linalg.norm(shown(candle) - before, axis=1).max() > 0.02, "of a candle of 14 cm"
    heat = next(command for command in commands_of(run) if command["command"] == "heat")
    own = candle.sinew
    assert heat["exchange"] == pytest.approx(own.density * own.heat_capacity * radius), "within a second"


def test_a_gun_on_a_body_without_heat_says_so() -> None:
    jelly()
    run = started()
    run_steps(run, 1)
    brushes.hold(run, brushes.HEAT, np.zeros(3), 0.2)
    until(lambda: run.note)
    assert "Heat" in run.note and run_key(run)


@pytest.mark.parametrize(
    ("kind", "setting"),
    [
        (brushes.HEAT, "heat_gun_radius"),
        (brushes.COOL, "heat_gun_radius"),
        (brushes.SOFTEN, "stiffness_brush_radius"),
        (brushes.HARDEN, "stiffness_brush_radius"),
        (brushes.PUSH, "grab_radius"),
    ],
)
def test_a_brush_has_the_radius_of_its_tool(kind: str, setting: str) -> None:
    box = jelly()
    own = bpy.context.scene.sinew
    for each in set(brushes.RADIUS_SETTINGS.values()) - {setting}:
        setattr(own, each, 5.0)
    assert brushes.radius_on(own, kind, box) == pytest.approx(brushes.automatic_radius(setting, box))
    setattr(own, setting, 0.2)
    assert brushes.radius_on(own, kind, box) == pytest.approx(0.2)
    box.scale = (0.3 * max(box.dimensions) / box.dimensions.x, 1.0, 1.0)
    bpy.context.view_layer.update()
    longest, through = max(box.dimensions), 1.2 * min(box.dimensions)
    of_gun = through if setting == brushes.HEAT_RADIUS else 0.15 * longest
    assert brushes.automatic_radius(setting, box) == pytest.approx(of_gun), "heat reaches through"
    tool = next(each for each in (grab.SINEW_WT_grab_object, *brush.TOOLS) if setting in str(each.bl_keymap))
    drawn = FakeLayout()
    tool.draw_settings(bpy.context, drawn, None)
    assert setting in str(drawn.drawn)
    of_f = [given for _, key, given in tool.bl_keymap if key == {"type": "F", "value": "PRESS"}]
    assert [dict(given["properties"])["setting"] for given in of_f] == [setting]
