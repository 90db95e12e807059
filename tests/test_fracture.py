# SPDX-License-Identifier: GPL-3.0-or-later
"""What splitting keeps, and what follows the new topology: masses, momentum, fields, pins, contacts, resume."""

from __future__ import annotations

import dataclasses

import numpy as np
import pytest

from fixtures.fracture_scenes import ball, falling, pieces
from fixtures.scenes import Run, block
from sinew.solver.contact.detection.persistent_contacts import PersistentContacts
from sinew.solver.mechanics.state import State
from sinew.solver.mechanics.topology_state import Topology
from sinew.solver.scene.scene import Collider, Fracture, Heat, Plasticity, Scene, Settings
from sinew.solver.simulation.fracture.breakable_bodies import CRACK_TIP_FIELD, DAMAGE_FIELD, LARGEST_STRESS_FIELD
from sinew.solver.simulation.fracture_topology import apply_topology
from sinew.solver.simulation.simulation import Simulation
from sinew.solver.simulation.tet_face_separation import crack_front

pytestmark = pytest.mark.slow


def test_a_stone_breaks_on_the_ground_and_keeps_what_it_is_made_of(tmp_path):
    heat = Heat(temperature=30.0)
    plastic = Plasticity(yield_strain=0.02, flow=5.0)
    run = falling(tmp_path, ball(plasticity=plastic, heat=heat), block((2, 2, 2), at=(3.0, 0.0, 0.0)))
    whole = run.built
    seen = []
    for _ in range(25):
        run.advance()
        built, state = run.built, run.state
        seen.append((built.model.node_count, pieces(run)))
        model = built.model
        # masses per body and of every piece
        for part, before in zip(model.bodies, whole.model.bodies, strict=True):
            assert model.mass[part.nodes].sum() == pytest.approx(whole.model.mass[before.nodes].sum(), rel=1e-13)
        assert (model.mass > 0.0).all()
        # what belongs to tets is untouched
        for name in ("Dm_inverse", "volume", "mu", "lam", "stiffness_damping"):
            assert np.array_equal(getattr(model, name), getattr(whole.model, name)), name
        assert len(state.fields["node.temperature"]) == len(state.x) == len(state.v) == model.node_count
        # tets are where they were, by way of the nodes that theirs are copies of
        topology = Topology.from_state(state)
        if topology is not None:
            assert np.array_equal(topology.origin[topology.tets], whole.model.tets)
            assert np.array_equal(model.X, whole.model.X[topology.origin])
            assert np.array_equal(topology.tets, model.tets)
        # no tet in two pieces, and every body has a range
        starts = model.pattern.island_start
        of_node = np.searchsorted(starts, model.tets, side="right")
        assert (of_node == of_node[:, :1]).all()
        for part in model.bodies:
            assert (model.tets[part.tets] >= part.nodes.start).all()
            assert (model.tets[part.tets] < part.nodes.stop).all()
    assert seen[0][1] == 1 and seen[-1][1] >= 5, seen
    assert "node.velocity_change" in run.state.fields and DAMAGE_FIELD in run.state.fields
    assert 0.99 < run.state.fields[DAMAGE_FIELD].max() <= 1.0
    assert run.reports[-1].bodies["ball"]["splits"] == run.built.model.node_count - whole.model.node_count
    assert run.reports[-1].bodies["ball"]["largest_stress"] > 2.0e4 == run.scene.bodies[0].fracture.breaking_stress


