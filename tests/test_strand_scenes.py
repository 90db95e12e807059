# SPDX-License-Identifier: GPL-3.0-or-later
"""Strings and ropes as bodies of scenes: they hang, fall on colliders, carry bodies, are resumed, or are refused."""

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
from sinew.solver.runtime.errors import BadInput
from sinew.solver.scene.attachment import Attachment
from sinew.solver.scene.contact import Collider
from sinew.solver.scene.pressure import Pressure
from sinew.solver.scene.scene import Body, Fracture, Material, Meshing, Plasticity, Scene, Settings
from sinew.solver.scene.sheet import Sheet
from sinew.solver.scene.tracks import TrackReader
from sinew.solver.simulation.diagnostics.diagnose import diagnose

WEIGHTLESS = (0.0, 0.0, 0.0)
THICKNESS = 0.01
NYLON = Material(1.0e7, 0.3, 1000.0, 1.0, 0.0)
NO_FACES = np.zeros((0, 3), np.int32)


def chain(count: int) -> np.ndarray:
    return np.stack([np.arange(count), np.arange(1, count + 1)], axis=1).astype(np.int32)


def rope(count: int = 20, length: float = 0.5, height: float = 0.0, along: int = 0, **settings: Any) -> Body:
    """Returns a rope along an axis, whose middle (or along z, lower end) is above the origin."""
    vertices = np.zeros((count + 1, 3))
    vertices[:, along] = np.linspace(-0.5, 0.5, count + 1) * length
    vertices[:, 2] += height + (0.5 * length if along == 2 else 0.0)
    sheet = Sheet(thickness=THICKNESS, bending=0.1, strands=chain(count))
    settings = {"key": "rope", "name": "Rope", "material": NYLON, "sheet": sheet} | settings
    return Body(vertices, NO_FACES, meshing=Meshing("sheet"), **settings)


def test_a_rope_weighs_and_falls_as_it_should(tmp_path: Path) -> None:
    run = run_of(tmp_path, rope(material=replace(NYLON, mass_damping=0.0)), frame_end=20)
    assert run.built.model.mass.sum() == pytest.approx(1000.0 * np.pi * THICKNESS**2 / 4.0 * 0.5)
    run.advance(6)
    fallen = run.render["rope"][:, 2]
    assert np.ptp(fallen) < 1e-9 and fallen[0] < -0.2


def test_a_rope_lies_on_a_ball_as_far_away_as_it_is_thick(tmp_path: Path) -> None:
    vertices, triangles = unit_sphere(3)
    ball = Collider("ball", "Ball", "mesh", 0.1 * vertices - [0.0, 0.0, 0.11], triangles)
    run = run_of(tmp_path, rope(30, 0.5, 0.02), colliders=(ball,), frame_end=100)
    nearest = []
    for _ in range(8):
        run.advance()
        nearest.append(np.linalg.norm(run.render["rope"] + [0.0, 0.0, 0.11], axis=1).min())
    assert all(report.converged for report in run.reports)
    assert 0.1 + 0.3 * THICKNESS < min(nearest) < 0.1 + 0.7 * THICKNESS  # flat faces of the ball are 1 mm inside of it
    assert run.render["rope"][:, 2].min() < -0.1  # its ends hang down


@pytest.mark.parametrize("is_owner", [True, False])
@pytest.mark.parametrize("is_rigid", [True, False])
def test_a_body_hangs_by_a_pinned_rope(tmp_path: Path, is_owner: bool, is_rigid: bool) -> None:
    reach = 0.08 if is_rigid and not is_owner else 0.015  # rigid bodies have points at their vertices alone
    row = Attachment("box" if is_owner else "rope", "fixed", reach)
    pins = {"pinned": np.array([20], np.int32)}
    cord = rope(20, 0.4, 0.005, along=2, attachments=(row,) if is_owner else (), **pins)
    make = rigid_box if is_rigid else block
    shape = ((0.1, 0.1, 0.1), (0.0, 0.0, -0.05)) if is_rigid else ((2, 2, 2), (0.1, 0.1, 0.1), (-0.05, -0.05, -0.1))
    box = make(*shape, key="box", attachments=() if is_owner else (row,))
    run = run_of(tmp_path, cord, box, frame_end=60)
    run.advance(10)
    assert all(report.converged for report in run.reports)
    x = run.render["rope"]
    np.testing.assert_allclose(x[20], [0.0, 0.0, 0.405], atol=1e-4)
    assert 0.395 < x[20, 2] - x[0, 2] < 0.46
    gap = np.linalg.norm(run.render["box"][:, :2], axis=1).max()
    assert -0.2 < run.render["box"][:, 2].min() < -0.08 and gap < 0.15


def test_a_cloth_hangs_on_a_line(tmp_path: Path) -> None:
    line = rope(20, 0.4, pinned=np.array([0, 20], np.int32))
    nodes, triangles = grid((6, 6), (0.2, 0.2))
    vertices = nodes[:, [0, 2, 1]] * [1.0, 1.0, -1.0] - [0.1, 0.0, 0.012]  # its upper border is beside the rope
    material, row = Material(1.0e6, 0.3, 300.0, 3.0, 0.0), Attachment("rope", "fixed", 0.02)
    cloth = Body(vertices, triangles, meshing=Meshing("sheet"), key="cloth", name="Cloth", material=material,
                 sheet=Sheet(thickness=0.001), attachments=(row,))  # fmt: skip
    run = run_of(tmp_path, line, cloth, frame_end=60)
    run.advance(12)
    assert all(report.converged for report in run.reports)
    x, held = run.render["cloth"], nodes[:, 1] == 0.0
    apart = np.linalg.norm(x[held][:, None] - run.render["rope"][None], axis=2).min(axis=1)
    assert apart.max() < 0.02 and -0.26 < x[:, 2].min() < -0.2
    assert run.render["rope"][10, 2] < -0.002  # the line sags


