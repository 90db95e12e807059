# SPDX-License-Identifier: GPL-3.0-or-later
"""A rigid core stays rigid, keeps what it has to keep, and obeys its hinge, its spring, pins and contacts."""

import numpy as np
import pytest

from core_twin import dense_solution
from scenes import Run, block, boundary, pose, rotation
from sinew.solver.anatomy import DYNAMIC, Flesh
from sinew.solver.collision import Collider
from sinew.solver.elements.stress import elastic_stress
from sinew.solver.errors import BadInput
from sinew.solver.integrators.implicit_euler import step
from sinew.solver.integrators.linearised import warp
from sinew.solver.integrators.outside import Outside, Points
from sinew.solver.integrators.workspace import workspace
from sinew.solver.method import Method
from sinew.solver.model import Part, make_model
from sinew.solver.rigid_core import as_felt
from sinew.solver.rigid_core.motion import core_body
from sinew.solver.rigid_core_settings import Core, Hinge, Pull
from sinew.solver.scene import Fracture, Material, Scene, Settings
from sinew.solver.state import State

SOFT = Material(5.0e3, 0.3, 1000.0, stiffness_damping=0.005)
FIRM = Material(1.0e5, 0.3, 1000.0, stiffness_damping=0.02)
WEIGHTLESS = (0.0, 0.0, 0.0)


def cube(core=None, **settings):
    """Returns a cube of 1 m whose skin is 0.3 m thick: 27 of its 343 nodes are core."""
    settings.setdefault("material", SOFT)
    return block((6, 6, 6), core=core or Core(0.3), **settings)


def run_of(folder, *bodies, colliders=(), **settings):
    tracks = {name: settings.pop(name) for name in list(settings) if "__" in name}
    return Run(folder, Scene(bodies, tuple(colliders), Settings(**settings)), **tracks)


def core_of(run, number=0):
    return run.simulation.built.model.cores[number]


def stretch(run, number=0):
    """Returns by how much distances within a core differ from those at rest [m]."""
    core, model = core_of(run, number), run.simulation.built.model
    now, rest = run.state.x[core.nodes], model.X[core.nodes]
    apart = [np.linalg.norm(p[:, None] - p[None], axis=2) for p in (now, rest)]
    return np.abs(apart[0] - apart[1]).max()


def momenta(run):
    """Returns momentum, and angular momentum about the centre of mass."""
    mass, x, v = run.simulation.built.model.mass, run.state.x, run.state.v
    return mass @ v, mass @ np.cross(x - mass @ x / mass.sum(), v)


def spin(run, omega, drift=(0.0, 0.0, 0.0)):
    mass, x = run.simulation.built.model.mass, run.state.x
    run.state.v[:] = np.cross(omega, x - mass @ x / mass.sum()) + drift


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


def test_hinge_leaves_one_angle_and_swings_like_a_pendulum(tmp_path):
    """A stiff cube on a hinge along its edge: T = 2π √(I / (m g d)) for small swings."""
    stiff = Material(1.0e6, 0.3, 1000.0, stiffness_damping=0.0)
    hinge = Hinge((0.0, 0.0, 1.0), (0.0, 1.0, 0.0))  # the cube hangs from its upper edge
    start = rotation((0, 1, 0), 0.25 * np.pi + 0.05)
    body = block((4, 4, 4), turn=None, core=Core(0.2, hinge=hinge), material=stiff)
    run = run_of(tmp_path, body, fps=100.0, substeps=2)
    model, core = run.simulation.built.model, core_of(run)
    # hang with the centre 0.05 rad off the lowest point
    run.state.x[:] = (model.X - [0.0, 0.0, 1.0]) @ start.T + [0.0, 0.0, 1.0]
    radius = model.X - [0.0, 0.0, 1.0]
    arm = model.mass @ radius / model.mass.sum()
    inertia = model.mass @ (radius[:, 0] ** 2 + radius[:, 2] ** 2)
    period = 2.0 * np.pi * np.sqrt(inertia / (model.mass.sum() * 9.81 * np.hypot(arm[0], arm[2])))
    offsets, on_axis = [], run.state.x[core.nodes][:, 1].copy()
    for _ in range(int(100 * period * 2.2)):
        run.advance()
        now = model.mass @ run.state.x / model.mass.sum() - [0.0, 0.0, 1.0]
        offsets.append(np.arctan2(now[0], -now[2]))
    signs = np.sign(offsets)
    crossings = np.flatnonzero(signs[1:] != signs[:-1])
    assert 2.0 * np.diff(crossings).mean() / 100.0 == pytest.approx(period, rel=0.01)
    assert stretch(run) < 1e-13
    assert np.abs(run.state.x[core.nodes][:, 1] - on_axis).max() < 1e-13
    distance = np.hypot(*(run.state.x[core.nodes] - [0.0, 0.0, 1.0])[:, [0, 2]].T)
    assert np.allclose(distance, np.hypot(*radius[core.nodes][:, [0, 2]].T), atol=1e-13)


