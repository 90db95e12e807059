# SPDX-License-Identifier: GPL-3.0-or-later
"""No call of Sinew's holds up Blender's thread for long while a body of 50,000 render vertices runs live.

What counts is the time of the thread: other processes and the disk are not in it. The same call takes up to twice as
long beside a busy one on the same core, so the best of some runs counts.
"""

from __future__ import annotations

import time
from pathlib import Path

import numpy as np
import pytest

bpy = pytest.importorskip("bpy", reason="needs Blender's module")

from fixtures.blender_scenes import fresh
from fixtures.live_in_blender import ended as ended  # a fixture
from fixtures.live_in_blender import ground, pulled_until_torn, run_key, run_steps, started, until
from sinew.addon.baking import bake_control
from sinew.addon.baking.addon_session import session
from sinew.addon.fracture_meshes import torn_mesh_modifier
from sinew.addon.live import brushes, grabs, keep_run, run_control
from sinew.addon.objects import roles
from window.longest_calls import Table, measuring

LONG = 4.0
CUTS = 90  # of a cube: 50,000 vertices
MOST_SECONDS = 0.05
TRIES = 3
MEASURED = (
    *((run_control, n) for n in ("start", "poll", "stop", "end", "hide_for_save", "show_after_save", "hide_for_undo")),
    *((torn_mesh_modifier, n) for n in ("show", "remove_all")),
    *((grabs, n) for n in ("take", "move")),
    (brushes, "hold"),
    *((keep_run, n) for n in ("end_run", "start")),
    (bake_control, "poll"),
)


def bar() -> bpy.types.Object:
    """Returns a breakable bar along x whose lower end is pinned, with a UV map and weights of all vertices."""
    scene = fresh()
    bpy.ops.mesh.primitive_cube_add(size=1.0, calc_uvs=True)
    obj = bpy.context.object
    bpy.ops.object.mode_set(mode="EDIT")
    bpy.ops.mesh.select_all(action="SELECT")
    bpy.ops.mesh.subdivide(number_cuts=CUTS)
    bpy.ops.object.mode_set(mode="OBJECT")
    mesh = obj.data
    mesh.transform(np.diag([LONG, 1.0, 1.0, 1.0]).tolist())
    places = np.array([vertex.co.x for vertex in mesh.vertices])
    pinned, painted = obj.vertex_groups.new(name="Pinned"), obj.vertex_groups.new(name="Painted")
    pinned.add(np.flatnonzero(places < -0.45 * LONG).tolist(), 1.0, "REPLACE")
    painted.add(list(range(len(places))), 0.5, "REPLACE")
    roles.make_body(obj)
    own = obj.sinew
    own.youngs_modulus, own.divisions, own.pin_group = 1.0e5, 8, "Pinned"
    own.use_fracture, own.breaking_stress = True, 2.0e4
    scene.gravity = (0.0, 0.0, 0.0)
    bpy.context.view_layer.update()
    return obj


def drive(obj: bpy.types.Object, folder: Path) -> None:
    """Pulls it until it tears, saves, pushes, lets go, stops, runs again and keeps that."""
    run = pulled_until_torn(obj, LONG)
    end = np.array([0.5 * LONG, 0.0, 0.0])
    bpy.ops.wm.save_as_mainfile(filepath=str(folder / "a.blend"), copy=True)
    brushes.hold(run, brushes.PUSH, end, 0.4)
    run_steps(run, run.step + 30)
    brushes.lift(run)
    grabs.release(run, run.last_grab)
    run_steps(run, run.step + 10)
    run_control.hide_for_undo()
    run_control.stop()
    until(lambda: session.live is None)
    run = started()
    run_steps(run, 2)
    grabs.take(run, run_key(run), end, 0.6)
    run_steps(run, 20)
    keep_run.end_run(bpy.context.scene)
    run.driver.wait_for_end()  # as the operator lets its window do
    keep_run.start(bpy.context.scene)
    while bake_control.poll():
        time.sleep(0.01)


@pytest.mark.slow
def test_no_call_takes_long_at_50_000_vertices(tmp_path: Path) -> None:
    best: dict[str, float] = {}
    for attempt in range(TRIES):
        obj = bar()
        ground(-3.0)
        assert len(obj.data.vertices) > 49_000
        bpy.context.scene.sinew.cache_path = str(tmp_path / f"kept-{attempt}.sinew")
        with measuring(MEASURED) as table:
            drive(obj, tmp_path)
        best = lowest(best, table)
        assert {"run_control.poll", "torn_mesh_modifier.show", "keep_run.start", "bake_control.poll"} <= best.keys()
        if max(best.values()) < MOST_SECONDS:
            return
    assert not {name: seconds for name, seconds in best.items() if seconds > MOST_SECONDS}


def lowest(before: dict[str, float], table: Table) -> dict[str, float]:
    """Returns the lower one of what each call took at most [s]."""
    now = {name: 1e-3 * row["longest_thread_ms"] for name, row in table.items()}
    return {name: min(seconds, before.get(name, seconds)) for name, seconds in now.items()}
