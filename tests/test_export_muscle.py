# SPDX-License-Identifier: GPL-3.0-or-later
"""A muscle made in Blender: what the scene folder says of it, what its panel says, and digests."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

bpy = pytest.importorskip("bpy")

from fixtures.blender_scenes import add_box, fresh
from fixtures.export_scenes import exported
from fixtures.fake_layout import FakeLayout
from sinew.addon.export.input_digest import settings_digest
from sinew.addon.objects import roles
from sinew.addon.panels import muscle_layout
from sinew.solver.runtime.errors import BadInput
from sinew.solver.scene.muscle import FULL_MODEL
from test_addon import context_of


def muscle_box() -> tuple[bpy.types.Scene, bpy.types.Object]:
    """Returns a box of flesh whose left side is the origin and whose right side is the insertion."""
    scene = fresh()
    obj = add_box()
    roles.make_body(obj)
    own = obj.sinew
    own.motion, own.use_muscle, scene.frame_end = "POSE", True, 6
    for name, side in (("Origin", -1.0), ("Insertion", 1.0)):
        group = obj.vertex_groups.new(name=name)
        group.add([v.index for v in obj.data.vertices if side * v.co.x > 0.0], 1.0, "REPLACE")
    own.origin_group, own.insertion_group = "Origin", "Insertion"
    return scene, obj


def test_a_muscle_arrives_with_its_ends_and_keys(tmp_path: Path) -> None:
    scene, obj = muscle_box()
    own = obj.sinew
    own.muscle_model, own.along_shear, own.insertion_tendon = "FULL", 800.0, 0.1
    for frame, value in ((1, 0.0), (5, 1.0)):
        own.activation = value
        own.keyframe_insert("activation", frame=frame)
    scene.frame_set(1)
    written, tracks = exported(scene, tmp_path / "c.sinew")
    body = written.bodies[0]
    muscle = body.muscle
    assert muscle is not None and muscle.model == FULL_MODEL and muscle.along_shear == 800.0
    assert muscle.insertion_tendon == pytest.approx(0.1)
    x = body.vertices[:, 0]
    left, right = x < x.mean() - 1e-6, x > x.mean() + 1e-6
    assert np.array_equal(muscle.insertion > 0.5, right) and np.array_equal(muscle.origin > 0.5, left)
    assert tracks.sample("body.Box.activation", 0.0) == 0.0 and tracks.sample("body.Box.activation", 4 / 24) == 1.0


def test_only_flesh_is_muscle(tmp_path: Path) -> None:
    scene, obj = muscle_box()
    before = settings_digest(scene)
    obj.sinew.peak_stress = 1.0e5
    assert settings_digest(scene) != before
    obj.sinew.motion = "ELASTIC"
    assert exported(scene, tmp_path / "c.sinew")[0].bodies[0].muscle is None
    obj.sinew.motion, obj.sinew.use_muscle = "POSE", False
    assert exported(scene, tmp_path / "d.sinew")[0].bodies[0].muscle is None


def test_an_end_that_is_not_there_is_named(tmp_path: Path) -> None:
    scene, obj = muscle_box()
    obj.sinew.origin_group = "Nowhere"
    with pytest.raises(BadInput, match="Nowhere"):
        exported(scene, tmp_path / "c.sinew")


def test_the_panel_shows_activation_and_ends_first() -> None:
    _, obj = muscle_box()
    bpy.context.view_layer.objects.active = obj
    layout = FakeLayout()
    muscle_layout.draw_muscle(layout, context_of(obj))
    shown = [name for _, name in layout.drawn]
    assert shown[0] == "activation" and {"origin_group", "insertion_group", "origin_tendon"} <= set(shown)
    assert obj.sinew.peak_stress_kpa == pytest.approx(300.0)
