# SPDX-License-Identifier: GPL-3.0-or-later
"""From a button to the picture: what settings of bodies do to what Blender shows, all in one bake of one scene."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

bpy = pytest.importorskip("bpy")

from fixtures.blender_scenes import add_box, evaluated, fresh, world
from fixtures.export_scenes import stored_weights
from sinew.addon.objects import roles
from sinew.solver.bake.cache import CacheReader

pytestmark = pytest.mark.slow

FIRST, LAST, RELEASED = -3, 8, 4
SPEED = 0.25  # of the thrown body, units per frame
SECONDS = (LAST - FIRST) / 24


@pytest.fixture(scope="module")
def shot(tmp_path_factory: pytest.TempPathFactory) -> dict[str, bpy.types.Object]:
    """The bodies by name, baked."""
    scene = fresh()
    # the scene's own range cannot begin below zero
    settings = scene.sinew
    settings.use_scene_range, settings.frame_start, settings.frame_end = False, FIRST, LAST
    made = {name: _body(name, 3.0 * i) for i, name in enumerate(BODIES)}
    made["As a Miniature"].sinew.use_simulated_size = True
    made["As a Miniature"].sinew.simulated_size = 0.25
    for name in ("Hung", "Hung in Shape"):
        _pin(made[name], [v.index for v in made[name].data.vertices if v.co.z > 0.49])
    made["Hung in Shape"].sinew.gravity_in_shape = True
    _throw(made["Thrown"])
    # it flies through where the next one is held
    made["Thrown"].sinew.collision_collection = bpy.data.collections.new("Nothing")
    held = made["Held by Nodes"]
    held.modifiers.new("Nodes", "NODES").node_group = stored_weights("made", 0.75)
    held.modifiers.move(1, 0)
    held.sinew.pin_group, held.sinew.pin_stiffness = "made", 1.0e4
    _shear(made["Sheared"])
    bpy.ops.wm.save_as_mainfile(filepath=str(tmp_path_factory.mktemp("arrive") / "shot.blend"))
    assert bpy.ops.sinew.simulate() == {"FINISHED"}
    cache = CacheReader(Path(bpy.data.filepath).with_suffix(".sinew"))
    assert cache.baked_range() == (FIRST, LAST) and cache.convergence().not_converged == 0
    return made


BODIES = ("Free", "As a Miniature", "Hung", "Hung in Shape", "Thrown", "Held by Nodes", "Sheared")


def _body(name: str, x: float) -> bpy.types.Object:
    box = add_box(name, divisions=4, height=1.0)
    box.location.x = x
    roles.make_body(box)
    box.sinew.divisions = 4
    box.sinew.youngs_modulus = 1.0e4
    return box


def _pin(obj: bpy.types.Object, vertices: list[int]) -> None:
    obj.vertex_groups.new(name="Pin").add(vertices, 1.0, "REPLACE")
    obj.sinew.pin_group = "Pin"


def _throw(obj: bpy.types.Object) -> None:
    """Holds all of it to a steady motion in x, and lets go while its object stands still again."""
    _pin(obj, [v.index for v in obj.data.vertices])
    obj.sinew.keyframe_insert("pin_stiffness", frame=FIRST)
    obj.sinew.pin_stiffness = 0.0
    obj.sinew.keyframe_insert("pin_stiffness", frame=RELEASED)
    begin = obj.location.x
    for frame in (FIRST, RELEASED, LAST):
        obj.location.x = begin + SPEED * (min(frame, RELEASED) - FIRST)
        obj.keyframe_insert("location", frame=frame)
    for curve in _curves(obj):
        for point in curve.keyframe_points:
            point.interpolation = "CONSTANT" if "pin_stiffness" in curve.data_path else "LINEAR"


def _curves(obj: bpy.types.Object) -> list[bpy.types.FCurve]:
    action = obj.animation_data.action
    return [c for layer in action.layers for strip in layer.strips for bag in strip.channelbags for c in bag.fcurves]


def _shear(obj: bpy.types.Object) -> None:
    """Parents it, turned, to something that is scaled unevenly and mirrored."""
    obj.parent = parent = bpy.data.objects.new("Parent", None)
    bpy.context.scene.collection.objects.link(parent)
    parent.scale = (2.0, 1.0, -0.5)
    obj.rotation_euler = (0.5, 0.6, 0.7)


def seen(obj: bpy.types.Object, frame: int) -> np.ndarray:
    """Returns where the vertices are in the world, (n, 3)."""
    return world(*evaluated(obj, frame))


def fallen(obj: bpy.types.Object, frame: int = LAST) -> float:
    return float((seen(obj, FIRST) - seen(obj, frame))[:, 2].mean())


# implicit Euler falls ½ g t (t + Δt)
FALL = 0.5 * 9.81 * SECONDS * (SECONDS + 1 / 24 / 4)


def test_a_bake_that_starts_before_frame_zero_falls_as_far_as_any(shot: dict[str, bpy.types.Object]) -> None:
    assert fallen(shot["Free"]) == pytest.approx(FALL, rel=1e-4)
    assert fallen(shot["Free"], 0) == pytest.approx(0.5 * 9.81 * 0.125 * (0.125 + 1 / 96), rel=1e-4)


def test_what_is_simulated_at_a_quarter_of_its_size_falls_four_times_as_fast(
    shot: dict[str, bpy.types.Object],
) -> None:
    assert fallen(shot["As a Miniature"]) == pytest.approx(4.0 * FALL, rel=1e-4)


def test_gravity_already_in_the_shape_keeps_it_still(shot: dict[str, bpy.types.Object]) -> None:
    sag = np.abs(seen(shot["Hung"], LAST) - seen(shot["Hung"], FIRST)).max()
    still = np.abs(seen(shot["Hung in Shape"], LAST) - seen(shot["Hung in Shape"], FIRST)).max()
    assert sag > 0.05 and still < 0.02 * sag


def test_what_is_let_go_flies_on(shot: dict[str, bpy.types.Object]) -> None:
    obj = shot["Thrown"]
    held = seen(obj, RELEASED - 1)
    assert np.abs(held - seen(obj, FIRST) - [SPEED * (RELEASED - 1 - FIRST), 0.0, 0.0]).max() < 1e-5
    flown = seen(obj, LAST) - held
    # its inside, which no pin holds, still swings a little from the start
    assert flown[:, 0].mean() == pytest.approx(SPEED * (LAST - RELEASED + 1), rel=0.01)
    assert flown[:, 2].mean() < -0.1, "and falls now"


def test_weights_that_a_modifier_writes_hold(shot: dict[str, bpy.types.Object]) -> None:
    assert 0.0 < fallen(shot["Held by Nodes"]) < 0.02 * FALL


def test_a_sheared_and_mirrored_body_falls_straight_down(shot: dict[str, bpy.types.Object]) -> None:
    way = seen(shot["Sheared"], LAST) - seen(shot["Sheared"], FIRST)
    assert np.abs(way - [0.0, 0.0, -FALL]).max() < 1e-3 * FALL
