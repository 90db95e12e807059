# SPDX-License-Identifier: GPL-3.0-or-later
"""Bodies that touch are settled as if they were alone, and left alone when they are content."""

from dataclasses import replace

import numpy as np
import pytest
from scipy.sparse import coo_array
from scipy.sparse.csgraph import connected_components

from fixtures.contact_scenes import NOTHING
from fixtures.energy_measures import kinetic_energy
from fixtures.penetration_measures import DeepestEver
from fixtures.scenes import Run, block
from fixtures.tet_meshes import bar
from sinew.solver.constraints.external_forces import ExternalForces
from sinew.solver.constraints.point_forces import PointForces
from sinew.solver.contact.active_set.active_set_update import group_islands
from sinew.solver.integrators.integrator_choice import step
from sinew.solver.integrators.step_input import ContactCallbacks
from sinew.solver.mechanics.model import Part, make_model
from sinew.solver.mechanics.state import State
from sinew.solver.scene.scene import Collider, Material, Scene, Settings
from sinew.solver.simulation import step_attempt

HARD = Material(1.0e8, 0.3, 1000.0, stiffness_damping=0.002)


def test_islands_are_joined_by_contacts_that_push_or_have_to():
    random = np.random.default_rng(0)
    islands = 40
    tets = np.arange(4 * islands, dtype=np.int32).reshape(-1, 4)  # one of each island
    for count in (0, 5, 20, 60):
        ends = random.integers(islands, size=(count, 4)).astype(np.int32)
        legs = random.choice(4, size=count, p=(0.2, 0.7, 0.05, 0.05))  # tets on the other side
        ends[np.arange(4) > legs[:, None]] = -1
        force, on = random.normal(size=count), random.random(count) < 0.3
        group, of = np.empty(islands, np.int32), np.empty(count, np.int32)
        group_islands(force, on, ends, tets, np.repeat(np.arange(islands, dtype=np.uint32), 4), group, of)
        both = [ends[(on | (force > 0.0)) & (ends[:, leg] >= 0)][:, [0, leg]] for leg in (1, 2, 3)]
        joins = np.concatenate(both)
        graph = coo_array((np.ones(len(joins)), joins.T), shape=(islands, islands))
        _, label = connected_components(graph, directed=False)
        lowest = np.array([np.flatnonzero(label == each)[0] for each in label])
        assert np.array_equal(group, lowest)
        assert np.array_equal(of, lowest[ends[:, 0]])


def colliding(key: str, at, speed: float, gap: float, cells: int):
    """Returns two stiff boxes that fly at each other, askew."""
    return tuple(
        block(
            (cells,) * 3, (0.5,) * 3, at=np.add(at, (way * (0.25 + gap) - 0.25, 0.04 * way, 0.07 * way)),
            key=key + side, material=HARD, initial_velocity=(-way * speed, 0.0, 0.0),
        )
        for side, way in (("left", -1.0), ("right", 1.0))
    )  # fmt: skip


def test_what_hits_far_away_changes_nothing(tmp_path):
    """As long as it is so slow that no step is halved for it."""
    # two, since a step of bodies that might touch is another one
    calm = tuple(block((2, 2, 2), (0.4,) * 3, at=(40.0, 3.0 * i, 0.01), key=f"calm{i}") for i in range(2))
    groups = [colliding("slow", (0.0, 0.0, 3.0), 2.0, 0.01, 2), colliding("fast", (0.0, 9.0, 3.0), 8.0, 0.1, 3), calm]
    ground, settings = (Collider("ground", "Ground"),), Settings(gravity=(0.0, 0.0, -9.81))
    together = Run(tmp_path / "all", Scene(sum(groups, ()), ground, settings))
    alone = [Run(tmp_path / str(number), Scene(group, ground, settings)) for number, group in enumerate(groups)]
    for _ in range(4):
        together.advance()
        for run in alone:
            run.advance()
    most = [sum(report.solves for report in run.reports) for run in (together, *alone)]
    assert max(most[1:]) > 1.2 * min(most[1:])  # they want to be solved differently often
    x, v = (np.concatenate([getattr(run.state, name) for run in alone]) for name in ("x", "v"))
    assert together.state.x.tobytes() == x.tobytes()
    assert together.state.v.tobytes() == v.tobytes()


def test_a_step_that_goes_astray_is_halved(tmp_path, monkeypatch):
    run = Run(tmp_path, Scene(colliding("", (0.0, 0.0, 0.0), 60.0, 0.2, 3), (), Settings(gravity=NOTHING)))
    contacts, parts, start, ever = step_attempt.make_contact_step, [], kinetic_energy(run), DeepestEver(run)
    monkeypatch.setattr(step_attempt, "make_contact_step", lambda *given: parts.append(given[-1]) or contacts(*given))
    for _ in range(3):
        run.advance()
        assert kinetic_energy(run) < 1.001 * start
        ever.look(run)
    assert ever.depth < 0.01
    lengths = np.unique([round(part.dt * 96 * 8) for part in parts])
    assert lengths.max() == 8 and lengths.min() in (1, 2, 4)
    assert run.simulation.state.time == pytest.approx(3 / 24)


def test_done_nodes_are_not_solved_again():
    X, tets = bar((2, 2, 2), (1.0, 1.0, 1.0))
    parts = [Part(f"box {k}", X + [3.0 * k, 0, 0], tets, np.ones(len(tets)), Material()) for k in range(2)]
    model = make_model(parts)
    random = np.random.default_rng(1)
    start = State(model.X + 0.01 * random.normal(size=model.X.shape), random.normal(size=model.X.shape))
    is_done = np.zeros(model.node_count, bool)
    is_done[model.bodies[0].nodes] = True
    count = len(model.tets)
    push = PointForces(
        np.array([0, count - 1], np.int32), np.full((2, 4), 0.25), np.full((2, 3), 500.0), np.zeros((2, 3, 3)),
        np.zeros((2, 3, 3)),
    )  # fmt: skip
    ends = {}
    for name, done in (("once", None), ("all", np.zeros_like(is_done)), ("rest", is_done)):
        state, later = replace(start, fields={}), iter([ExternalForces(points=push, is_frozen=done)])
        respond = None if name == "once" else lambda *ends, later=later: next(later, None)
        step(model, state, ExternalForces(), 0.01, Settings(), contacts=ContactCallbacks(update=respond))
        ends[name] = state.v
    first, second = (body.nodes for body in model.bodies)
    assert np.array_equal(ends["rest"][first], ends["once"][first])
    assert np.array_equal(ends["rest"][second], ends["all"][second])
    assert np.abs(ends["all"] - ends["once"])[first].max() > 0.01


@pytest.mark.parametrize("max_iterations", [1, 500])
def test_what_has_not_converged_is_not_done(max_iterations):
    X, tets = bar((4, 4, 4), (1.0, 1.0, 1.0))
    model = make_model([Part("box", X, tets, np.ones(len(tets)), Material())])
    state = State(model.X + 0.05 * np.random.default_rng(1).normal(size=model.X.shape), np.zeros_like(model.X))
    later = iter([ExternalForces(gravity=np.array(NOTHING), is_frozen=np.ones(model.node_count, bool))])
    settings = Settings(tolerance=1e-6, max_iterations=max_iterations)
    report = step(
        model, state, ExternalForces(), 0.01, settings, contacts=ContactCallbacks(update=lambda *_: next(later, None))
    )
    assert report.converged == (max_iterations > 1)
