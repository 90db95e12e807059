# SPDX-License-Identifier: GPL-3.0-or-later
"""Sheets as bodies of scenes: they hang, fall on colliders, soft bodies and themselves, and are resumed."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import sinew
from fixtures.rigid_bodies import FLOOR, momenta, rigid_box, run_of
from fixtures.scenes import block
from fixtures.sheets import grid
from fixtures.shells import unit_sphere
from sinew.solver.mesh.geometry.closest_point import closest_points
from sinew.solver.mesh.geometry.self_intersections import crossing_faces
from sinew.solver.mesh.geometry.triangle_bvh import build_bvh
from sinew.solver.mesh.geometry.winding_number import winding_numbers
from sinew.solver.runtime.errors import BadInput
from sinew.solver.scene.attachment import Attachment
from sinew.solver.scene.body_binding import BodyBinding
from sinew.solver.scene.constant_wind import Wind
from sinew.solver.scene.contact import Collider, Collision
from sinew.solver.scene.flesh import Flesh
from sinew.solver.scene.pressure import Pressure
from sinew.solver.scene.rest_scale import RestScale
from sinew.solver.scene.rigid_core import Core
from sinew.solver.scene.scene import Body, Heat, Meshing, Scene, Settings
from sinew.solver.scene.sheet import wrinkle_width
from sinew.solver.scene.sheet_presets import SHEET_PRESETS
from sinew.solver.scene.tracks import TrackReader, TrackWriter
from sinew.solver.simulation.diagnostics.diagnose import diagnose

COTTON = SHEET_PRESETS["COTTON"]
WEIGHTLESS = (0.0, 0.0, 0.0)


def cloth(cells: int = 12, size: float = 0.5, height: float = 0.0, preset: str = "COTTON", **settings: Any) -> Body:
    """Returns a square of cloth in the middle above the origin."""
    nodes, triangles = grid((cells, cells), (size, size))
    made = SHEET_PRESETS[preset]
    settings = {"material": made.material, "sheet": made.sheet, "key": "cloth", "name": "Cloth"} | settings
    vertices = nodes - [0.5 * size, 0.5 * size, -height]
    return Body(vertices, triangles, meshing=Meshing("sheet"), **settings)


def ball(radius: float, height: float) -> Collider:
    vertices, triangles = unit_sphere(3)
    return Collider("ball", "Ball", "mesh", radius * vertices + [0.0, 0.0, height], triangles)


def test_mass_is_that_of_area_times_thickness(tmp_path: Path) -> None:
    body = cloth(simulated_scale=1.0)
    model = run_of(tmp_path, body).built.model
    assert model.node_count == len(body.vertices)
    assert model.mass.sum() == pytest.approx(0.25 * COTTON.sheet.thickness * COTTON.material.density)


def test_vertices_without_faces_follow_the_nearest_place(tmp_path: Path) -> None:
    body = cloth()
    loose = np.concatenate([[[0.01, 0.02, 0.0]], body.vertices])
    run = run_of(tmp_path, replace(body, vertices=loose, triangles=body.triangles + np.int32(1)))
    assert run.built.model.node_count == len(body.vertices)
    run.advance(3)
    np.testing.assert_allclose(run.render["cloth"][:, 2], run.render["cloth"][1, 2], atol=1e-9)
    np.testing.assert_allclose(run.render["cloth"][0, :2], [0.01, 0.02], atol=1e-9)


@pytest.mark.slow
def test_cloth_hangs_by_its_pins_and_comes_to_rest(tmp_path: Path) -> None:
    body = cloth(pinned=np.array([0, 12], np.int32))
    body = replace(body, material=replace(body.material, mass_damping=5.0))
    run = run_of(tmp_path, body, frame_end=200)
    run.advance(72)
    x = run.render["cloth"]
    assert all(report.converged and report.unsettled == 0 for report in run.reports)
    np.testing.assert_allclose(x[[0, 12]], body.vertices[[0, 12]], atol=1e-4)
    assert x[:, 2].min() < -0.45  # it hangs down
    assert np.abs(run.state.v).max() < 0.05
    edges = np.linalg.norm(x[body.triangles] - x[np.roll(body.triangles, -1, axis=1)], axis=2)
    rest = np.linalg.norm(body.vertices[body.triangles] - body.vertices[np.roll(body.triangles, -1, axis=1)], axis=2)
    sides = rest < 1.01 * rest.min()  # threads, which hardly stretch
    assert np.abs(edges / rest - 1.0)[sides].max() < 0.03


@pytest.mark.slow
def test_cloth_lies_on_a_ball_and_no_vertex_is_in_it(tmp_path: Path) -> None:
    body = cloth(12, 0.6, 0.25)
    run = run_of(tmp_path, body, colliders=(ball(0.2, 0.0),), frame_end=100)
    deepest = 0.0
    for _ in range(30):
        run.advance()
        deepest = max(deepest, 0.2 - np.linalg.norm(run.render["cloth"], axis=1).min())
    assert all(report.converged for report in run.reports)
    assert deepest < 0.006  # flat faces of the ball are 2 mm inside of it
    assert np.linalg.norm(run.render["cloth"][:, :2].mean(axis=0)) < 0.05
    assert run.render["cloth"][:, 2].max() < 0.21 and run.render["cloth"][:, 2].min() < 0.0


def test_cloth_and_jelly_push_each_other_and_keep_their_momentum(tmp_path: Path) -> None:
    jelly = block((3, 3, 3), (0.2, 0.2, 0.2), (-0.1, -0.1, -0.25), key="jelly", initial_velocity=(0.0, 0.0, 2.0))
    run = run_of(tmp_path, cloth(), jelly, gravity=WEIGHTLESS, frame_end=60)
    before = momenta(run)
    run.advance(8)
    after, model = momenta(run), run.built.model
    assert model.mass[model.bodies[0].nodes] @ run.state.v[model.bodies[0].nodes, 2] > 0.01  # the cloth was hit
    scale = np.abs(before[0]).max()
    np.testing.assert_allclose(after[0], before[0], atol=1e-6 * scale)
    np.testing.assert_allclose(after[1], before[1], atol=1e-3 * scale * 0.2)


@pytest.mark.slow
def test_cloth_rests_on_jelly_and_bears_jelly(tmp_path: Path) -> None:
    below = block((3, 3, 3), (0.3, 0.3, 0.3), (-0.15, -0.15, 0.0), key="below")
    above = block((3, 3, 3), (0.1, 0.1, 0.1), (-0.05, -0.05, 0.34), key="above")
    run = run_of(tmp_path, cloth(16, 0.6, 0.32), below, above, colliders=(FLOOR,), frame_end=100)
    run.advance(40)
    x = run.render
    assert all(report.converged for report in run.reports)
    for name, body in (("below", below), ("above", above)):
        points = np.ascontiguousarray(x["cloth"])
        inside = winding_numbers(build_bvh(np.ascontiguousarray(x[name]), body.triangles), points) > 0.5
        surface = np.ascontiguousarray(x[name])
        assert not inside.any() or _depth(surface, body.triangles, points[inside]) < 0.006
    assert 0.27 < x["above"][:, 2].min() < 0.31  # it lies on the cloth, which lies on the jelly


@pytest.mark.slow
def test_cloth_lies_on_a_rigid_box(tmp_path: Path) -> None:
    box = rigid_box((0.2, 0.2, 0.2), (0.0, 0.0, 0.1))
    run = run_of(tmp_path, cloth(8, 0.4, 0.21), box, colliders=(FLOOR,), frame_end=60)
    run.advance(12)
    assert all(report.converged for report in run.reports)
    x = run.render["cloth"]
    is_above = (np.abs(x[:, :2]) < 0.09).all(axis=1)
    assert is_above.any() and x[is_above, 2].min() > 0.198
    assert np.abs(run.render["box"] - box.vertices).max() < 0.002


def _depth(vertices: np.ndarray, triangles: np.ndarray, points: np.ndarray) -> float:
    return float(closest_points(build_bvh(vertices, triangles), points).distance.max())


@pytest.mark.slow
def test_a_sheet_that_folds_on_itself_does_not_cross_itself(tmp_path: Path) -> None:
    nodes, triangles = grid((30, 8), (0.9, 0.24))
    standing = np.stack([0.02 * np.sin(6.0 * nodes[:, 0]), nodes[:, 1], nodes[:, 0] + 0.02], axis=1)
    body = replace(cloth(), vertices=standing, triangles=triangles, collision=Collision(0.3, 0.0, True))
    run = run_of(tmp_path, body, colliders=(FLOOR,), frame_end=100)
    for _ in range(30):
        run.advance()
        x = np.ascontiguousarray(run.render["cloth"])
        assert not len(crossing_faces(build_bvh(x, triangles), triangles)[0])
    assert x[:, 2].max() < 0.1 and x[:, 2].min() > 0.0
    assert all(report.converged for report in run.reports)


def test_wind_blows_a_hanging_sheet_from_both_sides(tmp_path: Path) -> None:
    ends = []
    for number, speed in enumerate((4.0, -4.0)):
        (tmp_path / str(number)).mkdir()
        nodes, triangles = grid((8, 8), (0.4, 0.4))
        body = replace(cloth(), vertices=nodes[:, [2, 1, 0]] * [1.0, 1.0, -1.0], triangles=triangles)
        body = replace(body, pinned=np.flatnonzero(nodes[:, 0] == 0.0).astype(np.int32), pin_weights=np.ones(9))
        scene = Scene((body,), (), Settings(frame_end=60), wind=Wind((speed, 0.0, 0.0)))
        from fixtures.scenes import Run

        run = Run(tmp_path / str(number), scene)
        run.advance(12)
        ends.append(run.render["cloth"][:, 0].mean())
    assert ends[0] > 0.02 and ends[1] == pytest.approx(-ends[0], rel=0.05)


def test_a_closed_sheet_is_blown_up(tmp_path: Path) -> None:
    vertices, triangles = unit_sphere(2)
    body = replace(cloth(preset="RUBBER"), vertices=0.1 * vertices, triangles=triangles, pressure=Pressure(200.0))
    run = run_of(tmp_path, body, gravity=WEIGHTLESS, frame_end=60)
    run.advance(40)
    radius = np.linalg.norm(run.render["cloth"] - run.render["cloth"].mean(axis=0), axis=1)
    # p r (1 − ν) / 2 E h of a thin sphere, to first order
    first = 200.0 * 0.1 * (1.0 - 0.45) / (2.0 * 1.0e6 * 1.0e-3)
    assert radius.mean() / 0.1 - 1.0 == pytest.approx(first, rel=0.15)


@pytest.mark.slow
def test_a_resumed_bake_has_the_same_bytes(tmp_path: Path) -> None:
    below = block((2, 2, 2), (0.2, 0.2, 0.2), (-0.1, -0.1, -0.25), key="jelly")
    body = cloth(8, 0.4, 0.01, collision=Collision(0.3, 0.0, True))
    scene = Scene((body, below), (ball(0.03, -0.04),), Settings(frame_end=16))
    whole = sinew.bake(scene, tmp_path / "whole.sinew")
    sinew.bake(replace(scene, settings=replace(scene.settings, frame_end=10)), tmp_path / "parts.sinew")
    parts = sinew.bake(scene, tmp_path / "parts.sinew", resume=True)
    for frame in range(1, 17):
        assert np.array_equal(whole.read_frame(frame).x, parts.read_frame(frame).x)
    for key in ("cloth", "jelly"):
        assert whole.play_path(key).read_bytes() == parts.play_path(key).read_bytes()


def test_a_saved_scene_says_that_a_body_is_a_sheet(tmp_path: Path) -> None:
    Scene((cloth(preset="RUBBER"),)).save(tmp_path)
    loaded = Scene.load(tmp_path).bodies[0]
    rubber = SHEET_PRESETS["RUBBER"].sheet
    assert loaded.is_sheet and not len(loaded.sheet.strands)
    for name in ("thickness", "bending", "shear", "law"):
        assert getattr(loaded.sheet, name) == getattr(rubber, name)


@pytest.mark.parametrize(
    ("feature", "settings"),
    [
        ("Flesh", {"flesh": Flesh()}),
        ("Heat", {"heat": Heat()}),
        ("Rigid Core", {"core": Core()}),
        ("Gravity Already in Shape", {"gravity_in_shape": True}),
        ("a Direction of Rest Scale", {"rest_scale": RestScale(0.9, direction=np.ones((169, 3)))}),
        ("attributes", {"attributes": ("von-mises",)}),
        ("exact Attachments", {"bindings": (BodyBinding("other"),)}),
        ("exact Attachments", {"attachments": (Attachment("other", "fixed", 0.1, is_exact=True),)}),
    ],
)
def test_what_sheets_do_not_support_is_refused_by_name(tmp_path: Path, feature: str, settings: dict[str, Any]) -> None:
    with pytest.raises(BadInput) as caught:
        run_of(tmp_path, cloth(**settings))
    assert caught.value.kind == "sheet-combined" and feature in str(caught.value.details["feature"])
    assert caught.value.details["name"] == "Cloth"


@pytest.mark.parametrize("preset", ["COTTON", "RUBBER"])
def test_a_sheet_grows_to_its_rest_scale_without_stress(tmp_path: Path, preset: str) -> None:
    """By a track, and where it is painted; its mass stays."""
    body = cloth(6, preset=preset)
    body = replace(body, material=replace(body.material, mass_damping=20.0), rest_scale=RestScale(1.0))
    times, values = np.array([0.0, 0.5]), np.array([1.0, 0.9])
    run = run_of(tmp_path, body, gravity=WEIGHTLESS, frame_end=60, body__cloth__rest_scale=(times, values))
    mass = run.built.model.mass.sum()
    run.advance(40)
    np.testing.assert_allclose(run.render["cloth"], 0.9 * body.vertices, atol=1e-3)
    assert run.built.model.mass.sum() == mass
    paint = (body.vertices[:, 0] > 0.01).astype(float)
    painted = replace(body, rest_scale=RestScale(0.9, paint))
    run = run_of(tmp_path / "painted", painted, gravity=WEIGHTLESS, frame_end=60)
    run.advance(40)
    widths = [
        np.ptp(run.render["cloth"][side, 1]) for side in (body.vertices[:, 0] < -0.24, body.vertices[:, 0] > 0.24)
    ]
    assert widths == pytest.approx([0.5, 0.45], rel=0.02)


def test_a_triangle_without_area_is_refused_by_name(tmp_path: Path) -> None:
    body = cloth()
    vertices = body.vertices.copy()
    vertices[1] = vertices[0]
    with pytest.raises(BadInput) as caught:
        run_of(tmp_path, replace(body, vertices=vertices))
    assert caught.value.kind == "sheet-no-area"


def test_check_says_where_a_sheet_is_too_coarse(tmp_path: Path) -> None:
    TrackWriter(tmp_path).close()
    width = wrinkle_width(COTTON.material, COTTON.sheet, 9.81)
    assert 0.08 < width < 0.13
    for cells, is_coarse in ((6, True), (40, False)):
        found = diagnose(Scene((cloth(cells, 1.0),)), TrackReader(tmp_path), lambda stage, name: None)
        assert [each.problem.kind for each in found] == (["sheet-coarse"] if is_coarse else [])


@pytest.mark.slow
@pytest.mark.parametrize("preset", list(SHEET_PRESETS))
def test_every_preset_falls_on_a_ball(tmp_path: Path, preset: str) -> None:
    run = run_of(tmp_path, cloth(8, 0.4, 0.21, preset), colliders=(ball(0.2, 0.0),), frame_end=60)
    run.advance(12)
    x = run.render["cloth"]
    assert np.isfinite(x).all() and np.linalg.norm(x, axis=1).min() > 0.19
    assert sum(report.not_converged for report in run.reports) == 0
