# SPDX-License-Identifier: GPL-3.0-or-later
"""With Gravity Already in Shape the first frames stay still; without, they sag."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from fixtures import closed_surfaces as shapes
from fixtures.scenes import Run, block, pose, rotation
from sinew.solver.constraints.external_forces import ExternalForces
from sinew.solver.integrators.integrator_choice import step
from sinew.solver.mechanics.model import Part, make_model
from sinew.solver.scene.scene import Collider, Material, Scene, Settings
from sinew.solver.simulation.sag_free import linear_strain
from test_pins import pinned

SOFT = Material(5e4, 0.4, 1000.0, stiffness_damping=0.01)


def drift(run, frames=6):
    """Returns how far any vertex gets from its place in the first frames [m]."""
    rest = run.scene.bodies[0].vertices
    return max(np.abs(run.advance() - rest).max() for _ in range(frames))


def cantilever(**settings):
    body = block((8, 2, 2), (2.0, 0.5, 0.5), material=SOFT, **settings)
    return pinned(body, lambda v: v[:, 0] < 1e-9)


def test_a_pinned_cantilever_stays_still(tmp_path):
    still = Run(tmp_path / "with", Scene((cantilever(gravity_in_shape=True),)))
    assert drift(still) < 1e-6
    assert not still.built.bodies[0].warnings and ("rest", "Block") in still.stages
    assert drift(Run(tmp_path / "without", Scene((cantilever(),)))) > 0.05


def test_a_scaled_cantilever_stays_still_too(tmp_path):
    body = cantilever(gravity_in_shape=True, simulated_scale=0.5)
    assert drift(Run(tmp_path, Scene((body,)))) < 1e-6


def test_the_strain_turns_along(tmp_path):
    """Turned as a whole, gravity too, a body still is in balance."""
    run = Run(tmp_path, Scene((cantilever(gravity_in_shape=True),)))
    turn = rotation([1.0, 2.0, 3.0], 2.0)
    model, state = run.built.model, run.state
    state.x = model.X @ turn.T
    held = np.zeros(model.node_count, bool)
    held[run.built.pins[0].fixed_nodes] = True
    step(model, state, ExternalForces(turn @ [0.0, 0.0, -9.81], held, state.x.copy()), 0.01, run.scene.settings)
    assert np.abs(state.v).max() < 1e-7


@pytest.mark.parametrize("kind", ["plane", "slope", "box"])
def test_a_block_on_the_ground_stays_still(tmp_path, kind):
    turn = rotation([0, 1, 0], 0.3) if kind == "slope" else np.eye(3)
    body = block((4, 4, 4), turn=turn, material=SOFT, gravity_in_shape=True)
    vertices, triangles = shapes.cube(1)
    shape = {"shape": "mesh", "vertices": vertices * 4 - [0, 0, 2], "triangles": triangles} if kind == "box" else {}
    ground = Collider("ground", "Ground", friction=0.9, **shape)
    track = {"collider__ground__matrix": ([0.0], [pose(turn)], "rigid")}
    still = Run(tmp_path / "with", Scene((body,), (ground,)), **track)
    assert drift(still, 4) < 1e-4
    assert not still.built.bodies[0].warnings
    sagging = Run(tmp_path / "without", Scene((replace(body, gravity_in_shape=False),), (ground,)), **track)
    assert drift(sagging) > 1e-2


@pytest.mark.parametrize("gap", [0.05, -0.05])
def test_a_block_that_does_not_quite_touch_stays_still(tmp_path, gap):
    """Feet are rarely made level with the ground; the gap is in tet sizes."""
    body = block((4, 4, 4), at=(0.0, 0.0, 0.3 * gap), material=SOFT, gravity_in_shape=True)
    run = Run(tmp_path, Scene((body,), (Collider("ground", "Ground", friction=0.9),)))
    assert run.built.bodies[0].mesh.report.tet_size == pytest.approx(0.3, rel=0.15)
    assert drift(run, 12) < 1e-5


def test_weak_pins_bear_their_share(tmp_path):
    """A block on springs hangs where it is made."""
    body = pinned(block((3, 3, 3), material=SOFT, gravity_in_shape=True), lambda v: v[:, 2] > 0.99, 0.5)
    assert drift(Run(tmp_path / "with", Scene((body,)))) < 1e-6
    assert drift(Run(tmp_path / "without", Scene((replace(body, gravity_in_shape=False),)))) > 1e-2


def test_what_nothing_holds_falls_and_is_named(tmp_path):
    held = cantilever(gravity_in_shape=True)
    loose = block((2, 2, 2), at=(5.0, 0.0, 3.0), key="loose", gravity_in_shape=True)
    run = Run(tmp_path, Scene((loose, held), (Collider("ground", "Ground"),), Settings()))
    kinds = [[warning.kind for warning in body.warnings] for body in run.built.bodies]
    assert kinds == [["gravity-in-shape-free"], []]
    assert '"Loose"' in run.built.bodies[0].warnings[0].text
    run.advance(6)
    assert run.render["loose"][:, 2].mean() < 3.4
    # it falls without being strained
    assert np.ptp(run.state.v[run.built.bodies[0].range.nodes], axis=0).max() < 1e-9


def test_a_block_over_the_edge_topples(tmp_path):
    """Contacts only push: most of the block hangs over the edge of a table, so it is not borne."""
    vertices, triangles = shapes.cube(1)
    table = Collider("table", "Table", "mesh", vertices - [0.5, 0.0, 0.5], triangles)
    body = block((6, 2, 2), (1.5, 0.5, 0.5), at=(-0.45, -0.25, 0.0), material=SOFT, gravity_in_shape=True)
    run = Run(tmp_path, Scene((body,), (table,)))
    assert [warning.kind for warning in run.built.bodies[0].warnings] == ["gravity-in-shape-free"]


def test_strain_is_that_of_a_linear_field():
    body = block((2, 2, 2))
    model = make_model([Part("b", body.tet_nodes, body.tets, np.ones(len(body.tets)), SOFT)])
    A = np.random.default_rng(0).normal(size=(3, 3))
    E = 0.5 * (A + A.T)
    expected = [E[0, 0], E[1, 1], E[2, 2], E[0, 1], E[1, 2], E[2, 0]]
    assert np.allclose(linear_strain(model, model.X @ A.T), expected)
