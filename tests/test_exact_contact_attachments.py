# SPDX-License-Identifier: GPL-3.0-or-later
"""Attachments with Exact contact: the energy of links, and bodies that hang by them as they do by Fast."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from fixtures.rigid_bodies import momenta, rigid_box
from fixtures.scenes import Run, block
from sinew.solver.integrators.exact_contact.energy_bodies import energy_bodies, without_rigid_bodies
from sinew.solver.integrators.exact_contact.incremental_potential import (
    AppliedForces,
    IncrementalPotential,
    OtherBodies,
)
from sinew.solver.integrators.solver_context import SolverContext
from sinew.solver.mechanics.state import State
from sinew.solver.scene.attachment import Attachment
from sinew.solver.scene.contact import Collision
from sinew.solver.scene.scene import Body, Collider, Scene, Settings
from sinew.solver.simulation.step_boundary_conditions import boundary_conditions
from sinew.solver.simulation.step_interval import StepPart

EXACT = Settings(contact="exact", fps=25.0, substeps=4, frame_end=60)
FLOOR = Collider("floor", "Floor", friction=0.5)
SIDE = 0.1


def held_block(**settings) -> Body:
    body = block((2, 2, 2), (SIDE,) * 3, at=(0.0, 0.0, 0.5), key="upper", **settings)
    top = np.flatnonzero(body.vertices[:, 2] > 0.5999).astype(np.int32)
    return replace(body, pinned=top, pin_weights=np.ones(len(top)))


def hanging(kind: str, lower: str) -> tuple[Body, Body]:
    """Returns a held block, and a soft or rigid one that hangs by it."""
    row = (Attachment("upper", kind, 0.01),)
    if lower == "rigid":
        return held_block(), rigid_box((SIDE,) * 3, (0.05, 0.05, 0.448), key="lower", attachments=row)
    return held_block(), block((2, 2, 2), (SIDE,) * 3, at=(0.0, 0.0, 0.398), key="lower", attachments=row)


@pytest.mark.parametrize(("kind", "lower"), [("spring", "soft"), ("fixed", "soft"), ("spring", "rigid")])
def test_what_hangs_by_links_hangs_as_by_fast_contact(tmp_path, kind, lower) -> None:
    ends = []
    for contact in ("exact", "fast"):
        scene = Scene(hanging(kind, lower), (FLOOR,), replace(EXACT, contact=contact))
        run = Run(tmp_path / contact, scene)
        run.advance(24)
        ends.append(run.render["lower"])
        assert all(report.converged for report in run.reports)
    assert ends[0][:, 2].min() > 0.3  # it hangs
    assert np.abs(ends[0] - ends[1]).max() < 2e-3


def test_links_have_the_gradient_that_the_potential_says(tmp_path) -> None:
    run, rng = Run(tmp_path, Scene(hanging("spring", "rigid"), (FLOOR,), EXACT)), np.random.default_rng(0)
    model, state = run.built.model, run.state
    part = StepPart(state.time, state.time + 0.01, 1.0)
    links = boundary_conditions(run.simulation, model, part, None).surface_potentials
    others, none = OtherBodies(energy_bodies(model, 0.01)), np.zeros(3)
    workspace, free = SolverContext().workspace(model), without_rigid_bodies(model)
    potential = IncrementalPotential(free, state, 0.01, workspace, AppliedForces(none, attachments=links), others)
    alone = IncrementalPotential(
        free, State(state.x.copy(), state.v.copy(), 0.0, {}), 0.01, workspace, AppliedForces(none), others
    )  # fmt: skip
    x = state.x + 1e-4 * rng.normal(size=state.x.shape)
    for _ in range(3):
        d = rng.normal(size=x.shape)
        pull = [(each.value(x + 1e-7 * d) - each.value(x - 1e-7 * d)) / 2e-7 for each in (potential, alone)]
        gradient = potential.derivatives(x)[0].copy() - alone.derivatives(x)[0]
        slope, stencils = float((gradient * d).sum()), potential.link_stencils
        assert len(stencils.tets) > 0
        for tets, weights, force in zip(stencils.tets, stencils.weights, stencils.gradient, strict=True):
            for corner in (0, 1):
                moved = weights[corner] @ d[model.tets[tets[corner]]]
                slope += 0.01**2 * float(force[3 * corner : 3 * corner + 3] @ moved)
        assert pull[0] - pull[1] == pytest.approx(slope, rel=1e-5)
    assert np.linalg.eigvalsh(stencils.hessian).min() > -1e-9 * np.abs(stencils.hessian).max()


def test_linked_bodies_keep_their_momentum_and_stay_out_of_the_floor(tmp_path) -> None:
    upper, lower = hanging("spring", "rigid")
    free = replace(upper, pinned=np.zeros(0, np.int32), pin_weights=np.zeros(0), collision=Collision(0.5))
    thrown = replace(lower, initial_velocity=(1.0, 0.0, 0.5))
    run = Run(tmp_path, Scene((free, thrown), (), replace(EXACT, gravity=(0.0, 0.0, 0.0))))
    before = momenta(run)[0]
    run.advance(8)
    np.testing.assert_allclose(momenta(run)[0], before, atol=1e-9 * np.linalg.norm(before))
    falls = Run(tmp_path / "falls", Scene((free, lower), (FLOOR,), EXACT))
    for _ in range(16):
        falls.advance()
        assert min(each[:, 2].min() for each in falls.render.values()) > 0.0
    assert falls.reports[-1].contacts > 0