def test_a_rope_and_a_body_keep_their_momentum(tmp_path: Path) -> None:
    row = Attachment("jelly", "fixed", 0.015)
    cord = rope(20, 0.4, 0.005, along=2, attachments=(row,), material=replace(NYLON, mass_damping=0.0))
    jelly = block((2, 2, 2), (0.1, 0.1, 0.1), (-0.05, -0.05, -0.1), key="jelly", initial_velocity=(0.3, 0.0, -1.0))
    run = run_of(tmp_path, cord, jelly, gravity=WEIGHTLESS, frame_end=60, tolerance=1e-9)
    before = momenta(run)
    run.advance(6)
    after = momenta(run)
    assert np.linalg.norm(run.state.v[run.built.model.bodies[0].nodes], axis=1).max() > 0.1  # it was pulled along
    assert np.abs(after[0] - before[0]).max() < 1e-9 * np.abs(before[0]).max()


def test_fringes_hang_from_a_pinned_cloth_that_folds_for_good(tmp_path: Path) -> None:
    nodes, triangles = grid((4, 4), (0.2, 0.2))
    border = np.arange(20, 25, dtype=np.int32)
    X = np.concatenate([nodes, nodes[border] + [0.05, 0.0, 0.0], nodes[border] + [0.1, 0.0, 0.0]])
    strands = np.concatenate([[[b, 25 + k], [25 + k, 30 + k]] for k, b in enumerate(border)]).astype(np.int32)
    material = Material(1.0e6, 0.3, 300.0, 3.0, 0.0)
    sheet = Sheet(thickness=0.001, strands=strands)
    cloth = Body(X, triangles, meshing=Meshing("sheet"), key="cloth", name="Cloth", material=material, sheet=sheet,
                 pinned=np.arange(20, dtype=np.int32), plasticity=Plasticity(yield_strain=1e-4, flow=10.0))  # fmt: skip
    run = run_of(tmp_path, cloth, frame_end=60)
    run.advance(12)
    assert all(report.converged for report in run.reports)
    x = run.render["cloth"]
    assert (x[25:30, 2] < x[20:25, 2] - 0.02).all() and (x[30:35, 2] < x[25:30, 2] - 0.03).all()
    lengths = np.linalg.norm(x[strands[:, 1]] - x[strands[:, 0]], axis=1)
    np.testing.assert_allclose(lengths, 0.05, rtol=0.01)


def test_a_resumed_bake_of_a_rope_has_the_same_bytes(tmp_path: Path) -> None:
    scene = Scene((rope(10, 0.3, 0.05, pinned=np.array([0], np.int32)),), (FLOOR,), Settings(frame_end=6))
    whole = sinew.bake(scene, tmp_path / "whole.sinew")
    sinew.bake(replace(scene, settings=replace(scene.settings, frame_end=3)), tmp_path / "parts.sinew")
    parts = sinew.bake(scene, tmp_path / "parts.sinew", resume=True)
    for frame in range(1, 7):
        assert np.array_equal(whole.read_frame(frame).x, parts.read_frame(frame).x)
    assert whole.play_path("rope").read_bytes() == parts.play_path("rope").read_bytes()


def test_check_finds_nothing_wrong_with_a_rope(tmp_path: Path) -> None:
    assert not diagnose(Scene((rope(),)), TrackReader(tmp_path))


def test_a_saved_scene_has_its_strings_and_other_ones_another_digest(tmp_path: Path) -> None:
    scene = Scene((rope(),))
    scene.save(tmp_path)
    loaded = Scene.load(tmp_path)
    assert np.array_equal(loaded.bodies[0].sheet.strands, chain(20)) and loaded.digest() == scene.digest()
    cut = replace(scene.bodies[0], sheet=Sheet(thickness=THICKNESS, bending=0.1, strands=chain(19)))
    assert Scene((cut,)).digest() != scene.digest()


@pytest.mark.parametrize(
    ("settings", "kind"),
    [
        ({"fracture": Fracture()}, "strands-combined"),
        ({"plasticity": Plasticity()}, "strands-combined"),
        ({"pressure": Pressure()}, "strands-combined"),
        ({"sheet": Sheet(strands=np.array([[0, 99]], np.int32))}, "strand-ends"),
        ({"sheet": Sheet(strands=np.array([[3, 3]], np.int32))}, "strand-ends"),
        ({"sheet": Sheet()}, "mesh-empty"),
    ],
)
def test_what_strings_cannot_do_is_refused_by_name(tmp_path: Path, settings: dict[str, Any], kind: str) -> None:
    with pytest.raises(BadInput, match='"Rope"') as caught:
        run_of(tmp_path, rope(**settings))
    assert caught.value.kind == kind
