# SPDX-License-Identifier: GPL-3.0-or-later
"""Sheets that points carry: weights, points, rigid motions, pins, what works with them, and what is refused."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import sinew
from fixtures.hybrid_scenes import ribbon
from fixtures.rigid_bodies import FLOOR, momenta, rigid_box, run_of
from fixtures.scenes import rotation
from fixtures.sheets import energy_of, forces_of, random_grid
from sinew.solver.linalg.bound_nodes import BoundNodes
from sinew.solver.mesh.geometry.triangle_surface import make_surface
from sinew.solver.mesh.point_clouds import REACH, weights_in_cloud
from sinew.solver.mesh.sheet_mesh import sheet_mesh
from sinew.solver.mesh.sheet_points import POINTS_PER_VERTEX, carry_by_points, scatter_points
from sinew.solver.mesh.tet_mesh import TetMesh
from sinew.solver.runtime.arrays import Floats, Indices
from sinew.solver.runtime.errors import BadInput
from sinew.solver.scene.attachment import Attachment
from sinew.solver.scene.contact import Collision
from sinew.solver.scene.goal import Goal
from sinew.solver.scene.rest_scale import RestScale
from sinew.solver.scene.scene import Fracture, Material, Plasticity, Scene, Settings
from sinew.solver.scene.seams import Seams

STILL = {"gravity": (0.0, 0.0, 0.0), "frame_end": 60}
TIGHT = {"tolerance": 1e-12, "max_iterations": 20000}
UNDAMPED = Material(2.0e6, 0.3, 300.0)


def carried(nodes: Floats, triangles: Indices, spacing: float = 3.0) -> TetMesh:
    """Returns a sheet that points carry."""
    return carry_by_points(sheet_mesh(make_surface(nodes, triangles, "sheet"), "sheet"), spacing, "sheet")


def followers(mesh: TetMesh) -> BoundNodes:
    own = mesh.junctions
    return BoundNodes(own.nodes, own.start, own.parents, own.weights)


def wavy(seed: int = 0) -> tuple[Floats, Indices]:
    """Returns a sheet of irregular triangles that is bent in both directions."""
    nodes, triangles = random_grid((16, 12), (0.4, 0.3), seed)
    return nodes + 0.03 * np.sin(20.0 * nodes[:, [1, 0, 0]]) * [0.0, 0.0, 1.0], triangles


def test_weights_are_those_of_the_formula() -> None:
    random = np.random.default_rng(0)
    cloud, places = random.uniform(0.0, 1.0, (200, 3)), random.uniform(0.2, 0.8, (40, 3))
    for place, own, weights in zip(places, *weights_in_cloud(cloud, places, 12), strict=True):
        away = np.linalg.norm(cloud - place, axis=1)
        assert own.tolist() == np.argsort(away)[:12].tolist()
        theta = (1.0 - (away[own] / (REACH * away[own].max())) ** 2) ** 2
        theta /= theta.sum()
        c = sum(t * X for t, X in zip(theta, cloud[own], strict=True))
        A = sum(t * np.outer(X - c, X - c) for t, X in zip(theta, cloud[own], strict=True))
        wanted = [t * (1.0 + (place - c) @ np.linalg.inv(A) @ (X - c)) for t, X in zip(theta, cloud[own], strict=True)]
        np.testing.assert_allclose(weights, wanted, atol=1e-12)


def test_places_follow_affine_motions_of_their_points() -> None:
    random = np.random.default_rng(1)
    cloud, places = random.uniform(0.0, 1.0, (200, 3)), random.uniform(0.2, 0.8, (40, 3))
    F, shift = np.eye(3) + random.normal(size=(3, 3)), random.normal(size=3)
    own, weights = weights_in_cloud(cloud, places, POINTS_PER_VERTEX)
    moved = np.einsum("kc,kci->ki", weights, cloud[own] @ F.T + shift)
    np.testing.assert_allclose(moved, places @ F.T + shift, atol=1e-12)


def test_a_flat_cloud_is_refused() -> None:
    cloud = np.random.default_rng(1).uniform(0.0, 1.0, (30, 3)) * [1.0, 1.0, 0.0]
    with pytest.raises(BadInput, match="in a plane"):
        weights_in_cloud(cloud, np.array([[0.5, 0.5, 0.1]]), 8)


@pytest.mark.parametrize("spacing", [1.0, 2.0, 3.0, 5.0])
def test_every_vertex_follows_points_that_all_get_mass(spacing: float) -> None:
    nodes, triangles = wavy()
    mesh = carried(nodes, triangles, spacing)
    count = len(nodes)
    assert np.array_equal(mesh.nodes[:count], nodes)
    assert np.array_equal(mesh.junctions.nodes, np.arange(count)) and (mesh.junctions.parents >= count).all()
    assert np.array_equal(np.unique(mesh.junctions.parents), np.arange(count, len(mesh.nodes)))
    x = mesh.nodes.copy()
    x[:count] = np.nan
    followers(mesh).interpolate(x)
    np.testing.assert_allclose(x[:count], nodes, atol=1e-12)
    a, b, c = nodes[triangles].transpose(1, 0, 2)
    area = np.linalg.norm(np.cross(b - a, c - a), axis=1) / 6.0
    mass = np.zeros((len(mesh.nodes), 1))
    np.add.at(mass[:, 0], triangles, area[:, None])
    total = mass.sum()
    followers(mesh).hand_down(mass)
    assert (mass[count:] > 0.0).all() and mass.sum() == pytest.approx(total, rel=1e-12)


def test_points_are_fewer_where_they_are_farther_apart() -> None:
    nodes, triangles = wavy()
    points = [len(carried(nodes, triangles, spacing).nodes) - len(nodes) for spacing in (2.0, 3.0, 5.0)]
    assert points[0] > points[1] > points[2] and points[1] < len(nodes)


def test_points_are_the_same_again_and_move_with_the_sheet() -> None:
    nodes, triangles = wavy()
    first, second = carried(nodes, triangles), carried(nodes.copy(), triangles)
    assert first.nodes.tobytes() == second.nodes.tobytes()
    assert first.junctions.weights.tobytes() == second.junctions.weights.tobytes()
    shift = np.array([1.0, -2.0, 0.5])  # exact in binary, but for round-off of sums
    there = scatter_points(nodes + shift, 0.05)
    np.testing.assert_allclose(there - shift, scatter_points(nodes, 0.05), atol=1e-12)


def test_a_sheet_that_is_too_small_for_its_points_is_refused_by_name(tmp_path: Path) -> None:
    with pytest.raises(BadInput) as caught:
        run_of(tmp_path, ribbon(200.0))
    assert caught.value.kind == "sheet-points-too-far-apart" and caught.value.details["name"] == "Ribbon"


def test_a_turned_cloud_turns_the_sheet_without_stress(tmp_path: Path) -> None:
    model = run_of(tmp_path, ribbon(3.0)).built.model
    assert model.bound is not None
    turn, shift = rotation((1.0, 2.0, 3.0), 1.2), np.array([0.3, 0.1, -2.0])
    x = model.X @ turn.T + shift
    x[model.bound.nodes] = np.nan
    model.bound.interpolate(x)
    np.testing.assert_allclose(x, model.X @ turn.T + shift, atol=1e-12)
    bent = model.X + [[0.0, 0.0, 1.0]] * model.X[:, :1] ** 2
    assert energy_of(model, x) < 1e-18 < 1e-9 * energy_of(model, bent)
    # no force or torque from within, on the points as on the sheet
    force = forces_of(model, bent)
    model.bound.hand_down(force)
    size = np.abs(force).max()
    assert size > 1e-3 and np.abs(force.sum(axis=0)).max() < 1e-10 * size
    model.bound.interpolate(bent)
    force = forces_of(model, bent)
    model.bound.hand_down(force)
    assert np.abs(np.cross(bent, force).sum(axis=0)).max() < 1e-10 * np.abs(force).max()


@pytest.mark.slow
def test_a_free_ribbon_moves_rigidly_and_keeps_its_momentum(tmp_path: Path) -> None:
    free = ribbon(3.0, held=-1.0, material=UNDAMPED, initial_velocity=(0.2, -0.1, 0.3))
    run = run_of(tmp_path / "moves", free, **STILL, **TIGHT)
    run.advance(5)
    moved = run.render["ribbon"] - free.vertices
    assert np.abs(moved - np.array([0.2, -0.1, 0.3]) * 5 / 24).max() < 1e-9
    run = run_of(tmp_path / "spins", replace(free, initial_spin=(0.0, 3.0, 1.0)), **STILL, **TIGHT)
    before = momenta(run)[0]
    run.advance(5)
    assert np.abs(momenta(run)[0] - before).max() < 1e-9 * np.abs(before).max()
    # all mass is that of the sheet
    assert run.built.model.mass.sum() == pytest.approx(0.3 * 0.03 * 2.0e-3 * 300.0, rel=1e-12)


@pytest.mark.slow
def test_it_sags_as_the_ribbon_by_itself(tmp_path: Path) -> None:
    """A little less: the points of its pins hold more of it."""
    sags = []
    for number, spacing in enumerate((None, 2.0)):
        damped = replace(UNDAMPED, mass_damping=8.0)
        run = run_of(tmp_path / str(number), ribbon(spacing, held=0.035, material=damped), frame_end=60)
        run.advance(24)
        sags.append(-float(run.render["ribbon"][-4:, 2].mean()))
    assert sags[0] > 0.2 and 0.9 * sags[0] < sags[1] < sags[0]


def test_pins_hold_the_points_of_their_vertices(tmp_path: Path) -> None:
    """Turned and moved, the held vertices are on their targets; a line of them and one alone are held by springs."""
    body = ribbon(3.0, held=0.015)
    held = body.vertices[body.pinned]
    turns = [rotation((0.0, 1.0, 0.2), angle) for angle in np.linspace(0.0, 0.6, 4)]
    targets = np.stack([held @ turn.T + [0.0, 0.0, 0.01 * n] for n, turn in enumerate(turns)])
    run = run_of(tmp_path / "rows", body, body__ribbon__targets=(np.arange(4) / 24.0, targets))
    for number in range(1, 4):
        run.advance(1)
        assert np.abs(run.render["ribbon"][body.pinned] - targets[number]).max() < 1e-9
    model = run.built.model
    assert model.bound is not None
    points = np.unique(model.bound.parents)
    assert np.isin(run.built.pins[0].fixed_nodes, points).all() and len(run.built.pins[0].fixed_nodes) < len(points)
    for name, at in (("line", np.arange(4)), ("alone", np.array([0]))):
        some = replace(body, pinned=at.astype(np.int32), pin_weights=np.ones(len(at)))
        run = run_of(tmp_path / name, some)
        run.advance(6)
        assert not len(run.built.pins[0].fixed_nodes)
        assert np.abs(run.render["ribbon"][at] - body.vertices[at]).max() < 1e-3


def test_weak_pins_and_pins_at_both_ends_hold_it(tmp_path: Path) -> None:
    body = ribbon(3.0)
    ends = np.flatnonzero((body.vertices[:, 0] < 0.015) | (body.vertices[:, 0] > 0.285)).astype(np.int32)
    run = run_of(tmp_path / "both", replace(body, pinned=ends, pin_weights=np.ones(len(ends))))
    assert len(run.built.pins[0].regions) == 2
    run.advance(6)
    assert np.abs(run.render["ribbon"][ends] - body.vertices[ends]).max() < 1e-9
    off = []
    for number, spacing in enumerate((3.0, None)):
        weak = replace(ribbon(spacing), pin_weights=np.full(len(body.pinned), 0.5))
        run = run_of(tmp_path / str(number), weak)
        run.advance(4)
        off.append(float(np.abs(run.render["ribbon"][body.pinned] - body.vertices[body.pinned]).max()))
    assert off[1] > 0.01 and off[0] == pytest.approx(off[1], rel=0.3)


@pytest.mark.slow
def test_it_lies_on_a_floor_and_on_a_body(tmp_path: Path) -> None:
    box = rigid_box((0.1, 0.1, 0.02), (0.15, 0.0, 0.01))
    flat = ribbon(3.0, held=-1.0)
    flat = replace(flat, vertices=flat.vertices + [0.0, 0.0, 0.022], collision=Collision(0.5, 0.0, False))
    run = run_of(tmp_path, flat, box, colliders=(FLOOR,), frame_end=40)
    run.advance(6)
    x = run.render["ribbon"]
    above = np.abs(x[:, 0] - 0.15) < 0.04
    assert x[:, 2].min() > -1e-3 and x[above, 2].min() > 0.019
    assert x[[0, -1], 2].max() < 0.015 and not sum(report.not_converged for report in run.reports)


@pytest.mark.slow
@pytest.mark.parametrize(
    ("name", "settings"),
    [
        ("plasticity", {"plasticity": Plasticity(yield_strain=0.001)}),
        ("seams", {"seams": Seams(np.array([[60, 100], [63, 103]], np.int32), max_force=0.1)}),
        ("scale", {"rest_scale": RestScale(0.9, np.linspace(0.0, 1.0, 124))}),
        ("attached", {"attachments": (Attachment("box", "spring", 0.05),)}),
        ("fixed", {"attachments": (Attachment("box", "fixed", 0.05),)}),
    ],
)
def test_other_settings_of_sheets_work_with_it(tmp_path: Path, name: str, settings: dict[str, Any]) -> None:
    """Each moves the ribbon, so that it is elsewhere than without."""
    box = rigid_box((0.03, 0.03, 0.02), (0.28, 0.0, 0.02))
    moved = []
    for number, given in enumerate(({}, settings)):
        run = run_of(tmp_path / str(number), ribbon(3.0, **given), box, frame_end=12)
        run.advance(3)
        assert not sum(report.not_converged for report in run.reports)
        moved.append(run.render["ribbon"])
    assert np.isfinite(moved[1]).all() and 1e-5 < np.abs(moved[1] - moved[0]).max() < 0.3


@pytest.mark.slow
def test_a_resumed_bake_has_the_same_bytes(tmp_path: Path) -> None:
    body = ribbon(3.0)
    scene = Scene((replace(body, vertices=body.vertices + [0.0, 0.0, 0.05]),), (FLOOR,), Settings(frame_end=10))
    whole = sinew.bake(scene, tmp_path / "whole.sinew")
    sinew.bake(replace(scene, settings=replace(scene.settings, frame_end=6)), tmp_path / "parts.sinew")
    parts = sinew.bake(scene, tmp_path / "parts.sinew", resume=True)
    for frame in range(1, 11):
        assert np.array_equal(whole.read_frame(frame).x, parts.read_frame(frame).x)
    assert whole.play_path("ribbon").read_bytes() == parts.play_path("ribbon").read_bytes()


@pytest.mark.parametrize(
    ("feature", "settings"),
    [
        ("Fracture", {"fracture": Fracture(breaking_stress=1.0e6)}),
        ("Goal", {"goal": Goal(0.5)}),
        ("Close T-Junctions", {"sheet": replace(ribbon(3.0).sheet, closes_t_junctions=True)}),
        ("strings", {"sheet": replace(ribbon(3.0).sheet, strands=np.array([[0, 9]], np.int32))}),
        ("exact Attachments", {"attachments": (Attachment("other", "fixed", 0.1, is_exact=True),)}),
    ],
)
def test_what_cannot_work_is_refused_by_name(tmp_path: Path, feature: str, settings: dict[str, Any]) -> None:
    with pytest.raises(BadInput) as caught:
        run_of(tmp_path, ribbon(3.0, **settings))
    assert caught.value.kind == "sheet-combined" and feature in str(caught.value.details["feature"])


@pytest.mark.parametrize("spacing", [0.5, 0.0, -1.0, float("nan"), float("inf")])
def test_points_nearer_than_edges_and_no_numbers_are_refused(tmp_path: Path, spacing: float) -> None:
    with pytest.raises(BadInput, match="Point Spacing"):
        run_of(tmp_path, ribbon(spacing))


def test_keys_on_its_material_are_refused(tmp_path: Path) -> None:
    track = (np.array([0.0, 1.0]), np.array([1.0e6, 2.0e6]))
    with pytest.raises(BadInput, match="Carried by Points beside keys on its material"):
        run_of(tmp_path, ribbon(3.0), body__ribbon__youngs_modulus=track)
