# SPDX-License-Identifier: GPL-3.0-or-later
"""Bodies with a rigid core beside others and touching them: those that break, flesh, other steps, other cores."""

import numpy as np
import pytest

from fixtures.rigid_bodies import rigid_box
from fixtures.rigid_core_scenes import FIRM, WEIGHTLESS, core_of, cube, model_of, run_of, stretch
from fixtures.scenes import block, pose, rotation
from sinew.solver.constraints.rigid_core import effective_forces
from sinew.solver.constraints.rigid_core.rigid_body_momentum import core_body
from sinew.solver.scene.contact import Collider
from sinew.solver.scene.flesh import DYNAMIC, Flesh
from sinew.solver.scene.formulation import FormulationSettings
from sinew.solver.scene.rigid_core import Core, Hinge, Pull
from sinew.solver.scene.scene import Fracture, Material

pytestmark = pytest.mark.slow


def test_core_keeps_its_nodes_beside_a_body_that_breaks(tmp_path):
    breaking = block((3, 3, 3), at=(0.0, 0.0, 0.1), key="breaking", fracture=Fracture(breaking_stress=500.0))
    run = run_of(
        tmp_path, breaking, cube(at=(0.1, 0.1, 1.2), key="whole"), colliders=[Collider("floor", "Floor", "plane")]
    )
    first = core_of(run).nodes[0]
    run.advance(8)
    assert core_of(run).nodes[0] > first, "nodes of the body before it have split"
    assert stretch(run) < 1e-13


BESIDE = {
    "green": {"method": FormulationSettings("green")},
    "one step": {"method": FormulationSettings("green", one_step=True)},
    "hybrid": {"method": FormulationSettings("hybrid")},
    "flesh": {"flesh": Flesh(DYNAMIC)},
    "averaged flesh": {"flesh": Flesh(DYNAMIC), "material": Material(5.0e4, 0.49, 1000.0)},
    "lively flesh": {"flesh": Flesh(DYNAMIC, scheme="newmark")},
    "BDF2": {"method": FormulationSettings("polar", scheme="bdf2")},
    "vertex warp": {"method": FormulationSettings("vertex-warp")},
    "hierarchical": {"method": FormulationSettings("hierarchical")},
}


@pytest.mark.parametrize("other", BESIDE)
def test_core_moves_beside_any_other_body_as_alone(tmp_path, other):
    """Its hinge moves and something pulls it, while the body beside it asks for steps of another kind."""
    times = np.linspace(0.0, 1.0, 49)
    frames = np.stack([pose(rotation((1, 0, 0), 0.8 * t), (0.5 + 0.5 * t, 0.5, 0.3)) for t in times])
    core = Core(0.3, hinge=Hinge((0.5, 0.5, 0.3), (0.0, 0.0, 1.0)), pull=Pull((1.2, 0.5, 0.5)))
    tracks = {
        "body__block__hinge": (times, frames),
        "body__block__pull": ([0.0, 1.0], np.array([[1.2, 0.5, 0.5], [0.5, 2.0, 0.5]])),
    }
    body = cube(core, material=FIRM)
    alone = run_of(tmp_path / "alone", body, fps=48.0, tolerance=1e-6, **tracks)
    settings = {"material": FIRM, **BESIDE[other]}
    beside = run_of(
        tmp_path / "beside", body, block((2, 2, 2), at=(20.0, 0.0, 0.0), key="other", **settings),
        fps=48.0, tolerance=1e-6, **tracks,
    )  # fmt: skip
    alone.advance(8)
    beside.advance(8)
    own = beside.simulation.built.model.bodies[0].nodes
    assert all(report.converged for report in beside.reports) and stretch(beside) < 1e-13
    assert np.abs(beside.state.x[own] - alone.state.x).max() < 1e-5


