# SPDX-License-Identifier: GPL-3.0-or-later
"""Warped vertices that flow, break, rest under gravity, and touch bodies of other methods."""

import dataclasses

import numpy as np
import pytest

from fixtures.scenes import JELLY, Run, block, rotation
from fixtures.tet_meshes import bar
from fixtures.vertex_warp_cases import ALL, FRAMES, GHOST, NETWORK, NU, TIGHT, WARP, E, bar_model, bent
from sinew.solver.constraints.external_forces import ExternalForces
from sinew.solver.integrators.integrator_choice import step
from sinew.solver.mechanics.model import Part, make_model
from sinew.solver.mechanics.state import State
from sinew.solver.runtime.errors import BadInput
from sinew.solver.runtime.threads.thread_count import set_thread_count
from sinew.solver.scene.flesh import DYNAMIC, Flesh
from sinew.solver.scene.formulation import FormulationSettings
from sinew.solver.scene.scene import PLASTICITY_LAWS, Collider, Fracture, Heat, Material, Plasticity, Scene, Settings
from sinew.solver.scene.validation import check_scene


def test_plastic_strain_is_no_strain():
    """A body whose total strain is its plastic strain feels no force, and is turned with it."""
    model = bar_model()
    strain = np.tile([0.1, -0.05, 0.02, 0.03, 0.0, -0.04], (model.tet_count, 1))
    S = np.eye(3) + strain[0, [0, 3, 5, 3, 1, 4, 5, 4, 2]].reshape(3, 3)
    model = dataclasses.replace(model, initial_strain=strain, methods=(WARP,))
    state = State(model.X @ S.T @ rotation((1, 1, 0), 0.7).T, np.zeros_like(model.X))
    start = state.x.copy()
    state.fields["tet.plastic_strain"] = strain
    step(model, state, ExternalForces(), 0.01, TIGHT)
    assert np.abs(state.x - start).max() < 1e-9
    # but as stress at rest it pulls the other shape towards this one
    at_rest = State(model.X.copy(), np.zeros_like(model.X))
    step(model, at_rest, ExternalForces(), 0.01, TIGHT)
    assert np.abs(at_rest.x - model.X).max() > 1e-4


@pytest.mark.parametrize("method", [WARP, FRAMES], ids=["least squares", "edges"])
def test_flow_that_keeps_volume_makes_a_new_rest_shape(method):
    Fp = np.array([[1.25, 0.1, 0.0], [0.0, 0.8, 0.0], [0.0, 0.0, 1.0]])
    model = bar_model(method)
    changed = np.ascontiguousarray(model.Dm_inverse @ np.linalg.inv(Fp))
    model = dataclasses.replace(model, Dm_inverse=changed)
    state = State(model.X @ Fp.T @ rotation((0, 1, 3), 2.0).T, np.zeros_like(model.X))
    start = state.x.copy()
    state.fields["tet.Fp_inverse"] = np.tile(np.linalg.inv(Fp), (model.tet_count, 1, 1))
    step(model, state, ExternalForces(), 0.01, TIGHT)
    assert np.abs(state.x - start).max() < 1e-9


@pytest.mark.parametrize("feature", ["plasticity", "heat", "fracture", "gravity_in_shape"])
def test_springs_do_not_flow_or_break(feature):
    made = {"plasticity": Plasticity(), "heat": Heat(), "fracture": Fracture(), "gravity_in_shape": True}
    check_scene(Scene((block(method=FormulationSettings("polar"), **{feature: made[feature]}),)))
    if feature == "heat":  # no warped vertices melt
        with pytest.raises(BadInput, match="Warped Vertices"):
            check_scene(Scene((block(method=WARP, heat=made["heat"]),)))
    else:
        check_scene(Scene((block(method=WARP, **{feature: made[feature]}),)))
    with pytest.raises(BadInput, match="Springs") as told:
        check_scene(Scene((block(method=NETWORK, **{feature: made[feature]}),)))
    assert told.value.kind == "method-combined"


@pytest.mark.slow
def test_flow_goes_on_as_in_other_bodies(tmp_path):
    """Creep under its own weight: what has flowed is read anew in every step, though it is written where it is."""
    heights = {}
    for law in PLASTICITY_LAWS:
        for method in (FormulationSettings("polar"), WARP):
            flowing = Plasticity(law, yield_strain=0.01, flow=5.0)
            run = dropped(tmp_path / f"{law} {method.name}", method, 30, plasticity=flowing)
            heights[law, method.name] = run.state.x[:, 2].max()
        assert heights[law, "polar"] < 0.49
        assert heights[law, "vertex-warp"] == pytest.approx(heights[law, "polar"], abs=0.01)