def test_core_follows_a_hinge_that_moves(tmp_path):
    times = np.linspace(0.0, 1.0, 49)
    frames = np.stack([pose(rotation((1, 0, 0), 0.8 * t), (0.5 * t, 0.2 * t, 0.3)) for t in times])
    hinge = Hinge((0.0, 0.0, 0.3), (0.0, 0.0, 1.0))
    run = run_of(
        tmp_path, cube(Core(0.3, hinge=hinge)), gravity=WEIGHTLESS, body__block__hinge=(times, frames), fps=48.0
    )
    run.advance(24)
    core, frame = core_of(run), pose(rotation((1, 0, 0), 0.4), (0.25, 0.1, 0.3))
    X = run.simulation.built.model.X[core.nodes] - [0.0, 0.0, 0.3]
    inner = (run.state.x[core.nodes] - frame[:3, 3]) @ frame[:3, :3]
    assert np.allclose(inner[:, 2], X[:, 2], atol=1e-12)  # no sliding along the axis, no tilting from it
    assert np.allclose(np.hypot(*inner[:, :2].T), np.hypot(*X[:, :2].T), atol=1e-12)
    assert stretch(run) < 1e-13


def test_pull_brings_its_point_to_the_animation(tmp_path):
    pull = Pull((0.5, 0.5, 0.5), stiffness=400.0, damping=40.0)
    run = run_of(
        tmp_path, cube(Core(0.3, pull=pull), material=FIRM), gravity=WEIGHTLESS,
        body__block__pull=([0.0, 1.0], np.array([[0.5, 0.5, 0.5], [2.5, 0.5, 0.5]])),
    )  # fmt: skip
    run.advance(60)
    core = core_of(run)
    assert np.allclose(run.state.x[core.nodes].mean(axis=0), [2.5, 0.5, 0.5], atol=0.01)
    assert np.abs(run.state.v).max() < 0.05


def test_pull_beside_the_body_is_a_lever(tmp_path):
    """The spring hangs the body up: in the end its centre is below the point where it is pulled."""
    pull = Pull((1.5, 0.5, 0.5), stiffness=2000.0, damping=5.0)
    stiff = Material(1.0e6, 0.3, 1000.0, mass_damping=2.0, stiffness_damping=0.02)
    run = run_of(tmp_path, cube(Core(0.3, pull=pull), material=stiff))
    run.advance(300)
    mass, x = run.simulation.built.model.mass, run.state.x
    centre = mass @ x / mass.sum()
    assert np.allclose(centre[:2], [1.5, 0.5], atol=0.02) and centre[2] == pytest.approx(0.5 - 1.0, abs=0.03)


METHODS = [
    Method("polar"),
    Method("linear"),
    Method("qr"),
    Method("vertex-warp"),
    Method("vertex-warp", network="springs"),
]


@pytest.mark.parametrize("method", METHODS, ids=lambda method: f"{method.name} {method.network}")
def test_skin_follows_by_every_method_that_goes_with_it(tmp_path, method):
    """A hinged core driven round by its axis: the skin comes along, and core tets push nothing, turned or not."""
    times = np.linspace(0.0, 2.0, 97)
    frames = np.stack([pose(rotation((0, 0, 1), 0.5 * np.sin(t)), (0.5, 0.5, 0.0)) for t in times])
    hinge = Hinge((0.5, 0.5, 0.0), (0.0, 0.0, 1.0))
    body = cube(Core(0.3, hinge=hinge), method=method)
    run = run_of(tmp_path, body, gravity=WEIGHTLESS, body__block__hinge=(times, frames), fps=48.0)
    run.advance(48)
    assert stretch(run) < 1e-13 and np.isfinite(run.state.x).all()
    assert np.linalg.norm(run.state.x - 0.5, axis=1).max() < 1.2


@pytest.mark.parametrize("method", METHODS, ids=lambda method: f"{method.name} {method.network}")
def test_a_turned_core_is_under_no_stress(method):
    """Neither its tets' forces nor their strain: linear ones would take the turn for strain."""
    model, core = model_of(cube(method=method))
    turned = model.X @ rotation((1, 2, 3), 1.0).T
    warp(model, turned)
    assert not workspace(model.pattern).warped[core.tets].any()
    stress, largest = elastic_stress(model, turned)
    assert np.abs(stress[core.tets]).max() < 1e-9 * SOFT.youngs_modulus
    assert np.abs(largest[core.tets]).max() < 1e-9 * SOFT.youngs_modulus


