# SPDX-License-Identifier: GPL-3.0-or-later
"""Warped stiffness with a rotation per vertex: MDMJC02, against slow twins and against what the paper claims."""

import dataclasses

import numpy as np
import pytest

import formulation_twins_vertices as twins
from meshes import bar
from scenes import JELLY, Run, block, rotation
from sinew.solver.anatomy import DYNAMIC, Flesh
from sinew.solver.checks import check_scene
from sinew.solver.errors import BadInput
from sinew.solver.formulations import formulation
from sinew.solver.integrators.implicit_euler import step
from sinew.solver.integrators.outside import Outside
from sinew.solver.jit import set_thread_count
from sinew.solver.linear.pattern import block_pattern
from sinew.solver.method import EDGES, SPRINGS, Method
from sinew.solver.model import Part, make_model
from sinew.solver.scene import LAWS, Collider, Fracture, Heat, Material, Plasticity, Scene, Settings
from sinew.solver.state import State
from sinew.solver.vertex_warp.rest import rest_of
from sinew.solver.vertex_warp.rotations import chosen_edges
from sinew.solver.vertex_warp.springs import add_springs

WARP = Method("vertex-warp")
FRAMES = Method("vertex-warp", rotation_field=EDGES)
NETWORK = Method("vertex-warp", network=SPRINGS)
GHOST = Method("vertex-warp", keeps_momentum=False)
ALL = pytest.mark.parametrize("method", [WARP, FRAMES, NETWORK], ids=["least squares", "edges", "springs"])
TIGHT = Settings(tolerance=1e-7, max_iterations=3000)
E, NU = 1.0e5, 0.3


def bar_model(method=WARP, cells=(4, 2, 2), lengths=(2.0, 1.0, 1.0), damping=0.0, youngs=E, **changed):
    nodes, tets = bar(cells, lengths)
    material = Material(youngs, NU, stiffness_damping=damping)
    part = Part("bar", nodes, tets, np.ones(len(tets)), material, method=method)
    return dataclasses.replace(make_model([part]), **changed)


def bent(X, seed=1):
    """Returns a bar that is bent, turned and a little crumpled."""
    x = X + np.random.default_rng(seed).normal(size=X.shape) * 0.04
    x[:, 2] += 0.15 * x[:, 0] ** 2
    return x @ rotation((1.0, 2.0, -0.5), 1.1).T + [3.0, -1.0, 2.0]


def twin_of(method, model):
    """Returns K, (3n, 3n), and the rotations as a function of x, by the slow twins."""
    if method.network == SPRINGS:
        K = twins.spring_stiffness(model.X, model.tets, np.full(model.tet_count, E))
    else:
        K = twins.linear_stiffness(model.X, model.tets, model.mu, model.lam)
    if method.rotation_field != EDGES:
        return K, lambda x: twins.least_squares_rotations(model.X, model.tets, x)
    chosen = rest_of(model, [(model.bodies[0], method)]).chosen
    return K, lambda x: twins.edge_rotations(model.X, x, model.pattern.column[chosen])


@ALL
def test_forces_and_stiffness_are_those_of_the_twin(method):
    model = bar_model(method)
    asked, x = formulation(model, method), bent(model.X)
    K, rotations_at = twin_of(method, model)
    f, rotations = asked.forces(x), rotations_at(x)
    expected = twins.warped_forces(K, model.X, rotations, x)
    assert np.abs(f).max() > 1e3
    assert np.abs(f - expected).max() < 1e-10 * np.abs(expected).max()
    matrix, of_twin = twins.whole(model.pattern, asked.stiffness(x)), twins.warped_stiffness(K, rotations)
    assert np.abs(matrix - of_twin).max() < 1e-10 * np.abs(of_twin).max()
    assert np.abs(matrix - matrix.T).max() > 1e-3 * np.abs(matrix).max()
    assert asked.energy(x) is None


@ALL
def test_stiffness_is_the_derivative_of_the_force_with_rotations_held(method):
    model = bar_model(method)
    K, rotations_at = twin_of(method, model)
    x = bent(model.X)
    rotations, d = rotations_at(x), np.random.default_rng(2).normal(size=x.shape)
    h = 1e-4
    ends = [twins.warped_forces(K, model.X, rotations, x + s * h * d) for s in (1.0, -1.0)]
    change = (ends[0] - ends[1]) / (2.0 * h)
    matrix = twins.whole(model.pattern, formulation(model, method).stiffness(x))
    assert np.abs(change.ravel() + matrix @ d.ravel()).max() < 1e-6 * np.abs(change).max()