def test_momentum_and_energy_of_motion_are_kept_by_splitting_alone(tmp_path, monkeypatch):
    from sinew.solver.simulation import advance_frame as module

    sums = []
    take = module.separate_faces

    def watched(simulation, is_parted):
        def momentum():
            m, v, x = simulation.built.model.mass[:, None], simulation.state.v, simulation.state.x
            return np.concatenate(
                [(m * v).sum(0), np.cross(x, m * v).sum(0), (m * x).sum(0), [0.5 * (m * v * v).sum()]]
            )

        before = momentum()
        take(simulation, is_parted)
        sums.append((before, momentum()))

    monkeypatch.setattr(module, "separate_faces", watched)
    run = falling(tmp_path, ball())
    run.advance(20)
    assert len(sums) > 5
    for before, after in sums:
        # copies share the mass of their node as the tets do, so what they had at one place is only spread
        assert np.abs(after - before).max() <= 1e-12 * np.abs(before).max()


def test_tips_are_where_tets_have_parted_and_still_share_a_node(tmp_path):
    run = falling(tmp_path, ball(fracture=Fracture(breaking_stress=6.0e3, scatter=0.3, most_splits=3)))
    assert not run.state.fields[CRACK_TIP_FIELD].any()
    tips = 0
    for _ in range(20):
        run.advance()
        if run.built.unbroken is None:
            continue
        neighbours, tets = run.built.fracture.neighbours, run.built.model.tets
        parted = neighbours.is_parted(tets)
        is_tip = np.zeros(run.built.model.node_count, bool)
        for tet, face in zip(*np.nonzero(parted), strict=True):
            for corner in range(4):
                if corner != face and tets.ravel()[neighbours.twin[tet, face, corner]] == tets[tet, corner]:
                    is_tip[tets[tet, corner]] = True
        assert np.array_equal(run.state.fields[CRACK_TIP_FIELD] > 0, is_tip)
        assert set(crack_front(tets, neighbours.twin, parted).tolist()) == set(np.flatnonzero(is_tip).tolist())
        tips += is_tip.sum()
    assert tips > 20


def test_a_resumed_simulation_has_the_same_topology_and_the_same_bytes(tmp_path):
    run = falling(tmp_path / "a", ball())
    run.advance(14)
    assert pieces(run) > 1
    stored = State.from_arrays({name: array.copy() for name, array in run.state.to_arrays().items()})
    again = falling(tmp_path / "b", ball())
    again.simulation = Simulation(again.scene, again.tracks, apply_topology(again.built, stored), stored)
    assert np.array_equal(again.built.contact_points.tet, run.built.contact_points.tet)
    assert np.array_equal(again.built.crack_point_rows, run.built.crack_point_rows)
    for name in ("mass", "X", "tets", "mass_damping", "gravity_scale"):
        assert np.array_equal(getattr(again.built.model, name), getattr(run.built.model, name)), name
    for _ in range(8):
        one, other = run.advance(), again.advance()
        assert np.array_equal(one, other)
        assert run.reports[-1].bodies == again.reports[-1].bodies
    for name, array in run.state.to_arrays().items():
        assert np.array_equal(array, again.state.to_arrays()[name]), name


def test_the_same_seed_gives_the_same_cracks_and_another_one_others(tmp_path):
    def cracked(folder, seed):
        run = falling(folder, ball(fracture=Fracture(breaking_stress=2.0e4, scatter=0.3, seed=seed)))
        run.advance(12)
        return run.state

    one, again, other = (cracked(tmp_path / name, seed) for name, seed in (("a", 5), ("b", 5), ("c", 6)))
    for name, array in one.to_arrays().items():
        assert np.array_equal(array, again.to_arrays()[name]), name
    assert Topology.from_state(one).tets.shape != Topology.from_state(other).tets.shape or not np.array_equal(
        Topology.from_state(one).tets, Topology.from_state(other).tets
    )


def test_threads_change_no_crack(tmp_path):
    from sinew.solver.runtime.threads.thread_count import set_thread_count

    found = []
    try:
        for count in (1, 2):
            set_thread_count(count)
            run = falling(tmp_path / str(count), ball())
            run.advance(12)
            found.append(run.state.to_arrays())
    finally:
        set_thread_count(None)
    for name, array in found[0].items():
        assert np.array_equal(array, found[1][name]), name


