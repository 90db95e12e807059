# SPDX-License-Identifier: GPL-3.0-or-later
"""Blender's rigid bodies and constraints run live: they hold, follow what is moved, and let go when switched off."""

from __future__ import annotations

import numpy as np
import pytest

bpy = pytest.importorskip("bpy", reason="needs Blender's module")

from fixtures.blender_scenes import add_box, fresh
from fixtures.live_in_blender import ended as ended  # a fixture
from fixtures.live_in_blender import run_steps, shown, started, until
from fixtures.ragdoll_scenes import limb, make_ragdoll
from fixtures.rigid_body_scenes import add_constraint, rigid_box, take_over_world
from sinew.addon.baking.addon_session import session
from sinew.solver.live.recording import read_inputs

pytestmark = pytest.mark.slow


def end_of(rod: bpy.types.Object) -> np.ndarray:
    """Returns where the end of a rod is seen that was at its lowest x, (3,)."""
    points, first = shown(rod), np.array([vertex.co.x for vertex in rod.data.vertices])
    return points[first < 0.0].mean(axis=0)


@pytest.mark.parametrize("fill", ["SHEET", "ADAPTIVE"])
def test_bodies_whose_material_stays_run_live(fill: str) -> None:
    fresh()
    bpy.ops.mesh.primitive_grid_add(x_subdivisions=4, y_subdivisions=4) if fill == "SHEET" else add_box(divisions=2)
    obj = bpy.context.object
    assert bpy.ops.sinew.make_body() == {"FINISHED"}
    obj.sinew.method = fill
    run = started()
    run_steps(run, 12)
    assert shown(obj)[:, 2].max() < 0.9


def test_a_pendulum_swings_moves_along_and_is_let_go() -> None:
    fresh()
    post, rod = rigid_box("Post", (0.0, 0.0, 0.0), kind="PASSIVE"), rigid_box("Rod", (1.0, 0.0, 0.0), (1.0, 0.1, 0.1))
    hinge = add_constraint("HINGE", post, rod, (0.5, 0.0, 0.0), (-0.5 * np.pi, 0.0, 0.0))
    take_over_world()
    run = started()
    run_steps(run, 24)
    assert shown(rod)[:, 2].min() < -0.3
    np.testing.assert_allclose(end_of(rod), (0.5, 0.0, 0.0), atol=1e-3)
    for _ in range(20):
        post.location.x += 0.02
        bpy.context.view_layer.update()
        run_steps(run, run.step + 2)
    run_steps(run, run.step + 20)
    np.testing.assert_allclose(end_of(rod), (0.9, 0.0, 0.0), atol=2e-3)
    hinge.rigid_body_constraint.enabled = False
    run_steps(run, run.step + 40)
    assert end_of(rod)[2] < -0.5
    assert bpy.ops.sinew.stop_live() == {"FINISHED"}
    until(lambda: session.live is None)
    assert run.driver.job.phase == "done", run.driver.job
    assert rod.sinew.is_out_of_world
    assert rod.name not in bpy.context.scene.rigidbody_world.collection.objects
    tracks = {given["track"] for commands in read_inputs(run.folder).commands.values() for given in commands}
    assert {"joint.Empty.matrix", "joint.Empty.enabled"} <= tracks


def test_driven_bones_run_live_and_hang_on_the_bone_above() -> None:
    fresh()
    rig = limb()
    rig.data.bones["Upper"].use_deform = False
    bodies = make_ragdoll(rig)
    bodies["Lower"].sinew.bone_joint = "POINT"
    run = started()
    run_steps(run, 12)
    assert shown(bodies["Hand"])[:, 2].mean() < -0.02
    head = shown(bodies["Lower"])
    np.testing.assert_allclose(
        head[np.argmin(np.linalg.norm(head - (0.4, 0.0, 0.0), axis=1))], (0.4, 0.0, 0.0), atol=2e-3
    )
    rig.pose.bones["Upper"].location.y += 0.1  # along the bone
    bpy.context.view_layer.update()
    run_steps(run, run.step + 30)
    head = shown(bodies["Lower"])
    assert np.linalg.norm(head - (0.5, 0.0, 0.0), axis=1).min() < 5e-3
    assert bpy.ops.sinew.stop_live() == {"FINISHED"}
    until(lambda: session.live is None)
    assert run.driver.job.phase == "done", run.driver.job