@pytest.mark.parametrize("method", [WARP, FRAMES], ids=["least squares", "edges"])
def test_a_shape_with_gravity_in_it_is_kept(tmp_path, method):
    pinned = np.arange(6, dtype=np.int32)
    body = block(
        (4, 2, 2), (1.0, 0.5, 0.5), pinned=pinned, pin_weights=np.ones(6), gravity_in_shape=True, method=method
    )
    run = Run(tmp_path, Scene((body,), (), Settings(frame_end=40)))
    run.advance(30)
    assert np.abs(run.state.x - run.built.model.X).max() < 1e-9


def test_rotations_are_held_for_some_steps():
    every = dataclasses.replace(WARP, rotations_every=3)
    ends = {}
    for method in (WARP, every):
        model = bar_model(method)
        state, seen = State(bent(model.X), np.zeros_like(model.X)), []
        for _ in range(7):
            step(model, state, ExternalForces(), 0.01, TIGHT)
            seen.append(state.fields.get("node.rotation"))
        ends[method.rotations_every] = seen, state.x
    assert ends[1][0] == [None] * 7
    turned = [not np.array_equal(a, b) for a, b in zip(ends[3][0], ends[3][0][1:], strict=False)]
    assert turned == [False, False, True, False, False, True]
    apart = np.abs(ends[3][1] - ends[1][1]).max()
    assert 1e-6 < apart < 0.05


def test_threads_change_no_bit():
    ends = []
    for threads in (1, 2):
        set_thread_count(threads)
        model = bar_model(cells=(12, 10, 10), lengths=(1.2, 1.0, 1.0), damping=0.01)
        state = State(bent(model.X, 4), np.zeros_like(model.X))
        for _ in range(2):
            step(model, state, ExternalForces(np.array([0.0, 0.0, -9.81])), 0.01, Settings())
        ends.append(state.x)
    set_thread_count(None)
    assert len(model.X) > 1024  # so that there is something to share
    assert np.array_equal(*ends)


@pytest.mark.slow
def test_an_animated_shape_at_rest_is_not_turned(tmp_path):
    """A block that is bent at rest, with gravity off, stays as it is bent."""
    body = block((4, 1, 1), (2.0, 0.5, 0.5), method=WARP)
    bent_vertices = body.vertices.copy()
    angle = 0.6 * body.vertices[:, 0]
    bent_vertices[:, 0] = np.sin(angle) * (2.0 - body.vertices[:, 2])
    bent_vertices[:, 2] = 2.0 - np.cos(angle) * (2.0 - body.vertices[:, 2])
    ends = {}
    for method in (WARP, FormulationSettings("polar")):
        scene = Scene((dataclasses.replace(body, method=method),), (), Settings(frame_end=60, gravity=(0.0, 0.0, 0.0)))
        samples = (np.array([0.0, 0.2]), np.stack([body.vertices, bent_vertices]))
        run = Run(tmp_path / method.name, scene, body__block__rest=samples)
        run.advance(50)
        rest = run.state.fields["rest.block"]
        assert np.abs(rest - run.built.model.X).max() > 0.2
        size = np.linalg.norm(rest[:, None] - rest[None], axis=2)
        now = np.linalg.norm(run.state.x[:, None] - run.state.x[None], axis=2)
        ends[method.name] = np.abs(now - size).max()  # it may have been flung about as a whole
    assert ends["vertex-warp"] < max(1e-3, 2.0 * ends["polar"])


def test_bodies_of_other_methods_are_solved_as_alone():
    nodes, tets = bar((4, 2, 2), (2.0, 1.0, 1.0))

    def part(key, move, method):
        return Part(key, nodes + move, tets, np.ones(len(tets)), Material(E, NU), method=method)

    both = make_model([part("a", 0.0, FormulationSettings("polar")), part("b", 5.0, WARP)])
    alone = make_model([part("a", 0.0, FormulationSettings("polar"))])
    ends = []
    for model in (both, alone):
        x = np.concatenate([bent(nodes), bent(nodes, 2) + 5.0])[: model.node_count]
        state = State(x, np.zeros_like(x))
        for _ in range(3):
            step(model, state, ExternalForces(np.array([0.0, 0.0, -9.81])), 0.01, Settings())
        ends.append(state.x[: len(nodes)])
    assert np.array_equal(*ends)


def dropped(tmp_path, method, frames=60, **more):
    body = block((3, 3, 3), (0.5, 0.5, 0.5), (0.0, 0.0, 0.02), method=method, **more)
    run = Run(tmp_path, Scene((body,), (Collider("floor", "Floor", "plane"),), Settings(frame_end=frames + 1)))
    run.advance(frames)
    return run


@pytest.mark.slow
@ALL
def test_a_block_lies_still_on_the_floor(tmp_path, method):
    run = dropped(tmp_path, method)
    assert all(report.converged and report.unsettled == 0 for report in run.reports[-10:])
    assert np.abs(run.state.v).max() < 2e-3
    assert -1e-3 < run.state.x[:, 2].min() < 2e-3
    weight = 9.81 * run.built.model.mass.sum()
    assert run.reports[-1].colliders["floor"][2] == pytest.approx(-weight, rel=0.01)


