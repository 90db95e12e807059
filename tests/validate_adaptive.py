# SPDX-License-Identifier: GPL-3.0-or-later
"""Adaptive tets: patch test, rigid motions, no gap, momenta, and how near they come to even tets: `make validate`."""

from __future__ import annotations

import time
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from fixtures.adaptive_shapes import arm, model_of_adaptive, monkey
from fixtures.claim_table import reach
from fixtures.scenes import Run, rotation
from sinew.solver.constraints.external_forces import ExternalForces
from sinew.solver.integrators.integrator_choice import step
from sinew.solver.mechanics.state import State
from sinew.solver.mesh.geometry.triangle_surface import make_surface
from sinew.solver.mesh.tet_mesh import TetMesh
from sinew.solver.mesh.tetrahedralize import tetrahedralize
from sinew.solver.runtime.arrays import Floats
from sinew.solver.scene.fine_regions import FineRegions
from sinew.solver.scene.formulation import FormulationSettings
from sinew.solver.scene.meshing import Meshing
from sinew.solver.scene.scene import Body, Material, Scene, Settings
from test_adaptive_fill import CUBE, filled, largest_gap

SECTION = "Adaptive tets"
EXACT = Settings(tolerance=1.0e-13, max_iterations=20000)
CORNER = FineRegions(places=np.array([[0.31, 0.33, 0.36]]), reach=0.05)
# the head and the arm, and how they are held and made
SOFT = Material(youngs_modulus=3.0e4, poisson_ratio=0.35, density=1000.0, stiffness_damping=0.02)
FRAMES = 6
MAX_ERROR, MAX_TETS, MAX_TIME = 0.05, 0.30, 0.5


def three_levels() -> TetMesh:
    """Returns a cube whose tets of a half, a quarter and an eighth touch each other."""
    return filled(CUBE, 16, 8, CORNER)


@pytest.mark.parametrize("scheme", ["polar", "green"])
def test_patch(scheme: str) -> None:
    mesh = three_levels()
    model = model_of_adaptive(mesh, FormulationSettings(scheme))
    assert model.bound is not None
    F = np.eye(3) + 0.02 * np.random.default_rng(5).normal(size=(3, 3))
    wanted: Floats = model.X @ F.T
    outside = ((model.X < 1e-9) | (model.X > 1.0 - 1e-9)).any(axis=1)
    edge = np.zeros(model.node_count, bool)
    edge[model.tets[outside[model.tets].any(axis=1)]] = True
    assert (~edge & model.bound.is_bound(model.node_count)).sum() > 100
    state = State(np.where(edge[:, None], wanted, model.X), np.zeros_like(model.X))
    model.bound.interpolate(state.x)
    held = ExternalForces(is_fixed=edge & ~model.bound.is_bound(model.node_count), fixed_target=wanted)
    for _ in range(60):
        state.v[:] = 0.0
        step(model, state, held, 1.0e3, EXACT)
    error = float(np.abs(state.x - wanted).max())
    line = f"{scheme}: patch of {model.tet_count} tets with {len(model.bound.nodes)} T-junctions is off [m]"
    assert reach(SECTION, line, error, 1e-10, error <= 1e-10)


def test_rigid_motions_make_no_force() -> None:
    model = model_of_adaptive(three_levels())
    state = State(model.X @ rotation([1.0, 2.0, 3.0], 2.0).T + [3.0, -1.0, 2.0], np.zeros_like(model.X))
    turned = state.x.copy()
    for _ in range(5):
        assert step(model, state, ExternalForces(), 0.01, EXACT).converged
    error = float(np.abs(state.x - turned).max())
    assert reach(SECTION, "turned by 2 rad and moved, it moves by itself [m]", error, 1e-10, error <= 1e-10)


def test_no_gap_under_twist() -> None:
    mesh = three_levels()
    model = model_of_adaptive(mesh)
    assert model.bound is not None
    state = State(model.X.copy(), np.zeros_like(model.X))
    ends = [model.X[:, 2] < model.X[:, 2].min() + 1e-9, model.X[:, 2] > model.X[:, 2].max() - 1e-9]
    is_fixed = (ends[0] | ends[1]) & ~model.bound.is_bound(model.node_count)
    middle = np.array([0.5, 0.5, 0.0])
    for angle in np.linspace(0.0, 0.5 * np.pi, 21)[1:]:
        wanted = np.where(ends[1][:, None], (model.X - middle) @ rotation([0, 0, 1], angle).T + middle, model.X)
        step(model, state, ExternalForces(is_fixed=is_fixed, fixed_target=wanted), 0.02, replace(EXACT, tolerance=1e-8))
    moved = float(np.linalg.norm(state.x - model.X, axis=1).max())
    gap, count = largest_gap(mesh, state.x)
    assert moved > 0.5 and count > 100
    line = f"twisted by a quarter turn, {count} corners in sides of other tets gape by [m]"
    assert reach(SECTION, line, gap, 1e-12, gap <= 1e-12)


