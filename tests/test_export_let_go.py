# SPDX-License-Identifier: GPL-3.0-or-later
"""Animated, Initial Spin and Speed set in Blender: what the scene folder says of them, bakes of keys, and digests."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

bpy = pytest.importorskip("bpy")

from fixtures.blender_scenes import add_box, fresh
from fixtures.export_scenes import exported
from sinew.addon.export.input_digest import settings_digest
from sinew.addon.objects import roles
from sinew.solver.simulation.simulation import Simulation

LET_GO, CAUGHT, STEP = 4, 7, 0.25


def thrown_box() -> tuple[bpy.types.Scene, bpy.types.Object]:
    """Returns a box that goes along by `STEP` a frame, let go at one frame and caught at another."""
    scene = fresh()
    obj = add_box(divisions=2)
    roles.make_body(obj)
    obj.sinew.divisions, scene.frame_end, scene.use_gravity = 2, 8, False
    for frame in range(1, 9):
        obj.location.x = STEP * min(frame, LET_GO)
        obj.keyframe_insert("location", frame=frame)
    for frame, value in ((1, True), (LET_GO, False), (CAUGHT, True)):
        obj.sinew.animated = value
        obj.sinew.keyframe_insert("animated", frame=frame)
    return scene, obj


def test_a_keyed_switch_lets_a_body_go_and_catches_it(tmp_path: Path) -> None:
    scene, _ = thrown_box()
    written, tracks = exported(scene, tmp_path / "c.sinew")
    assert [tracks.sample("body.Box.animated", (f - 1) / 24) for f in (1, 3, 4, 6, 7)] == [1.0, 1.0, 0.0, 0.0, 1.0]
    simulation = Simulation(written, tracks)
    x = {frame.number: frame.positions["Box"][:, 0].mean() for frame in simulation.run()}
    for frame in range(1, 9):
        away = STEP * (min(frame, LET_GO) if frame >= CAUGHT else frame)
        assert x[frame] == pytest.approx(away, abs=1e-4)


def test_without_it_nothing_is_written(tmp_path: Path) -> None:
    scene, obj = thrown_box()
    with_keys = settings_digest(scene)
    obj.sinew.motion = "POSE"
    assert not exported(scene, tmp_path / "a.sinew")[0].bodies[0].animated
    obj.sinew.motion = "ELASTIC"
    obj.animation_data_clear()
    obj.sinew.animated = False
    written, tracks = exported(scene, tmp_path / "b.sinew")
    assert not written.bodies[0].animated and not tracks.has("body.Box.animated.targets")
    assert not tracks.has("speed") and written.settings.speed == 1.0
    plain = settings_digest(scene)
    found = {with_keys, plain}
    for name, value in (("animated", True), ("initial_spin", (0.0, 1.0, 0.0))):
        setattr(obj.sinew, name, value)
        found.add(settings_digest(scene))
    written = exported(scene, tmp_path / "c.sinew")[0]
    assert written.bodies[0].animated and written.bodies[0].initial_spin == (0.0, 1.0, 0.0)
    scene.sinew.speed = 0.5
    assert len(found | {settings_digest(scene)}) == 5
    obj.sinew.animated, obj.sinew.initial_spin, scene.sinew.speed = False, (0.0, 0.0, 0.0), 1.0
    assert settings_digest(scene) == plain


def test_a_keyed_speed_is_sampled(tmp_path: Path) -> None:
    scene, _ = thrown_box()
    for frame, value in ((1, 1.0), (5, 0.5)):
        scene.sinew.speed = value
        scene.sinew.keyframe_insert("speed", frame=frame)
    written, tracks = exported(scene, tmp_path / "c.sinew")
    speeds = [float(tracks.sample("speed", frame / 24)) for frame in range(8)]
    assert speeds[0] == 1.0 and speeds[4:] == [0.5] * 4 and (np.diff(speeds[:5]) < 0.0).all()
    assert written.settings.speed == 1.0