def test_gravity_in_the_shape_of_a_body_with_a_core_stands_still(tmp_path):
    body = cube(gravity_in_shape=True, material=FIRM)
    run = run_of(tmp_path, body, colliders=[Collider("floor", "Floor", "plane")])
    run.advance(12)
    assert np.abs(run.state.x - run.simulation.built.model.X).max() < 1e-3


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
    "green": {"method": Method("green")},
    "one step": {"method": Method("green", one_step=True)},
    "hybrid": {"method": Method("hybrid")},
    "flesh": {"flesh": Flesh(DYNAMIC)},
    "averaged flesh": {"flesh": Flesh(DYNAMIC), "material": Material(5.0e4, 0.49, 1000.0)},
    "lively flesh": {"flesh": Flesh(DYNAMIC, scheme="newmark")},
    "BDF2": {"method": Method("polar", scheme="bdf2")},
    "vertex warp": {"method": Method("vertex-warp")},
    "hierarchical": {"method": Method("hierarchical")},
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


def test_pins_on_a_core_take_it_along(tmp_path):
    """All vertices are core here: with thickness 0 the painted half is rigid up to the surface, and pinned there."""
    body = cube()
    low = body.vertices[:, 0] < 0.4
    pinned = np.flatnonzero(body.vertices[:, 0] < 0.1).astype(np.int32)
    core = Core(0.0, low.astype(float))
    times = np.linspace(0.0, 1.0, 25)
    wanted = np.stack([(body.vertices[pinned] - 0.5) @ rotation((1, 0, 0), t).T + [0.5 + t, 0.5, 0.5] for t in times])
    run = run_of(
        tmp_path, cube(core, pinned=pinned, pin_weights=np.ones(len(pinned))), gravity=WEIGHTLESS,
        body__block__targets=(times, wanted),
    )  # fmt: skip
    run.advance(24)
    core = core_of(run)
    X = run.simulation.built.model.X[core.nodes]
    assert np.allclose(run.state.x[core.nodes], (X - 0.5) @ rotation((1, 0, 0), 1.0).T + [1.5, 0.5, 0.5], atol=1e-6)
    assert stretch(run) < 1e-13


@pytest.mark.parametrize("held", [0, 1, 2, 5], ids=lambda count: f"{count} held")
@pytest.mark.parametrize("hinged", [False, True], ids=["free", "hinged"])
def test_smaller_system_has_the_solution_of_the_whole_one(held, hinged):
    """Against dense matrices and a null space: what minimises ½ vᵀA v − bᵀv among the motions that are left."""
    hinge = Hinge((0.2, 0.0, 0.1), (1.0, 2.0, 0.5)) if hinged else None
    body = block((5, 4, 4), (1.3, 1.0, 1.0), core=Core(0.2, hinge=hinge), material=SOFT)
    rng = np.random.default_rng(3)
    model, core = model_of(body)
    is_fixed, target = np.zeros(model.node_count, bool), np.zeros_like(model.X)
    is_fixed[core.nodes[:held]] = True
    skin = np.setdiff1d(np.arange(model.node_count), core.nodes)
    is_fixed[skin[:3]] = True
    tets = rng.choice(model.tet_count, 5).astype(np.int32)
    springs = Points(tets, np.full((5, 4), 0.25), rng.normal(size=(5, 3)), np.tile(np.eye(3) * 50.0, (5, 1, 1)),
                     np.zeros((5, 3, 3)))  # fmt: skip
    state = State(model.X + 0.01 * rng.normal(size=model.X.shape), np.zeros_like(model.X))
    place = rotation((1, 1, 0), 0.0 if hinged else 0.3)
    state.x[core.nodes] = model.X[core.nodes] @ place.T
    # velocities that a core can have, about its axis where it has one
    drift = np.zeros(3) if hinged else np.array([0.1, 0.2, 0.3])
    speed = np.cross([0.1, 0.2, 0.05], state.x - [0.2, 0.0, 0.1]) + drift
    target[is_fixed] = (state.x + 0.01 * speed)[is_fixed]
    outside = Outside(np.array([1.0, 2.0, -9.81]), is_fixed, target, points=springs)
    expected = dense_solution(model, state, outside, 0.01)
    found = state.copy()
    report = step(model, found, outside, 0.01, Settings(tolerance=1e-11, max_iterations=5000))
    assert report.converged
    assert np.allclose((found.x - state.x)[skin] / 0.01, expected[skin], atol=1e-7 * np.abs(expected).max())


