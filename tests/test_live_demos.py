# SPDX-License-Identifier: GPL-3.0-or-later
"""The demo files open ready for Live: pressed at the frame that is shown, samples come, and the file is as it was."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

bpy = pytest.importorskip("bpy", reason="needs Blender's module")

from bpy_extras.object_utils import world_to_camera_view
from mathutils import Vector

from fixtures.blender_scenes import fresh
from fixtures.live_in_blender import ended as ended  # a fixture
from fixtures.live_in_blender import shown, started, until
from sinew.addon.baking import last_failure
from sinew.addon.baking.addon_session import session
from sinew.addon.blender_data import sinew_modifier
from sinew.addon.live import run_control
from sinew.addon.objects import roles

DEMOS = sorted((Path(__file__).resolve().parent.parent / "demo_blends").glob("*.blend"))
SAMPLES = 10
IN_VIEW = 0.9  # share of the vertices of all bodies that a demo shows as it opens
FALLS_INTO_VIEW = {"squeezed_ball": 0.30}  # by so much in its first quarter of a second [m]
SECONDS = 400.0  # for reading a scene and filling its bodies with tets
# that take eight seconds and more for their first samples
LONG = ("jelly_heap", "pile_of_dolls", "playground", "rag_doll", "skin_wrinkles")
BRITTLE = {"pane": "Pane", "vase": "Vase"}  # bakes alone break these bodies: Live refuses them
RUN = [
    pytest.param(path, id=path.stem, marks=[pytest.mark.long] * (path.stem in LONG))
    for path in DEMOS
    if path.stem not in BRITTLE
]


@pytest.mark.parametrize("path", DEMOS, ids=lambda path: path.stem)
def test_a_demo_opens_on_its_bodies(path: Path) -> None:
    fresh()
    bpy.ops.wm.open_mainfile(filepath=str(path))
    views = [area.spaces.active for screen in bpy.data.screens for area in screen.areas if area.type == "VIEW_3D"]
    assert views and {view.region_3d.view_perspective for view in views} == {"CAMERA"}
    assert all(view.show_region_ui for view in views), "the sidebar has Sinew's panels"
    scene = bpy.context.scene
    points = np.concatenate([shown(body) for body in roles.bodies(scene)])
    if path.stem in FALLS_INTO_VIEW:
        points[:, 2] -= FALLS_INTO_VIEW[path.stem]
    seen = np.array([world_to_camera_view(scene, scene.camera, Vector(point)) for point in points[::7]])
    assert ((seen[:, :2] > 0.0) & (seen[:, :2] < 1.0) & (seen[:, 2:] > 0.0)).all(axis=1).mean() > IN_VIEW


@pytest.mark.slow
@pytest.mark.parametrize("path", RUN)
def test_a_demo_runs_live_as_it_opens(path: Path) -> None:
    fresh()  # with the add-on
    bpy.ops.wm.open_mainfile(filepath=str(path))
    run = started()
    until(lambda: run.step >= SAMPLES or session.live is not run, SECONDS)
    assert session.live is run, run.driver.job
    assert run.status["step"] >= 0 and run.tets and not run.note, run.note
    bodies = [handle.find() for handle in run.bodies.values()]
    assert all(sinew_modifier.find_live_modifier(body) for body in bodies)
    assert all(np.isfinite(shown(body)).all() for body in bodies)
    run_control.end()
    assert not any(sinew_modifier.find_live_modifier(body) for body in bodies)


@pytest.mark.slow
@pytest.mark.parametrize(("demo", "body"), BRITTLE.items())
def test_a_demo_of_a_brittle_body_is_refused_live_by_name(demo: str, body: str) -> None:
    fresh()
    bpy.ops.wm.open_mainfile(filepath=str(DEMOS[0].parent / f"{demo}.blend"))
    started()
    until(lambda: session.live is None, SECONDS)
    assert last_failure.failure_text(bpy.context.scene).startswith(f'"{body}" is brittle, and breaks in bakes alone.')