@ALL
def test_a_rigid_motion_makes_no_force(method):
    model = bar_model(method)
    for axis, angle in (((0.0, 0.0, 1.0), 0.5), ((1.0, -1.0, 2.0), 3.0)):
        x = model.X @ rotation(axis, angle).T + [10.0, 20.0, -5.0]
        assert np.abs(formulation(model, method).forces(x)).max() < 1e-8 * E


def test_a_neighbourhood_turned_inside_out_has_a_proper_rotation():
    model = bar_model()
    x = model.X * [1.0, 1.0, -1.0]
    for R in twins.least_squares_rotations(model.X, model.tets, x):
        assert np.linalg.det(R) == pytest.approx(1.0)
    K, rotations_at = twin_of(WARP, model)
    f = formulation(model, WARP).forces(x)
    # mirrored neighbourhoods have equal singular values here and there, where any of several rotations will do
    assert np.isfinite(f).all() and np.abs(f).max() > 1e3
    x = model.X * [1.0, 1.3, -0.4]
    expected = twins.warped_forces(K, model.X, rotations_at(x), x)
    assert np.abs(formulation(model, WARP).forces(x) - expected).max() < 1e-8 * np.abs(expected).max()


def test_flat_frames_fall_back_to_least_squares():
    model = bar_model(FRAMES)
    x = model.X.copy()
    x[:] = x[0]  # all in one point: no direction at all
    assert np.isfinite(formulation(model, FRAMES).forces(x)).all()
    x = model.X * [1.0, 0.0, 0.0]  # a line
    assert np.isfinite(formulation(model, FRAMES).forces(x)).all()


@pytest.mark.parametrize("first", [0, 1], ids=["last", "first"])
def test_a_node_without_tets_has_no_edges(first):
    nodes, tets = bar((1, 1, 1), (1.0, 1.0, 1.0))
    pattern = block_pattern(tets + first, len(nodes) + 1)
    edges = nodes[tets][:, 1:] - nodes[tets][:, :1]
    chosen = chosen_edges(pattern, np.swapaxes(edges, 1, 2))
    lone = 0 if first else len(nodes)
    assert (chosen[lone] == pattern.diagonal[lone]).all()
    own = chosen_edges(block_pattern(tets, len(nodes)), np.swapaxes(edges, 1, 2))
    others = np.delete(chosen, lone, axis=0)
    assert (pattern.column[others] == block_pattern(tets, len(nodes)).column[own] + first).all()


def test_the_ghost_force():
    """MDMJC02, section 3: forces need not sum up to nothing, as they do with a rotation per tet."""
    model = bar_model()
    x = bent(model.X)
    f = formulation(model, WARP).forces(x)
    assert np.linalg.norm(f.sum(axis=0)) > 1e-3 * np.abs(f).max()
    assert np.linalg.norm(np.cross(x - x.mean(axis=0), f).sum(axis=0)) > 1e-3 * np.abs(f).max()
    polar = Method("polar")
    of_tets = formulation(model, polar).forces(x)
    assert np.linalg.norm(of_tets.sum(axis=0)) < 1e-11 * np.abs(of_tets).max()


def flung(method, steps=50, damping=0.0, dt=0.01):
    """Returns momentum and angular momentum about the origin at the begin and at the end of a free flight of a bar."""
    model = bar_model(method, damping=damping)
    x = bent(model.X)
    v = np.cross([0.0, 2.0, 1.0], x - x.mean(axis=0)) + [1.0, 0.0, 0.0]
    state, found = State(x, v), []
    for number in range(steps + 1):
        found.append(np.concatenate([model.mass @ state.v, model.mass @ np.cross(state.x, state.v)]))
        if number < steps:
            assert step(model, state, Outside(), dt, TIGHT).converged
    return found[0], found[-1], model.mass.sum()


@ALL
@pytest.mark.parametrize("damping", [0.0, 0.02])
def test_momentum_is_kept_to_round_off(method, damping):
    begin, end, _ = flung(method, damping=damping)
    assert np.abs(end - begin).max() < 1e-10 * np.abs(begin).max()


def test_without_the_correction_the_ghost_force_moves_and_turns_a_free_body():
    begin, end, mass = flung(GHOST)
    assert np.linalg.norm(end[:3] - begin[:3]) > 0.01 * mass  # a centimetre a second and more, out of nothing
    assert np.linalg.norm(end[3:] - begin[3:]) > 1e-3 * np.linalg.norm(begin[3:])


