# SPDX-License-Identifier: GPL-3.0-or-later
"""Bodies push each other: action and reaction, energy, friction, stacks, soft on hard, and themselves."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from fixtures.contact_scenes import RUBBER, bent_block, held, stack, stay
from fixtures.scenes import Run, block, rotation
from sinew.solver.constraints.point_forces import PointForces
from sinew.solver.constraints.tet_pair_springs import tet_pairs
from sinew.solver.contact.active_set.contact_springs import contact_springs, measure_contacts
from sinew.solver.contact.active_set.coulomb_friction import friction_forces
from sinew.solver.contact.detection.contact_set import ContactSet, ContactState
from sinew.solver.mechanics.state import State
from sinew.solver.scene.contact import Collision
from sinew.solver.scene.scene import Collider, Material, Scene, Settings

NO_GRAVITY = Settings(gravity=(0.0, 0.0, 0.0))


def random_contacts(count=12, nodes=20, tets=8):
    """Returns contacts between random tets, where their nodes are, and the tets."""
    rng = np.random.default_rng(1)
    pushing = ContactState.allocate(count)
    legs, share = 1 + np.arange(count) % 3, rng.uniform(0.2, 1.0, (count, 3))  # the place hangs on one to three tets
    share[np.arange(3) >= legs[:, None]] = 0.0
    share /= share.sum(axis=1, keepdims=True)
    pushing.attachment.tet[:] = rng.integers(0, tets, (count, 4))
    pushing.attachment.tet[:, 1:][share == 0.0] = -1
    weights = rng.normal(size=(count, 4, 4))
    weights /= weights.sum(axis=2, keepdims=True)
    weights[:, 1:] *= share[:, :, None]
    pushing.attachment.weights[:] = weights.reshape(count, 16)
    pushing.size[:], pushing.k[:], pushing.mu[:] = 1e3, rng.uniform(1.0, 2.0, count), 0.5
    pushing.kappa[:], pushing.sliding_friction[:] = 0.3 * pushing.k, 0.0
    pushing.shift[:], pushing.lift[:] = rng.uniform(0.0, 0.1, count), 0.0
    normal = rng.normal(size=(count, 3))
    normal /= np.linalg.norm(normal, axis=1)[:, None]
    shear = rng.normal(size=(count, 3))
    pushing.shear[:] = shear - (shear * normal).sum(axis=1)[:, None] * normal
    tets = np.array([rng.choice(nodes, 4, replace=False) for _ in range(tets)]).astype(np.int32)
    return pushing, normal, rng.normal(size=count), rng.normal(size=(count, 3)), rng.normal(size=(nodes, 3)), tets


def test_the_force_of_a_pair_is_the_gradient_of_its_energy():
    """½ k (gap − shift + n·r)² + ½ κ ‖s‖², by differences; the other tet feels the opposite."""
    pushing, normal, gap, carried, start, tets = random_contacts()
    count, which = len(gap), np.arange(len(gap))
    contacts = ContactSet(which, normal, gap, carried, np.zeros(count, np.int8))

    def energy(x):
        force, shear = np.empty(count), np.empty((count, 3))
        measure_contacts(0, count, contacts.arrays, pushing.arrays, x, tets, force, shear)
        return 0.5 * (force**2 / pushing.k).sum() + 0.5 * (pushing.kappa * (shear**2).sum(axis=1)).sum()

    points = PointForces(np.empty(count, np.int32), np.empty((count, 4)), np.empty((count, 3)), np.empty((count, 3, 3)))
    contact_springs(
        which,
        contacts.arrays,
        pushing.arrays,
        start,
        tets,
        points.tet,
        points.weights,
        points.force,
        points.stiffness,
    )
    pairs = tet_pairs(which, pushing.attachment, points)
    assert len(pairs) == 4 * (1 + 3 + 6)

    def forces(x):
        f = pairs.force - np.einsum("kij,kj->ki", pairs.stiffness, pairs.relative_positions(x - start, tets))
        out = np.zeros_like(x)
        for sign, w, t in ((1.0, pairs.weights, pairs.tet), (-1.0, pairs.other_weights, pairs.other)):
            np.add.at(out, tets[t], sign * w[:, :, None] * f[:, None, :])
        return out

    x, h = start + 0.1, 1e-5
    wanted = np.zeros_like(x)
    for i in np.ndindex(x.shape):
        step = np.zeros_like(x)
        step[i] = h
        wanted[i] = -(energy(x + step) - energy(x - step)) / (2.0 * h)
    assert np.abs(forces(x) - wanted).max() < 1e-7 * np.abs(wanted).max()
    assert np.abs(forces(x).sum(axis=0)).max() < 1e-12 * np.abs(wanted).max()


def test_bodies_that_meet_keep_their_momentum(tmp_path):
    bodies = (
        block((2, 2, 2), (0.2,) * 3, initial_velocity=(2.0, 0.3, 0.0), collision=Collision(0.4)),
        block((4, 4, 4), (0.3,) * 3, at=(0.25, 0.06, -0.07), key="other", initial_velocity=(-1.0, 0.0, 0.2)),
    )
    run = Run(tmp_path, Scene(bodies, (), replace(NO_GRAVITY, tolerance=1e-12, max_iterations=2000)))
    mass = run.built.model.mass[:, None]

    def moments():
        p = mass * run.state.v
        return p.sum(axis=0), np.cross(run.state.x, p).sum(axis=0)

    linear, angular = moments()
    first, contacts = run.state.v[run.built.model.bodies[0].nodes].mean(axis=0), 0
    for _ in range(10):
        run.advance()
        contacts = max(contacts, run.reports[-1].contacts)
    after = moments()
    scale = float((mass * np.abs(run.built.initial.v)).sum())
    assert contacts > 4
    assert np.abs(run.state.v[run.built.model.bodies[0].nodes].mean(axis=0) - first).max() > 0.5
    assert np.abs(after[0] - linear).max() < 1e-12 * scale
    assert np.abs(after[1] - angular).max() < 2e-3 * scale * 0.3


def test_a_stack_comes_to_rest_and_stays(tmp_path):
    run = Run(tmp_path, stack(3, E=3.0e6))
    run.advance(16)
    place, energies = run.state.x.copy(), []
    for _ in range(8):
        run.advance()
        energies.append(float((run.built.model.mass[:, None] * run.state.v**2).sum()))
    assert np.abs(run.state.v).max() < 1e-4
    assert np.abs(run.state.x - place).max() < 1e-5
    assert max(energies) < 1e-8
    assert run.reports[-1].colliders["ground"][2] == pytest.approx(-3.0 * 9.81, rel=1e-3)
    assert sum(report.unsettled for report in run.reports[4:]) == 0


@pytest.mark.slow
def test_a_stack_turns_with_what_it_stands_on(tmp_path):
    """Friction is remembered as the other body turns: a box on a plate that makes half a turn in a second."""
    plate = block((4, 4, 1), (0.4, 0.4, 0.05), at=(-0.2, -0.2, -0.05), key="plate", material=replace(RUBBER))
    plate = held(plate, lambda v: v[:, 2] < -0.04)
    box = block((2, 2, 2), (0.1,) * 3, at=(-0.05, -0.05, 0.0), material=replace(RUBBER, youngs_modulus=3e6))
    times = np.linspace(0.0, 1.0, 25)
    targets = np.array([plate.vertices[plate.pinned] @ rotation([0, 0, 1], np.pi * t**2).T for t in times])
    run = Run(tmp_path, Scene((box, plate)), body__plate__targets=(times, targets))
    run.advance(24)
    nodes = run.built.model.bodies[0].nodes
    X, x = run.built.model.X[nodes], run.state.x[nodes]
    U, _, Vt = np.linalg.svd((X - X.mean(axis=0)).T @ (x - x.mean(axis=0)))
    turn = Vt.T @ U.T
    angle = np.arctan2(turn[1, 0], turn[0, 0]) % (2.0 * np.pi)
    assert angle == pytest.approx(np.pi, abs=0.03)
    assert np.abs(x.mean(axis=0)[:2]).max() < 2e-3


@pytest.mark.parametrize(("share", "slides"), [(0.95, False), (1.05, True), (2.0, True)])
def test_friction_between_bodies(tmp_path, share, slides):
    mu = 0.5
    angle = np.arctan(share * mu)
    turn = rotation([0, 1, 0], angle)
    top = block((4, 4, 1), (1.0, 1.0, 0.2), turn=turn, material=replace(RUBBER, stiffness_damping=0.02))
    slab = block(
        (10, 5, 1), (4.0, 1.5, 0.3), at=(-0.2, -0.25, -0.3), turn=turn, key="slab",
        material=replace(RUBBER, youngs_modulus=1.0e8), collision=Collision(mu),
    )  # fmt: skip
    slab = held(slab, lambda v: (v @ turn)[:, 2] < -0.2)
    run = Run(tmp_path, Scene((replace(top, collision=Collision(mu)), slab)), **stay(slab))
    nodes, down = run.built.model.bodies[0].nodes, turn @ [1.0, 0.0, 0.0]
    run.advance(10)
    place, speed = (values[nodes].mean(axis=0) @ down for values in (run.state.x, run.state.v))
    run.advance(12)
    if slides:
        wanted = 9.81 * (np.sin(angle) - mu * np.cos(angle))
        found = (run.state.v[nodes].mean(axis=0) @ down - speed) / 0.5
        assert found == pytest.approx(wanted, rel=0.05)
    else:
        assert abs(run.state.x[nodes].mean(axis=0) @ down - place) < 1e-4


@pytest.mark.parametrize("soft_above", [True, False])
def test_soft_on_hard_with_tets_ten_times_as_large(tmp_path, soft_above):
    soft = Material(1.0e4, 0.3, 200.0, stiffness_damping=0.05)
    hard = Material(1.0e8, 0.3, 200.0, stiffness_damping=0.001)
    below = block((2, 2, 1), (2.0, 2.0, 1.0), at=(-1, -1, 0), key="below", material=hard if soft_above else soft)
    above = block((4, 4, 4), (0.4,) * 3, at=(-0.21, -0.17, 1.01), key="above", material=soft if soft_above else hard)
    run = Run(tmp_path, Scene((below, above), (Collider("ground", "Ground"),)))
    for _ in range(30):
        run.advance()
    first, second = run.render["below"], run.render["above"]
    top = first[first[:, 2] > 0.5][:, 2]
    assert second[:, 2].min() > top.min() - 0.01 * 0.4
    assert np.abs(run.state.v).max() < 0.1
    assert not run.reports[-1].inverted_tets


def test_a_folded_strip_lies_on_itself(tmp_path):
    """The upper arm of a U falls on the lower one."""

    def fold(nodes):
        length, radius = 1.0, 0.12
        s, z = nodes[:, 0], nodes[:, 2]
        bend = np.clip((s - length) / radius, 0.0, np.pi)
        r = radius - z
        along = np.minimum(s, length) - np.maximum(s - length - np.pi * radius, 0.0)
        return np.column_stack([along + r * np.sin(bend), nodes[:, 1], radius - r * np.cos(bend)])

    strip = bent_block(
        "strip", (36, 3, 1), (2.0 + 0.12 * np.pi, 0.2, 0.04), fold,
        material=Material(5.0e4, 0.3, 1000.0, stiffness_damping=0.05),
        collision=Collision(0.3, self_contact=True),
    )  # fmt: skip
    lowest = {}
    for key, body in (("with", strip), ("without", replace(strip, collision=Collision(0.3)))):
        run = Run(tmp_path / key, Scene((body,), (Collider("ground", "Ground"),)))
        run.advance(18)
        free = (body.vertices[:, 2] > 0.2) & (body.vertices[:, 0] < 0.5)  # the upper side of the upper arm
        lowest[key] = run.render["strip"][free, 2].min()
    assert lowest["without"] < 0.041
    assert 0.078 < lowest["with"] < 0.08


def test_resting_bodies_get_the_same_bytes_with_any_number_of_threads(tmp_path):
    from sinew.solver.runtime.threads.thread_count import set_thread_count

    found = []
    try:
        for threads in (1, 2):
            set_thread_count(threads)
            run = Run(tmp_path / str(threads), stack(3, cells=4, E=3.0e6, gap=0.01))
            run.advance(6)
            found.append((run.state.x.tobytes(), run.state.fields["contact.triangle"].tobytes()))
    finally:
        set_thread_count(None)
    assert found[0] == found[1]


def test_a_run_that_is_gone_on_with_gets_the_same_bytes(tmp_path):
    scene = stack(3, cells=4, E=3.0e6, gap=0.004)
    through, before = Run(tmp_path / "through", scene), Run(tmp_path / "before", scene)
    through.advance(8)
    before.advance(4)
    after = Run(tmp_path / "after", scene)
    after.simulation.state = State.from_arrays(before.state.to_arrays())
    after.advance(4)
    assert after.state.x.tobytes() == through.state.x.tobytes()
    assert sorted(after.state.fields) == sorted(through.state.fields)
    assert all(
        after.state.fields[name].tobytes() == through.state.fields[name].tobytes() for name in through.state.fields
    )
    assert "contact.triangle" in through.state.fields and len(through.state.fields["contact.id"]) > 20


def test_friction_forces_are_those_of_numpy():
    """Contacts that stick, that keep sliding with a constant friction, and that had no shear at the start."""
    rng = np.random.default_rng(3)
    start, shear, kappa = rng.normal(size=(30, 3)), rng.normal(size=(30, 3)), rng.uniform(0.5, 2.0, 30)
    sliding, force = np.where(np.arange(30) % 2, rng.uniform(0.1, 1.0, 30), 0.0), np.empty((30, 3))
    start[::5] = 0.0
    friction_forces(kappa, sliding, start, shear, force)
    length = np.linalg.norm(start, axis=1, keepdims=True)
    direction = np.divide(start, length, out=np.zeros_like(start), where=length > 0.0)
    constant = (
        kappa[:, None] * (direction * shear).sum(axis=1, keepdims=True) * direction - sliding[:, None] * direction
    )
    expected = np.where(sliding[:, None] > 0.0, constant, 0.0) - kappa[:, None] * shear
    np.testing.assert_allclose(force, expected, rtol=1e-12, atol=1e-15)
