# SPDX-License-Identifier: GPL-3.0-or-later
"""Folds that stay: their flow against a slow twin, creases of paper and none of cotton, checkpoints, tears."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import sinew
from fixtures.rigid_bodies import run_of
from fixtures.scenes import Run
from fixtures.sheets import CLOTH, energy_of, forces_of, grid, sheet_model
from fixtures.shells import unit_sphere
from reference import sheets as twin
from sinew.solver.mechanics.sheets.plastic_folds import MAX_FOLD, flow_folds, strains_per_angle, with_folds
from sinew.solver.mechanics.sheets.sheet_elements import rest_angles
from sinew.solver.mechanics.state import State
from sinew.solver.mechanics.state_fields import FOLD_ANGLE, FOLD_FLOWED
from sinew.solver.runtime.arrays import Floats
from sinew.solver.scene.contact import Collider
from sinew.solver.scene.scene import Body, Fracture, Meshing, Plasticity, Scene, Settings
from sinew.solver.scene.sheet_presets import SHEET_PRESETS

THICKNESS = 0.02


def limits(count: int, yields: float, rate: float, most: float, hardening: float) -> tuple[Any, ...]:
    return (*(np.full(count, value, np.float64) for value in (yields, rate, most)), hardening)


@pytest.mark.parametrize(("hardening", "most"), [(0.0, 9.0), (0.8, 9.0), (0.0, 0.004)])
def test_folds_flow_as_their_equation_says(hardening: float, most: float) -> None:
    """The twin takes a thousand small steps of dφₚ/dt = r (|φ| − φ_y), each by its definition."""
    rng = np.random.default_rng(4)
    X, triangles = grid((3, 2), (0.6, 0.5))
    model = sheet_model(X, triangles, CLOTH)
    x = X + 0.05 * rng.normal(size=X.shape)
    c = strains_per_angle(X, triangles, THICKNESS, False)
    rest, rate, dt, yields = model.sheets.hinges.rest_angle, 12.0, 0.05, 0.01
    stays, flowed = 0.1 * rng.normal(size=len(c)), np.abs(rng.normal(size=len(c))) * 0.002
    expected, expected_flow = stays.copy(), flowed.copy()
    angles = np.array([twin.angle(x, tuple(hinge)) for hinge in model.tets])
    before, steps = np.abs(stays), 1000
    for _ in range(steps):
        bent = angles - rest - expected
        excess = np.maximum(np.abs(bent) - (yields + hardening * expected_flow) / c, 0.0)
        now = expected + np.sign(bent) * rate * excess * dt / steps
        now = np.clip(now, -np.maximum(most / c, before), np.maximum(most / c, before))
        expected_flow += c * np.abs(now - expected)
        expected = now
    none, bounds = np.zeros(len(c)), limits(len(c), yields, rate, most, hardening)
    flow_folds(model.tets, c, rest, none, x, bounds, dt, stays, flowed)
    assert np.abs(expected - angles).max() > 0.01 and (np.abs(expected) > before + 0.01).any()
    np.testing.assert_allclose(stays, expected, atol=2e-3 * np.abs(expected).max())
    if most > 1.0:
        np.testing.assert_allclose(flowed, expected_flow, atol=2e-3 * expected_flow.max())


def test_the_strain_of_a_bend_is_half_the_thickness_over_its_radius() -> None:
    """A strip rolled up to a cylinder, along whose axis edges lie."""
    radius = 0.3
    X, triangles = grid((30, 1), (0.5, 0.05))
    x = np.stack([radius * np.sin(X[:, 0] / radius), X[:, 1], radius * (1.0 - np.cos(X[:, 0] / radius))], axis=1)
    model = sheet_model(X, triangles, CLOTH)
    c = strains_per_angle(X, triangles, THICKNESS, False)
    strain = c * np.abs(rest_angles(x, model.tets) - rest_angles(X, model.tets))
    across = np.abs(X[model.tets[:, 0], 0] - X[model.tets[:, 1], 0]) < 1e-9
    np.testing.assert_allclose(strain[across], 0.5 * THICKNESS / radius, rtol=1e-3)
    assert strain[~across].max() < 1e-9  # the two triangles of a quad stay in a plane


def test_a_fold_that_stays_is_at_rest_and_never_closes_on_itself() -> None:
    X, triangles = grid((2, 1), (1.0, 0.5))
    model = sheet_model(X, triangles, CLOTH)
    x = X.copy()
    turned = x[:, 0] > 0.5
    angle = np.radians(178.0)
    x[turned] = np.stack([0.5 + 0.5 * np.cos(angle) + 0.0 * x[turned, 0], x[turned, 1],
                          0.5 * np.sin(angle) + 0.0 * x[turned, 0]], axis=1)  # fmt: skip
    c = strains_per_angle(X, triangles, THICKNESS, False)
    state = State(x, np.zeros_like(x), fields={FOLD_ANGLE: np.zeros(len(c)), FOLD_FLOWED: np.zeros(len(c))})
    rest = model.sheets.hinges.rest_angle
    none, bounds = np.zeros(len(c)), limits(len(c), 0.0, 1e6, 99.0, 0.0)
    flow_folds(model.tets, c, rest, none, x, bounds, 1.0, *state.fields.values())
    assert np.abs(state.fields[FOLD_ANGLE]).max() == pytest.approx(MAX_FOLD)
    folded = with_folds(model, state)
    assert energy_of(folded, x) < 0.01 * energy_of(model, x)
    flat = np.abs(state.fields[FOLD_ANGLE]) < MAX_FOLD
    assert np.abs(state.fields[FOLD_ANGLE][flat]).max(initial=0.0) < 1e-9
    assert np.abs(forces_of(with_folds(model, State(X, np.zeros_like(X))), X)).max() < 1e-12


CELL, HALF = 0.01, 6  # of a strip that is folded in the middle [m], in cells


def strip(preset: str, **settings: Any) -> tuple[Body, Floats]:
    """Returns a strip of a preset, all of it held, and where it is folded by 120 degrees [m]."""
    X, triangles = grid((2 * HALF, 2), (2 * HALF * CELL, 2 * CELL))
    X = X - [HALF * CELL, 0.0, 0.0]
    made, angle = SHEET_PRESETS[preset], np.radians(120.0)
    folded = X.copy()
    right = X[:, 0] > 0.0
    folded[right] = np.stack([np.cos(angle) * X[right, 0], X[right, 1], np.sin(angle) * X[right, 0]], axis=1)
    settings = {"plasticity": made.plasticity, "pinned": np.arange(len(X), dtype=np.int32)} | settings
    body = Body(
        X, triangles, key="strip", name="Strip", meshing=Meshing("sheet"), sheet=made.sheet,
        material=replace(made.material, mass_damping=5.0), **settings,
    )  # fmt: skip
    return body, folded


def fold_of(x: Floats) -> float:
    """Returns the angle between the ends of a strip [degrees]."""
    ends = [x[:3].mean(axis=0) - x[3:6].mean(axis=0), x[-6:-3].mean(axis=0) - x[-3:].mean(axis=0)]
    cosine = ends[0] @ ends[1] / np.linalg.norm(ends[0]) / np.linalg.norm(ends[1])
    return float(np.degrees(np.arccos(np.clip(cosine, -1.0, 1.0))))


def folded_and_let_go(folder: Path, preset: str, **settings: Any) -> Run:
    """Folds a strip in a third of a second, holds it for as long, and lets go of it for a second."""
    body, folded = strip(preset, **settings)
    turn, angle = np.linspace(0.0, 1.0, 9), np.radians(120.0)
    right, shapes = body.vertices[:, 0] > 0.0, []
    for share in turn:
        now, a = body.vertices.copy(), share * angle
        now[right, 0], now[right, 2] = np.cos(a) * now[right, 0], np.sin(a) * body.vertices[right, 0]
        shapes.append(now)
    np.testing.assert_allclose(shapes[-1], folded, atol=1e-12)
    keys = np.append(turn / 3.0, 99.0), np.concatenate([shapes, shapes[-1:]])
    release = np.array([0.0, 0.66]), np.array([1.0, 0.0]), "step"
    run = run_of(
        folder, body, gravity=(0.0, 0.0, 0.0), frame_end=90,
        body__strip__targets=keys, body__strip__pin_stiffness=release,
    )  # fmt: skip
    run.advance(40)
    return run


def test_paper_keeps_a_crease_and_cotton_does_not(tmp_path: Path) -> None:
    paper = folded_and_let_go(tmp_path / "paper", "PAPER")
    assert fold_of(paper.render["strip"]) > 70.0
    assert paper.reports[-1].bodies["strip"]["largest_plastic_strain"] > 0.003
    cotton = folded_and_let_go(tmp_path / "cotton", "COTTON")
    assert fold_of(cotton.render["strip"]) < 10.0 and FOLD_ANGLE not in cotton.state.fields


def test_yield_and_rate_may_be_painted(tmp_path: Path) -> None:
    """Where the strip is painted to yield late, in its middle, it keeps no fold."""
    body, _ = strip("PAPER")
    plasticity = replace(body.plasticity, yield_paint=np.where(np.abs(body.vertices[:, 0]) < 1e-6, 100.0, 1.0))
    run = folded_and_let_go(tmp_path, "PAPER", plasticity=plasticity)
    assert fold_of(run.render["strip"]) < 20.0


def test_folds_stay_where_the_sheet_tears(tmp_path: Path) -> None:
    """Tears change neither the folds of other edges nor those that come."""
    body, _ = strip("PAPER")
    run = folded_and_let_go(tmp_path, "PAPER", fracture=Fracture(1.0e12))
    whole = run.state.fields[FOLD_ANGLE].copy()
    assert fold_of(run.render["strip"]) > 70.0 and len(whole) == run.built.model.tet_count
    triangles = len(body.triangles)
    assert not whole[:triangles].any() and np.abs(whole[triangles:]).max() > 1.0


@pytest.mark.slow
def test_a_resumed_bake_has_the_same_folds(tmp_path: Path) -> None:
    X, triangles = grid((10, 10), (0.2, 0.2))
    foil = SHEET_PRESETS["FOIL"]
    body = Body(
        X - [0.1, 0.1, -0.06], triangles, key="foil", name="Foil", meshing=Meshing("sheet"), sheet=foil.sheet,
        material=foil.material, plasticity=Plasticity(yield_strain=1.0e-5, flow=60.0),
    )  # fmt: skip
    vertices, faces = unit_sphere(2)
    ball = Collider("ball", "Ball", "mesh", 0.05 * vertices, faces)
    scene = Scene((body,), (ball,), Settings(frame_end=14))
    whole = sinew.bake(scene, tmp_path / "whole.sinew")
    sinew.bake(replace(scene, settings=replace(scene.settings, frame_end=10)), tmp_path / "parts.sinew")
    with np.load(tmp_path / "parts.sinew" / "resume" / "000010.npz") as stored:
        name = next(name for name in stored.files if name.endswith(FOLD_ANGLE))
        assert np.abs(stored[name]).max() > 0.02
    parts = sinew.bake(scene, tmp_path / "parts.sinew", resume=True)
    assert whole.play_path("foil").read_bytes() == parts.play_path("foil").read_bytes()


def test_a_sheet_may_be_plastic_by_a_script() -> None:
    assert Plasticity().yield_strain > 0.0
    assert {key for key, made in SHEET_PRESETS.items() if made.plasticity is not None} == {"PAPER", "FOIL"}
