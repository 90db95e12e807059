# SPDX-License-Identifier: GPL-3.0-or-later
"""What holds sheets: pins, goals, hooks, and rows of Attachments to colliders, bodies and bones."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from fixtures.rigid_bodies import momenta, rigid_box, run_of
from fixtures.scenes import Run, block
from fixtures.sheets import grid
from sinew.solver.runtime.arrays import Floats, Indices
from sinew.solver.scene.attachment import Attachment
from sinew.solver.scene.contact import Collider
from sinew.solver.scene.flesh import Bone
from sinew.solver.scene.goal import Goal
from sinew.solver.scene.hook import Hook
from sinew.solver.scene.scene import Body, Meshing, Scene, Settings
from sinew.solver.scene.sheet_presets import SHEET_PRESETS

CELLS, WIDTH, LENGTH = (8, 8), 0.4, 0.4


def curtain(preset: str = "COTTON", **settings: Any) -> Body:
    """Returns a curtain that hangs in the plane y = 0 from z = 0 down."""
    nodes, triangles = grid(CELLS, (WIDTH, LENGTH))
    made = SHEET_PRESETS[preset]
    damped = replace(made.material, mass_damping=2.0)
    settings = {"material": damped, "sheet": made.sheet, "key": "curtain", "name": "Curtain"} | settings
    upright = np.stack([nodes[:, 0] - 0.5 * WIDTH, np.zeros(len(nodes)), nodes[:, 1] - LENGTH], axis=1)
    return Body(upright, triangles, meshing=Meshing("sheet"), **settings)


def upper_edge(body: Body) -> Indices:
    return np.flatnonzero(body.vertices[:, 2] > -1.0e-9).astype(np.int32)


def rod(key: str = "rod") -> tuple[Floats, Indices]:
    """Returns a closed bar along the upper edge, 5 mm above it."""
    box = rigid_box((WIDTH, 0.02, 0.02), (0.0, 0.0, 0.015), key=key)
    return box.vertices, box.triangles


def sag(run: Run, body: Body) -> Floats:
    """Returns how far the upper edge is below its place [m]."""
    edge = upper_edge(body)
    return body.vertices[edge, 2] - run.render["curtain"][edge, 2]


def test_pinned_vertices_of_a_sheet_stay_where_they_are_and_no_others_are_held(tmp_path: Path) -> None:
    """Also in corners, where a whole triangle is pinned."""
    body = curtain()
    edge = upper_edge(body)
    corner = np.flatnonzero((body.vertices[:, 2] > -0.06) & (body.vertices[:, 0] < -0.14)).astype(np.int32)
    run = run_of(tmp_path, replace(body, pinned=np.union1d(edge, corner)), frame_end=60, gravity=(0.0, 3.0, -9.81))
    run.advance(6)
    held = np.zeros(len(body.vertices), bool)
    held[edge] = held[corner] = True
    moved = np.linalg.norm(run.render["curtain"] - body.vertices, axis=1)
    assert moved[held].max() < 1.0e-12
    assert moved[~held].min() > 1.0e-6


@pytest.mark.slow
def test_weights_of_pins_are_springs_as_strong_as_mass(tmp_path: Path) -> None:
    body = curtain()
    edge = upper_edge(body)
    run = run_of(tmp_path, replace(body, pinned=edge, pin_weights=np.full(len(edge), 0.5)), frame_end=100)
    run.advance(60)
    mass = run.built.model.mass
    share = 0.5 * 1000.0 * mass[edge].sum()  # [N/m]
    assert sag(run, body).mean() == pytest.approx(9.81 * mass.sum() / share, rel=0.05)


@pytest.mark.parametrize("kind", ["fixed", "spring"])
@pytest.mark.parametrize("target", ["collider", "bone"])
def test_a_curtain_hangs_by_a_row_about_a_rod_that_moves(tmp_path: Path, kind: str, target: str) -> None:
    row = Attachment("rod", kind, 0.02)
    body = curtain(attachments=(row,))
    vertices, triangles = rod()
    held = (Collider("rod", "Rod", "mesh", vertices, triangles),) if target == "collider" else ()
    bones = () if held else (Bone("rod", "Rod", vertices, triangles),)
    matrices = np.tile(np.eye(4), (2, 1, 1))
    matrices[1, 0, 3] = 0.1
    scene = Scene((body,), held, Settings(frame_end=60), bones=bones)
    run = Run(tmp_path, scene, **{f"{target}__rod__matrix": (np.array([0.0, 0.5]), matrices)})
    run.advance(24)
    edge = upper_edge(body)
    moved = run.render["curtain"][edge] - body.vertices[edge]
    np.testing.assert_allclose(moved, np.tile([0.1, 0.0, 0.0], (len(edge), 1)), atol=1e-4 if kind == "fixed" else 2e-3)
    assert sum(report.not_converged for report in run.reports) == 0


@pytest.mark.slow
@pytest.mark.parametrize("is_rigid", [False, True])
def test_a_sheet_and_a_body_that_hang_on_each_other_keep_their_momenta(tmp_path: Path, is_rigid: bool) -> None:
    if is_rigid:
        bar = rigid_box((WIDTH, 0.02, 0.02), (0.0, 0.0, 0.015), key="bar")
    else:
        bar = block((4, 1, 1), (WIDTH, 0.04, 0.04), (-0.5 * WIDTH, -0.02, 0.005), key="bar")
    pulled = replace(bar, initial_velocity=(0.0, 1.0, 0.5))
    undamped = SHEET_PRESETS["COTTON"].material
    body = curtain(attachments=(Attachment("bar", "fixed", 0.02),), material=undamped)
    run = run_of(tmp_path, body, pulled, gravity=(0.0, 0.0, 0.0), frame_end=60, tolerance=1e-8, substeps=8)
    before = momenta(run)
    run.advance(2)
    after, scale = momenta(run), np.abs(before[0]).max()
    edge = upper_edge(body)
    assert np.linalg.norm(run.state.v[edge], axis=1).min() > 0.1  # the bar takes the sheet along
    np.testing.assert_allclose(after[0], before[0], atol=1e-6 * scale)
    np.testing.assert_allclose(after[1], before[1], atol=5e-3 * scale * LENGTH)  # implicit Euler takes some of it


def test_a_painted_row_holds_what_is_painted_alone(tmp_path: Path) -> None:
    body = curtain()
    paint = (body.vertices[:, 0] < -0.1).astype(float)
    body = replace(body, attachments=(Attachment("rod", "fixed", 0.02, paint=paint),))
    run = run_of(tmp_path, body, colliders=(Collider("rod", "Rod", "mesh", *rod()),), frame_end=60)
    run.advance(8)
    edge = upper_edge(body)
    found = sag(run, body)
    assert np.abs(found[paint[edge] > 0.5]).max() < 1e-4
    assert found[-1] > 0.01


@pytest.mark.slow
def test_a_row_breaks_under_its_load(tmp_path: Path) -> None:
    weight = 9.81 * 0.15 * WIDTH * LENGTH
    lows = []
    for breaking in (0.5 * weight, 4.0 * weight):
        row = Attachment("rod", "spring", 0.02, breaking_force=breaking)
        rods = (Collider("rod", "Rod", "mesh", *rod()),)
        run = run_of(tmp_path / str(breaking), curtain(attachments=(row,)), colliders=rods, frame_end=60)
        run.advance(12)
        lows.append(run.render["curtain"][:, 2].max())
    assert lows[0] < -0.2 and lows[1] > -0.01


def test_a_sheet_slides_along_what_it_is_attached_to(tmp_path: Path) -> None:
    """It lies 1 cm over a slanted slab: it keeps the distance and slides down."""
    slab = rigid_box((2.0, 2.0, 0.1), (0.0, 0.0, -0.06), key="slab")
    nodes, triangles = grid((6, 6), (0.4, 0.4))
    made = SHEET_PRESETS["LEATHER"]
    body = Body(
        nodes - [0.2, 0.2, 0.0], triangles, key="skin", name="Skin", meshing=Meshing("sheet"), material=made.material,
        sheet=made.sheet, attachments=(Attachment("slab", "sliding", 0.05),),
    )  # fmt: skip
    ground = Collider("slab", "Slab", "mesh", slab.vertices, slab.triangles)
    run = run_of(tmp_path, body, colliders=(ground,), gravity=(5.0, 0.0, 5.0), frame_end=60)
    run.advance(6)
    moved = run.render["skin"] - body.vertices
    t = 6 / 24.0
    assert moved[:, 0].mean() == pytest.approx(0.5 * 5.0 * t * t, rel=0.2)
    assert np.abs(moved[:, 2]).max() < 0.01


@pytest.mark.slow
def test_a_goal_holds_vertices_exactly_and_pulls_others(tmp_path: Path) -> None:
    body = curtain()
    paint = np.where(body.vertices[:, 2] > -1e-9, 1.0, 0.5)
    body = replace(body, goal=Goal(1.0, paint=paint))
    bulge = body.vertices.copy()
    bulge[:, 1] += 0.1 * np.sin(9.0 * bulge[:, 0])
    shapes = np.stack([body.vertices, bulge])
    run = run_of(tmp_path, body, frame_end=60, body__curtain__goal__targets=(np.array([0.0, 0.25]), shapes))
    run.advance(12)
    edge = upper_edge(body)
    np.testing.assert_allclose(run.render["curtain"][edge], bulge[edge], atol=1e-12)
    assert np.linalg.norm(run.render["curtain"] - bulge, axis=1).max() < 0.05


def test_a_hook_pulls_a_sheet_along(tmp_path: Path) -> None:
    body = curtain()
    paint = np.zeros(len(body.vertices))
    paint[upper_edge(body)] = 1.0
    matrices = np.tile(np.eye(4), (2, 1, 1))
    matrices[1, 2, 3] = 0.2
    run = run_of(tmp_path, replace(body, hooks=(Hook(paint, 1.0),)), frame_end=60,
                 body__curtain__hook__0__matrix=(np.array([0.0, 0.5]), matrices))  # fmt: skip
    run.advance(30)
    assert sag(run, body).mean() == pytest.approx(-0.2, abs=0.02)