def model_of(body):
    from sinew.solver.geometry.surface import make_surface
    from sinew.solver.rigid_core import find_core

    surface = make_surface(body.vertices, body.triangles, body.name)
    core = find_core(body.core, body.name, surface, body.tet_nodes, body.tets)
    part = Part(
        "body", body.tet_nodes, body.tets, np.ones(len(body.tets)), body.material, method=body.method, core=core
    )
    model = make_model([part])
    return model, model.cores[0]


@pytest.mark.parametrize(
    ("kind", "settings"),
    [
        ("core-none", {"core": Core(0.6)}),
        ("core-everything", {"core": Core(0.0)}),
        ("core-not-painted", {"core": Core(0.1, np.zeros(218))}),
        ("core-without-axis", {"core": Core(0.3, hinge=Hinge((0, 0, 0), (0, 0, 0)))}),
        ("core-combined", {"core": Core(0.3), "fracture": Fracture()}),
        ("core-combined", {"core": Core(0.3), "method": Method("green")}),
        ("core-combined", {"core": Core(0.3), "method": Method("polar", scheme="bdf2")}),
        ("core-combined", {"core": Core(0.3, hinge=Hinge()), "gravity_in_shape": True}),
        ("setting-out-of-range", {"core": Core(-0.3)}),
        ("setting-out-of-range", {"core": Core(0.3, pull=Pull(stiffness=-1.0))}),
    ],
)
def test_what_cannot_be_says_why(tmp_path, kind, settings):
    with pytest.raises(BadInput) as caught:
        run_of(tmp_path, cube(**settings))
    assert caught.value.kind == kind and '"Block"' in caught.value.sentence


def test_resumed_steps_have_the_same_bytes(tmp_path):
    hinge = Hinge((0.5, 0.5, 0.0), (0.0, 0.0, 1.0))
    body = cube(Core(0.3, hinge=hinge, pull=Pull((1.2, 0.5, 0.5))))
    track = {"body__block__pull": ([0.0, 0.5], np.array([[1.2, 0.5, 0.5], [0.5, 1.2, 0.5]]))}
    whole, half = run_of(tmp_path / "a", body, **track), run_of(tmp_path / "b", body, **track)
    whole.advance(8)
    half.advance(4)
    again = run_of(tmp_path / "c", body, **track)
    again.simulation.state = State.from_arrays(half.state.to_arrays())
    again.frame = half.frame
    again.advance(4)
    assert again.state.x.tobytes() == whole.state.x.tobytes()
    assert again.state.v.tobytes() == whole.state.v.tobytes()


def test_pieces_of_a_body_hang_together_by_its_core():
    """Two blocks in one body: its core is one rigid body, so they are one island."""
    one, two = block((4, 4, 4)), block((4, 4, 4), at=(2.0, 0.0, 0.0))
    nodes = np.concatenate([one.tet_nodes, two.tet_nodes])
    tets = np.concatenate([one.tets, two.tets + len(one.tet_nodes)]).astype(np.int32)
    faces = boundary(tets)
    used, numbered = np.unique(faces, return_inverse=True)
    from dataclasses import replace

    body = replace(
        one, vertices=nodes[used], triangles=numbered.reshape(-1, 3).astype(np.int32), tet_nodes=nodes, tets=tets,
        core=Core(0.2),
    )  # fmt: skip
    model, core = model_of(body)
    assert model.pattern.island_count == 1
    assert {bool(x) for x in model.X[core.nodes][:, 0] > 1.5} == {False, True}
    state = State(model.X.copy(), np.cross([0.0, 0.0, 2.0], model.X - model.X.mean(axis=0)))
    for _ in range(20):
        step(model, state, Outside(), 0.01, Settings())
    gap = np.linalg.norm(state.x[core.nodes[0]] - state.x[core.nodes[-1]])
    assert gap == pytest.approx(np.linalg.norm(model.X[core.nodes[0]] - model.X[core.nodes[-1]]), rel=1e-12)


@pytest.mark.parametrize("hinged", [False, True], ids=["free", "hinged"])
def test_felt_forces_do_the_same_work_in_all_ways_that_are_left(hinged):
    hinge = Hinge((0.2, 0.0, 0.1), (1.0, 2.0, 0.5)) if hinged else None
    model, core = model_of(cube(Core(0.3, hinge=hinge)))
    rng = np.random.default_rng(1)
    forces, is_free = rng.normal(size=model.X.shape), np.ones(model.node_count, bool)
    felt = as_felt(model, model.X, forces, is_free)
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
