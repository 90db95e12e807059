# SPDX-License-Identifier: GPL-3.0-or-later
"""A pressure set in Blender: what the scene folder says of it, what its panel says, and digests."""

from __future__ import annotations

from pathlib import Path

import pytest

bpy = pytest.importorskip("bpy")

from fixtures.blender_scenes import add_box, fresh
from fixtures.export_scenes import exported
from fixtures.fake_layout import FakeLayout
from sinew.addon.export.input_digest import settings_digest
from sinew.addon.objects import roles
from sinew.addon.panels import pressure_layout
from sinew.solver.scene.pressure import Pressure
from test_addon import context_of


def blown_box() -> tuple[bpy.types.Scene, bpy.types.Object]:
    scene = fresh()
    obj = add_box()
    roles.make_body(obj)
    obj.sinew.use_pressure, scene.frame_end = True, 6
    return scene, obj


def test_a_pressure_arrives_with_its_keys(tmp_path: Path) -> None:
    scene, obj = blown_box()
    own = obj.sinew
    own.use_sealed_gas, own.ambient_pressure = True, 5000.0
    for frame, value in ((1, -1000.0), (5, 3000.0)):
        own.pressure = value
        own.keyframe_insert("pressure", frame=frame)
    scene.frame_set(1)
    written, tracks = exported(scene, tmp_path / "c.sinew")
    assert written.bodies[0].pressure == Pressure(-1000.0, True, 1.0, 5000.0)
    assert tracks.sample("body.Box.pressure", 0.0) == -1000.0 and tracks.sample("body.Box.pressure", 4 / 24) == 3000.0
    assert not tracks.has("body.Box.target_volume")
    own.motion = "POSE"
    assert exported(scene, tmp_path / "d.sinew")[0].bodies[0].pressure is None


def test_the_panel_shows_kilopascals_and_what_has_no_pressure() -> None:
    _, obj = blown_box()
    obj.sinew.pressure = -2500.0
    bpy.context.view_layer.objects.active = obj
    layout = FakeLayout()
    pressure_layout.draw_pressure(layout, context_of(obj))
    shown = {name for _, name in layout.drawn}
    rows = {"pressure", "use_sealed_gas", "target_volume", "ambient_pressure"}
    assert shown == rows | {"sinew.toggle_keyframe"}
    assert obj.sinew.pressure_kpa == pytest.approx(-2.5)
    obj.sinew.motion = "POSE"
    pressure_layout.draw_pressure(layout, context_of(obj))
    assert "choose Jiggle" in " ".join(layout.lines)


def test_the_bake_is_outdated_by_a_pressure() -> None:
    scene, obj = blown_box()
    found = {settings_digest(scene)}
    for name, value in (("pressure", 1.0), ("use_sealed_gas", True), ("target_volume", 2.0), ("use_pressure", False)):
        setattr(obj.sinew, name, value)
        found.add(settings_digest(scene))
    without = settings_digest(scene)
    obj.sinew.pressure = 7.0
    assert len(found) == 5 and settings_digest(scene) == without