@pytest.mark.parametrize("other", ["green", "flesh", "lively flesh", "hierarchical"])
def test_core_body_falls_on_flesh(tmp_path, other):
    under = block((3, 3, 3), at=(0.0, 0.0, 0.01), key="under", **{"material": FIRM, **BESIDE[other]})
    run = run_of(
        tmp_path, cube(at=(0.1, 0.1, 1.1), material=FIRM), under, colliders=[Collider("floor", "Floor", "plane")]
    )
    run.advance(8)
    assert stretch(run) < 1e-13
    assert max(report.contacts for report in run.reports) > 0 and all(report.converged for report in run.reports)


def test_two_bodies_with_cores_meet(tmp_path):
    one = cube(initial_velocity=(1.0, 0.0, 0.0))
    two = cube(at=(1.2, 0.1, 0.1), key="other", initial_velocity=(-1.0, 0.0, 0.0))
    run = run_of(tmp_path, one, two, gravity=WEIGHTLESS)
    before = run.simulation.built.model.mass @ run.state.v
    run.advance(24)
    v = run.state.v
    assert max(stretch(run, 0), stretch(run, 1)) < 1e-13
    assert np.allclose(run.simulation.built.model.mass @ v, before, atol=1e-6 * run.simulation.built.model.mass.sum())
    bodies = run.simulation.built.model.bodies
    assert v[bodies[0].nodes, 0].mean() < 0.0 < v[bodies[1].nodes, 0].mean()


def test_core_body_lands_and_lies(tmp_path):
    run = run_of(tmp_path, cube(at=(0.0, 0.0, 0.3), material=FIRM), colliders=[Collider("floor", "Floor", "plane")])
    run.advance(72)
    assert stretch(run) < 1e-13
    assert run.state.x[:, 2].min() > -0.05 and np.abs(run.state.v).max() < 0.1
    assert run.reports[-1].contacts > 0 and run.reports[-1].unsettled == 0


@pytest.mark.parametrize("hinged", [False, True], ids=["free", "hinged"])
def test_felt_forces_do_the_same_work_in_all_ways_that_are_left(hinged):
    hinge = Hinge((0.2, 0.0, 0.1), (1.0, 2.0, 0.5)) if hinged else None
    model, core = model_of(cube(Core(0.3, hinge=hinge)))
    rng = np.random.default_rng(1)
    forces, is_free = rng.normal(size=model.X.shape), np.ones(model.node_count, bool)
    felt = effective_forces(model, model.X, forces, is_free)
    V, omega = rng.normal(size=3), rng.normal(size=3)
    if hinged:
        V, omega = np.zeros(3), np.array([1.0, 2.0, 0.5])
    v = (V + np.cross(omega, model.X - [0.2, 0.0, 0.1]))[core.nodes]
    assert np.vdot(felt[core.nodes], v) == pytest.approx(np.vdot(forces[core.nodes], v), rel=1e-9)
    deforming = rng.normal(size=v.shape)
    body = core_body(model, core, model.X)
    deforming -= body.velocities(*body.motion(deforming))
    assert abs(np.vdot(felt[core.nodes], deforming)) < 1e-9 * np.abs(forces).max()
    skin = np.setdiff1d(np.arange(model.node_count), core.nodes)
    assert np.array_equal(felt[skin], forces[skin])


@pytest.mark.parametrize("kind", ["rigid", "core", "hinged"])
def test_felt_forces_are_felt_as_they_are_in_any_position(kind, tmp_path):
    """So a solve leaves no residual. A pseudoinverse that took round-off for a motion left 3 %, in one of 16,000."""
    hinge = Hinge((0.2, 0.0, 0.1), (1.0, 2.0, 0.5)) if kind == "hinged" else None
    body = rigid_box((0.06, 0.06, 0.6), (-0.6, 0.0, 0.6)) if kind == "rigid" else cube(Core(0.3, hinge=hinge))
    model, rng = run_of(tmp_path, body).built.model, np.random.default_rng(2)
    for angle in 1.0e-3 * np.arange(-100, 101, dtype=np.int64):
        x = model.X @ rotation((0, 1, 0), angle).T
        felt = effective_forces(model, x, rng.normal(size=x.shape), np.ones(len(x), bool))
        again = effective_forces(model, x, felt, np.ones(len(x), bool))
        assert np.allclose(again, felt, rtol=0.0, atol=1e-9)