def momenta_made(mesh: TetMesh) -> list[float]:
    """Returns how much momentum and angular momentum ten steps make of a cube that swings and turns, of its own."""
    model = model_of_adaptive(mesh)
    X = model.X - 0.5
    stretch = np.array([[0.05, 0.03, 0.0], [0.03, -0.04, 0.02], [0.0, 0.02, 0.03]])  # the same in all tets
    state = State(model.X + X @ stretch, np.cross([1.0, 0.5, -0.3], X) + [0.3, 0.1, -0.2])
    if model.bound is not None:
        model.bound.interpolate(state.x)
        model.bound.interpolate(state.v)
    before = model.mass @ state.v, model.mass @ np.cross(state.x, state.v)
    sizes = [float(model.mass @ np.linalg.norm(each, axis=1)) for each in (state.v, np.cross(state.x, state.v))]
    for _ in range(10):
        assert step(model, state, ExternalForces(), 0.0025, replace(EXACT, tolerance=1e-12)).converged
    after = model.mass @ state.v, model.mass @ np.cross(state.x, state.v)
    return [float(np.abs(a - b).max() / size) for a, b, size in zip(after, before, sizes, strict=True)]


def test_momenta() -> None:
    linear, angular = momenta_made(three_levels())
    even = tetrahedralize(make_surface(*CUBE, "cube"), Meshing("robust", divisions=8), "cube")
    _, without = momenta_made(even)
    assert reach(SECTION, "momentum made in ten steps", linear, 1e-9, linear <= 1e-9)
    bound = max(1e-9, 2.0 * without)
    line = "angular momentum made, against twice that by even tets"
    assert reach(SECTION, line, angular, bound, angular <= bound)


@pytest.mark.timed
@pytest.mark.parametrize(("name", "divisions"), [("Suzanne", 40), ("arm", 48)])
def test_how_near_they_come_to_even_tets(name: str, divisions: int, tmp_path: Path) -> None:
    """A head held at its back and an arm held at its shoulder sag for a quarter of a second."""
    vertices, triangles = monkey() if name == "Suzanne" else arm()
    held = vertices[:, 1] > 0.5 if name == "Suzanne" else vertices[:, 0] < 0.3
    pinned = np.flatnonzero(held).astype(np.int32)
    runs = {}
    for kind in ("robust", "adaptive"):
        body = Body(vertices, triangles, SOFT, Meshing(kind, divisions=divisions), pinned=pinned)
        runs[kind] = Run(tmp_path / kind, Scene((body,), settings=Settings(frame_end=100)))
        runs[kind].advance(1)
    shapes: dict[str, list[Floats]] = {kind: [] for kind in runs}
    seconds: dict[str, list[float]] = {kind: [] for kind in runs}
    for _ in range(FRAMES):
        for kind, run in runs.items():  # in turns, so that what else the machine does falls on both
            begin = time.process_time()
            shapes[kind].append(run.advance(1).copy())
            seconds[kind].append(time.process_time() - begin)
    even, own = (np.array(shapes[kind]) for kind in ("robust", "adaptive"))
    error = float(np.linalg.norm(own - even) / np.linalg.norm(even - vertices))
    counts = {kind: run.built.model.tet_count for kind, run in runs.items()}
    share = counts["adaptive"] / counts["robust"]
    ratio = float(np.median(np.array(seconds["adaptive"]) / np.array(seconds["robust"])))
    found = [
        reach(SECTION, f"{name}: off even tets, of the deformation (rms)", error, MAX_ERROR, error <= MAX_ERROR),
        reach(SECTION, f"{name}: tets, of {counts['robust']:,} even ones", share, MAX_TETS, share <= MAX_TETS),
        reach(SECTION, f"{name}: time of a frame, of that with even ones", ratio, MAX_TIME, ratio <= MAX_TIME),
    ]
    assert all(found)