def test_free_fall_is_that_of_implicit_euler():
    model, g, dt, steps = bar_model(), np.array([0.0, 0.0, -9.81]), 0.01, 30
    state = State(bent(model.X), np.zeros_like(model.X))
    before = model.mass @ state.x / model.mass.sum()
    for _ in range(steps):
        step(model, state, Outside(g), dt, TIGHT)
    t = steps * dt
    fallen = model.mass @ state.x / model.mass.sum() - before
    assert fallen == pytest.approx(0.5 * g * t * (t + dt), abs=1e-12)


def sag(method, youngs=1.0e7):
    """Returns how far the end of a bar sinks that is held at its other end, and comes to rest."""
    model = bar_model(method, cells=(8, 2, 2), lengths=(4.0, 1.0, 1.0), damping=0.05, youngs=youngs)
    held, state = model.X[:, 0] < 1e-9, State(model.X.copy(), np.zeros_like(model.X))
    for _ in range(60):
        step(model, state, Outside(np.array([0.0, 0.0, -9.81]), held, model.X), 0.2, TIGHT)
    assert np.abs(state.v).max() < 1e-4
    return (model.X - state.x)[model.X[:, 0] > 3.999, 2].mean()


def test_a_bent_bar_goes_to_the_limit_of_small_strain():
    """Warped tets sag as polar ones, the more so the stiffer they are."""
    apart = [sag(WARP, youngs) / sag(Method("polar"), youngs) - 1.0 for youngs in (1.0e7, 1.0e8)]
    assert abs(apart[0]) < 0.03 and abs(apart[1]) < 0.2 * abs(apart[0])


def test_frames_and_springs_sag_as_much_as_they_should():
    assert sag(FRAMES, 1.0e8) == pytest.approx(sag(WARP, 1.0e8), rel=0.03)
    # springs have E, and a ratio of ¼ for 0.3, on tets that do not lie alike in all directions
    assert sag(NETWORK, 1.0e8) == pytest.approx(sag(WARP, 1.0e8), rel=0.3)


def test_springs_spread_evenly_have_the_modulus_asked_for():
    """Averaged over all turns of a tet, its springs store what isotropic material with a ratio of ¼ does."""
    rng = np.random.default_rng(3)
    X = np.array([[0.0, 0.0, 0.0], [1.0, 0.1, 0.0], [0.2, 0.9, 0.1], [0.3, 0.2, 1.1]])
    tets = np.array([[0, 1, 2, 3]], np.int32)
    pattern = block_pattern(tets, 4)
    strain = np.array([[0.03, 0.01, 0.0], [0.01, -0.02, 0.015], [0.0, 0.015, 0.01]])
    volume = np.linalg.det((X[1:] - X[0]).T) / 6.0
    stored = []
    for _ in range(4000):
        Q = np.linalg.qr(rng.normal(size=(3, 3)))[0]
        x = X @ (Q * np.sign(np.linalg.det(Q))).T
        K, push = np.zeros((pattern.block_count, 9)), np.zeros((4, 3))
        Dm = (x[1:] - x[0]).T[None]
        add_springs(pattern, slice(0, 1), tets, Dm, np.zeros((0, 6)), np.array([E]), np.array([volume]), K, push)
        u = x @ strain
        stored.append(0.5 * u.ravel() @ twins.whole(pattern, K) @ u.ravel())
    mu = lam = 0.4 * E
    expected = volume * (mu * np.sum(strain**2) + 0.5 * lam * np.trace(strain) ** 2)
    assert np.mean(stored) == pytest.approx(expected, rel=0.02)


def test_plastic_strain_is_no_strain():
    """A body whose total strain is its plastic strain feels no force, and is turned with it."""
    model = bar_model()
    strain = np.tile([0.1, -0.05, 0.02, 0.03, 0.0, -0.04], (model.tet_count, 1))
    S = np.eye(3) + strain[0, [0, 3, 5, 3, 1, 4, 5, 4, 2]].reshape(3, 3)
    model = dataclasses.replace(model, initial_strain=strain, methods=(WARP,))
    state = State(model.X @ S.T @ rotation((1, 1, 0), 0.7).T, np.zeros_like(model.X))
    start = state.x.copy()
    state.fields["tet.plastic_strain"] = strain
    step(model, state, Outside(), 0.01, TIGHT)
    assert np.abs(state.x - start).max() < 1e-9
    # but as stress at rest it pulls the other shape towards this one
    at_rest = State(model.X.copy(), np.zeros_like(model.X))
    step(model, at_rest, Outside(), 0.01, TIGHT)
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
    step(model, state, Outside(), 0.01, TIGHT)
    assert np.abs(state.x - start).max() < 1e-9