@pytest.mark.slow
def test_blocks_of_two_methods_rest_on_each_other(tmp_path):
    low = block((2, 2, 2), (0.5, 0.5, 0.5), (0.0, 0.0, 0.0), key="low", method=FormulationSettings("polar"))
    high = block((2, 2, 2), (0.4, 0.4, 0.4), (0.05, 0.05, 0.52), key="high", method=WARP)
    floor = Collider("floor", "Floor", "plane")
    run = Run(tmp_path, Scene((low, high), (floor,), Settings(frame_end=60, substeps=2)))
    run.advance(50)
    assert np.abs(run.state.v).max() < 0.05
    nodes = run.built.model.bodies[1].nodes
    assert 0.44 < run.state.x[nodes, 2].min() < 0.53


@pytest.mark.slow
def test_warped_bodies_break_into_pieces(tmp_path):
    material = Material(1.0e6, 0.3, stiffness_damping=0.002)
    body = block((3, 3, 3), (0.5, 0.5, 0.5), (0.0, 0.0, 1.5), method=WARP, material=material, fracture=Fracture(3.0e3))
    run = Run(tmp_path, Scene((body,), (Collider("floor", "Floor", "plane"),), Settings(frame_end=40, substeps=4)))
    run.advance(25)
    assert run.reports[-1].bodies["block"]["pieces"] > 2
    assert all(report.converged for report in run.reports)
    assert np.abs(run.state.v).max() < 7.0 and run.state.x[:, 2].min() > -0.1


@pytest.mark.parametrize("method", [WARP, GHOST], ids=["kept", "ghost"])
def test_it_is_stepped_beside_dynamic_flesh_with_its_momentum(tmp_path, method):
    """Newton's method takes the ghost force out of its residual."""
    flesh = block((2, 2, 2), (0.5, 0.5, 0.5), key="flesh", flesh=Flesh(DYNAMIC))
    free = block((3, 1, 1), (1.2, 0.4, 0.4), (3.0, 0.0, 0.0), key="free", method=method, material=Material(1e4, 0.3))
    scene = Scene((flesh, free), (), Settings(frame_end=20, gravity=(0.0, 0.0, 0.0), tolerance=1e-6))
    run = Run(tmp_path, scene)
    model, n = run.built.model, run.built.model.bodies[1].nodes
    mass, arm = model.mass[n], run.state.x[n] - run.state.x[n].mean(axis=0)
    run.state.v[n] = np.cross([0.0, 3.0, 8.0], arm)
    run.state.v[n, 1] += 20.0 * arm[:, 0] ** 2  # which bends it
    begin = np.concatenate([mass @ run.state.v[n], mass @ np.cross(run.state.x[n], run.state.v[n])])
    run.advance(10)
    end = np.concatenate([mass @ run.state.v[n], mass @ np.cross(run.state.x[n], run.state.v[n])])
    assert all(report.converged for report in run.reports)
    lost = np.abs(end - begin).max() / np.abs(begin).max()
    assert lost < 1e-5 if method.keeps_momentum else lost > 1e-3


@pytest.mark.slow
def test_what_meets_flesh_rests_on_it(tmp_path):
    low = block((2, 2, 2), (0.5, 0.5, 0.5), key="low", flesh=Flesh(DYNAMIC))
    high = block((2, 2, 2), (0.4, 0.4, 0.4), (0.05, 0.05, 0.52), key="high", method=WARP)
    floor = Collider("floor", "Floor", "plane")
    run = Run(tmp_path, Scene((low, high), (floor,), Settings(frame_end=60, substeps=2)))
    run.advance(40)
    assert sum(report.not_converged for report in run.reports) == 0
    assert np.abs(run.state.v).max() < 0.1
    assert 0.44 < run.state.x[run.built.model.bodies[1].nodes, 2].min() < 0.53


def test_a_bake_goes_on_with_the_same_bytes(tmp_path):
    """What rotations a step holds is in the state."""
    method = dataclasses.replace(WARP, rotations_every=4)
    body = block((3, 1, 1), (1.5, 0.5, 0.5), (0.0, 0.0, 1.0), method=method, pinned=np.arange(4, dtype=np.int32))
    body = dataclasses.replace(body, pin_weights=np.ones(4), material=JELLY)
    run = Run(tmp_path, Scene((body,), (), Settings(frame_end=20)))
    run.advance(5)
    kept = run.state.copy()
    run.advance(3)
    end = run.state.x.copy()
    run.simulation.state = kept
    run.advance(3)
    assert np.array_equal(end, run.state.x)