def test_pieces_from_the_inside_lie_on_the_ground(tmp_path):
    run = falling(tmp_path, ball(fracture=Fracture(breaking_stress=4.0e3, most_splits=400, most_pieces=150, seed=2)))
    run.advance(40)
    built, x = run.built, run.state.x
    points = built.contact_points
    size = built.bodies[0].mesh.report.tet_size
    at = np.einsum("ka,kai->ki", points.weights, x[built.model.tets[points.tet]])
    assert pieces(run) > 30
    assert at[:, 2].min() > -0.35 * size
    # nothing parts from what it has to keep to
    parted = built.fracture.neighbours.is_parted(built.model.tets)
    assert built.fracture.is_bonded.sum() > 50 and not (parted & built.fracture.is_bonded).any()
    # every piece has points, and lies within a tet's reach of the ground or above
    piece = np.searchsorted(built.model.pattern.island_start, built.model.tets[:, 0], side="right") - 1
    assert len(np.unique(piece[points.tet])) == built.model.pattern.island_count
    assert x[:, 2].min() > -1.5 * size


def test_contacts_are_remembered_when_points_are_added(tmp_path):
    floor, ramp = Collider("floor", "Floor"), Collider("ramp", "Ramp")
    turn = np.eye(4)
    turn[:3, :3] = [[0.8, 0.0, -0.6], [0.0, 1.0, 0.0], [0.6, 0.0, 0.8]]
    turn[:3, 3] = [0.0, 0.0, -0.2]
    run = falling(
        tmp_path,
        ball(fracture=Fracture(breaking_stress=3.0e3, most_splits=2)),
        colliders=(floor, ramp),
        collider__ramp__matrix=(np.array([0.0]), turn[None]),
    )

    def remembered():
        """Returns what is known of contacts by collider, tet and weights."""
        memory, points = PersistentContacts.from_state(run.state), run.built.contact_points
        memory = memory.select(memory.id < 2 * len(points))  # not those of pieces with each other
        place, point = np.divmod(memory.id, len(points))
        names = [(int(p), int(points.tet[k]), tuple(points.weights[k])) for p, k in zip(place, point, strict=True)]
        return dict(zip(names, memory.force, strict=True))

    from sinew.solver.simulation import advance_frame as module

    take, kept = module.separate_faces, []

    def watched(simulation, is_parted):
        before = remembered()
        take(simulation, is_parted)
        after = remembered()
        assert (np.diff(PersistentContacts.from_state(run.state).id) > 0).all()
        assert before == after
        kept.append(len(before))

    module.separate_faces = watched
    try:
        run.advance(30)
    finally:
        module.separate_faces = take
    assert len(kept) > 10 and max(kept) > 5


def test_a_node_that_splits_in_a_step_is_split_once(tmp_path):
    """Four splits at most in a step add a bounded number of nodes: copies at the node, and hinges at its neighbours."""
    run = falling(tmp_path, ball(fracture=Fracture(breaking_stress=3.0e3, most_splits=1)))
    most = 0
    for _ in range(20):
        before = run.built.model.node_count
        run.advance()
        most = max(most, run.built.model.node_count - before)
    assert 1 <= most <= 2 * 12


def test_a_whole_breakable_body_moves_like_one_that_cannot_break(tmp_path):
    body = block((3, 3, 3), at=(0.0, 0.0, 0.3))
    scene = Scene((body,), (Collider("floor", "Floor"),), Settings(fps=50.0, frame_end=100))
    firm = dataclasses.replace(body, fracture=Fracture(breaking_stress=1e9))
    one, other = Run(tmp_path / "a", scene), Run(tmp_path / "b", dataclasses.replace(scene, bodies=(firm,)))
    for _ in range(20):
        assert np.array_equal(one.advance(), other.advance())
    assert other.built.unbroken is None and other.state.fields[LARGEST_STRESS_FIELD][0] > 0.0