@pytest.mark.parametrize("feature", ["plasticity", "heat", "fracture", "gravity_in_shape"])
def test_springs_do_not_flow_or_break(feature):
    made = {"plasticity": Plasticity(), "heat": Heat(), "fracture": Fracture(), "gravity_in_shape": True}
    check_scene(Scene((block(method=Method("polar"), **{feature: made[feature]}),)))
    if feature == "heat":  # no warped vertices melt
        with pytest.raises(BadInput, match="Warped Vertices"):
            check_scene(Scene((block(method=WARP, heat=made["heat"]),)))
    else:
        check_scene(Scene((block(method=WARP, **{feature: made[feature]}),)))
    with pytest.raises(BadInput, match="Springs") as told:
        check_scene(Scene((block(method=NETWORK, **{feature: made[feature]}),)))
    assert told.value.kind == "method-combined"


def test_flow_goes_on_as_in_other_bodies(tmp_path):
    """Creep under its own weight: what has flowed is read anew in every step, though it is written where it is."""
    heights = {}
    for law in LAWS:
        for method in (Method("polar"), WARP):
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
            step(model, state, Outside(), 0.01, TIGHT)
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
            step(model, state, Outside(np.array([0.0, 0.0, -9.81])), 0.01, Settings())
        ends.append(state.x)
    set_thread_count(None)
    assert len(model.X) > 1024  # so that there is something to share
    assert np.array_equal(*ends)


def test_an_animated_shape_at_rest_is_not_turned(tmp_path):
    """A block that is bent at rest, with gravity off, stays as it is bent."""
    body = block((4, 1, 1), (2.0, 0.5, 0.5), method=WARP)
    bent_vertices = body.vertices.copy()
    angle = 0.6 * body.vertices[:, 0]
    bent_vertices[:, 0] = np.sin(angle) * (2.0 - body.vertices[:, 2])
    bent_vertices[:, 2] = 2.0 - np.cos(angle) * (2.0 - body.vertices[:, 2])
    ends = {}
    for method in (WARP, Method("polar")):
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

    both = make_model([part("a", 0.0, Method("polar")), part("b", 5.0, WARP)])
    alone = make_model([part("a", 0.0, Method("polar"))])
    ends = []
    for model in (both, alone):
        x = np.concatenate([bent(nodes), bent(nodes, 2) + 5.0])[: model.node_count]
        state = State(x, np.zeros_like(x))
        for _ in range(3):
            step(model, state, Outside(np.array([0.0, 0.0, -9.81])), 0.01, Settings())
        ends.append(state.x[: len(nodes)])
    assert np.array_equal(*ends)


def dropped(tmp_path, method, frames=60, **more):
    body = block((3, 3, 3), (0.5, 0.5, 0.5), (0.0, 0.0, 0.02), method=method, **more)
    run = Run(tmp_path, Scene((body,), (Collider("floor", "Floor", "plane"),), Settings(frame_end=frames + 1)))
    run.advance(frames)
    return run


@ALL
def test_a_block_lies_still_on_the_floor(tmp_path, method):
    run = dropped(tmp_path, method)
    assert all(report.converged and report.unsettled == 0 for report in run.reports[-10:])
    assert np.abs(run.state.v).max() < 2e-3
    assert -1e-3 < run.state.x[:, 2].min() < 2e-3
    weight = 9.81 * run.built.model.mass.sum()
    assert run.reports[-1].colliders["floor"][2] == pytest.approx(-weight, rel=0.01)


def test_blocks_of_two_methods_rest_on_each_other(tmp_path):
    low = block((2, 2, 2), (0.5, 0.5, 0.5), (0.0, 0.0, 0.0), key="low", method=Method("polar"))
    high = block((2, 2, 2), (0.4, 0.4, 0.4), (0.05, 0.05, 0.52), key="high", method=WARP)
    floor = Collider("floor", "Floor", "plane")
    run = Run(tmp_path, Scene((low, high), (floor,), Settings(frame_end=60, substeps=2)))
    run.advance(50)
    assert np.abs(run.state.v).max() < 0.05
    nodes = run.built.model.bodies[1].nodes
    assert 0.44 < run.state.x[nodes, 2].min() < 0.53


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
    run.simulation.state, run.frame = kept, 6
    run.advance(3)
    assert np.array_equal(end, run.state.x)
