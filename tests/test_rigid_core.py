# SPDX-License-Identifier: GPL-3.0-or-later
"""A rigid core is what lies deep enough, stays rigid, keeps what it has to keep, and lets its skin follow."""

from dataclasses import replace

import numpy as np
import pytest

from fixtures.rigid_core_scenes import FIRM, SOFT, WEIGHTLESS, core_of, cube, model_of, momenta, run_of, spin, stretch
from fixtures.scenes import block, boundary, pose, rotation
from sinew.solver.constraints.external_forces import ExternalForces
from sinew.solver.integrators.integrator_choice import step
from sinew.solver.integrators.system.step_matrix import compute_element_records
from sinew.solver.mechanics.elements.elastic_stress import elastic_stress
from sinew.solver.mechanics.state import State
from sinew.solver.runtime.errors import BadInput
from sinew.solver.scene.contact import Collider
from sinew.solver.scene.formulation import FormulationSettings
from sinew.solver.scene.rigid_core import Core, Hinge, Pull
from sinew.solver.scene.scene import Fracture, Material, Settings


def test_core_is_what_lies_deeper_than_the_skin(tmp_path):
    run = run_of(tmp_path, cube())
    model, core = run.simulation.built.model, core_of(run)
    depth = np.minimum(model.X, 1.0 - model.X).min(axis=1)
    assert np.array_equal(core.nodes, np.flatnonzero(depth >= 0.3))
    is_core = np.isin(model.tets, core.nodes).all(axis=1)
    assert np.array_equal(core.tets, np.flatnonzero(is_core)) and len(core.tets) == 40


def test_paint_limits_the_core(tmp_path):
    body = cube()
    paint = (body.vertices[:, 0] < 0.55).astype(float)
    run = run_of(tmp_path, cube(Core(0.1, paint)))
    X = run.simulation.built.model.X[core_of(run).nodes]
    assert X[:, 0].max() < 0.7 and X[:, 0].min() < 0.2


@pytest.mark.slow
@pytest.mark.parametrize("turns", [False, True], ids=["alone", "beside another body"])
def test_core_stays_rigid_and_keeps_its_momenta(tmp_path, turns):
    others = (block(at=(40.0, 0.0, 0.0), key="far"),) if turns else ()
    run = run_of(tmp_path, cube(), *others, gravity=WEIGHTLESS, fps=60.0, substeps=4)
    if turns:
        own = run.simulation.built.model.bodies[0].nodes
        mass, x = run.simulation.built.model.mass[own], run.state.x[own]
        run.state.v[own] = np.cross([3.0, -4.0, 5.0], x - mass @ x / mass.sum()) + [0.1, 0.2, -0.3]
    else:
        spin(run, [3.0, -4.0, 5.0], [0.1, 0.2, -0.3])
    before = momenta(run)
    run.advance(250)
    after = momenta(run)
    assert stretch(run) < 1e-13  # after 1000 steps
    assert np.allclose(after[0], before[0], rtol=1e-9)
    assert np.allclose(after[1], before[1], rtol=1e-9)


def test_free_fall_is_that_of_implicit_euler(tmp_path):
    run = run_of(tmp_path, cube(), fps=25.0, substeps=2)
    run.advance(20)
    t, dt = 20 / 25.0, 1 / 50.0
    fallen = run.state.x[:, 2] - run.simulation.built.model.X[:, 2]
    assert np.allclose(fallen, -0.5 * 9.81 * t * (t + dt), atol=1e-6)


@pytest.mark.slow
def test_tumbling_core_loses_little_energy(tmp_path):
    stiff = Material(1.0e6, 0.3, 1000.0, stiffness_damping=0.0)
    run = run_of(
        tmp_path, block((6, 4, 3), (1.5, 0.8, 0.5), core=Core(0.12), material=stiff), gravity=WEIGHTLESS, fps=60.0
    )
    spin(run, [0.5, 5.0, 0.1])  # about the middle axis, which is not stable
    mass = run.simulation.built.model.mass
    before = 0.5 * mass @ np.einsum("ni,ni->n", run.state.v, run.state.v)
    run.advance(120)
    after = 0.5 * mass @ np.einsum("ni,ni->n", run.state.v, run.state.v)
    assert 0.9 < after / before < 1.001


METHODS = [
    FormulationSettings("polar"),
    FormulationSettings("linear"),
    FormulationSettings("qr"),
    FormulationSettings("vertex-warp"),
    FormulationSettings("vertex-warp", network="springs"),
]


@pytest.mark.parametrize("method", METHODS, ids=lambda method: f"{method.name} {method.network}")
def test_skin_follows_by_every_method_that_goes_with_it(tmp_path, method):
    """A hinged core driven round by its axis: the skin comes along, and core tets push nothing, turned or not."""
    run = driven_round(tmp_path, method)
    assert stretch(run) < 1e-13 and np.isfinite(run.state.x).all()
    assert np.linalg.norm(run.state.x - 0.5, axis=1).max() < 1.2


@pytest.mark.slow
def test_a_small_tolerance_finds_what_a_large_one_does(tmp_path):
    """Multigrid, which stands by then, knows meshes: among the rows of a core it was lost."""
    large, small = (
        driven_round(tmp_path / name, FormulationSettings("polar"), tolerance=size) for name, size in TOLERANCES.items()
    )
    np.testing.assert_allclose(small.state.x, large.state.x, atol=1e-3)


TOLERANCES = {"default": 1.0e-4, "small": 1.0e-6}


def driven_round(folder, method, **settings):
    folder.mkdir(exist_ok=True)
    times = np.linspace(0.0, 2.0, 97)
    frames = np.stack([pose(rotation((0, 0, 1), 0.5 * np.sin(t)), (0.5, 0.5, 0.0)) for t in times])
    hinge = Hinge((0.5, 0.5, 0.0), (0.0, 0.0, 1.0))
    body = cube(Core(0.3, hinge=hinge), method=method)
    run = run_of(
        folder, body, gravity=WEIGHTLESS, body__block__hinge=(times, frames), fps=48.0, **settings
    )  # fmt: skip
    run.advance(48)
    return run


@pytest.mark.parametrize("method", METHODS, ids=lambda method: f"{method.name} {method.network}")
def test_a_turned_core_is_under_no_stress(method):
    """Neither its tets' forces nor their strain: linear ones would take the turn for strain."""
    model, core = model_of(cube(method=method))
    turned = model.X @ rotation((1, 2, 3), 1.0).T
    assert not compute_element_records(model, turned)[core.tets].any()
    stress, largest = elastic_stress(model, turned)
    assert np.abs(stress[core.tets]).max() < 1e-9 * SOFT.youngs_modulus
    assert np.abs(largest[core.tets]).max() < 1e-9 * SOFT.youngs_modulus


def test_gravity_in_the_shape_of_a_body_with_a_core_stands_still(tmp_path):
    body = cube(gravity_in_shape=True, material=FIRM)
    run = run_of(tmp_path, body, colliders=[Collider("floor", "Floor", "plane")])
    run.advance(12)
    assert np.abs(run.state.x - run.simulation.built.model.X).max() < 1e-3


@pytest.mark.parametrize(
    ("kind", "settings"),
    [
        ("core-none", {"core": Core(0.6)}),
        ("core-everything", {"core": Core(0.0)}),
        ("core-not-painted", {"core": Core(0.1, np.zeros(218))}),
        ("core-without-axis", {"core": Core(0.3, hinge=Hinge((0, 0, 0), (0, 0, 0)))}),
        ("core-combined", {"core": Core(0.3), "fracture": Fracture()}),
        ("core-combined", {"core": Core(0.3), "method": FormulationSettings("green")}),
        ("core-combined", {"core": Core(0.3), "method": FormulationSettings("polar", scheme="bdf2")}),
        ("core-combined", {"core": Core(0.3, hinge=Hinge()), "gravity_in_shape": True}),
        ("setting-out-of-range", {"core": Core(-0.3)}),
        ("setting-out-of-range", {"core": Core(0.3, pull=Pull(stiffness=-1.0))}),
    ],
)
def test_what_cannot_be_says_why(tmp_path, kind, settings):
    with pytest.raises(BadInput) as caught:
        run_of(tmp_path, cube(**settings))
    assert caught.value.kind == kind and '"Block"' in caught.value.sentence


def test_pieces_of_a_body_hang_together_by_its_core():
    """Two blocks in one body: its core is one rigid body, so they are one island."""
    one, two = block((4, 4, 4)), block((4, 4, 4), at=(2.0, 0.0, 0.0))
    nodes = np.concatenate([one.tet_nodes, two.tet_nodes])
    tets = np.concatenate([one.tets, two.tets + len(one.tet_nodes)]).astype(np.int32)
    faces = boundary(tets)
    used, numbered = np.unique(faces, return_inverse=True)
    body = replace(
        one, vertices=nodes[used], triangles=numbered.reshape(-1, 3).astype(np.int32), tet_nodes=nodes, tets=tets,
        core=Core(0.2),
    )  # fmt: skip
    model, core = model_of(body)
    assert model.pattern.island_count == 1
    assert {bool(x) for x in model.X[core.nodes][:, 0] > 1.5} == {False, True}
    state = State(model.X.copy(), np.cross([0.0, 0.0, 2.0], model.X - model.X.mean(axis=0)))
    for _ in range(20):
        step(model, state, ExternalForces(), 0.01, Settings())
    gap = np.linalg.norm(state.x[core.nodes[0]] - state.x[core.nodes[-1]])
    assert gap == pytest.approx(np.linalg.norm(model.X[core.nodes[0]] - model.X[core.nodes[-1]]), rel=1e-12)
