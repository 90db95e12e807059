# SPDX-License-Identifier: GPL-3.0-or-later
"""What splitting keeps, and what follows the new topology: masses, momentum, fields, pins, contacts, resume."""

from __future__ import annotations

import dataclasses

import numpy as np
import pytest

from breaking import breakable, irregular
from meshes import bar
from scenes import JELLY, Run, block
from sinew.solver.break_up import front
from sinew.solver.contact.memory import Memory
from sinew.solver.errors import BadInput
from sinew.solver.fracture.bodies import DAMAGE, LARGEST, TIP
from sinew.solver.present_topology import with_topology
from sinew.solver.scene import Collider, Fracture, Heat, Material, Meshing, Plasticity, Scene, Settings
from sinew.solver.simulation import Simulation
from sinew.solver.state import State
from sinew.solver.topology import Topology

GLASS = Material(youngs_modulus=2.0e5, poisson_ratio=0.3, density=1000.0, stiffness_damping=0.001)


def ball(**settings):
    """Returns a lumpy stone above the ground, of robust tets."""
    import trimesh

    found = trimesh.creation.icosphere(3, radius=0.5)
    points = np.array(found.vertices)
    points *= 1.0 + 0.2 * np.sin(5.0 * points[:, :1]) * np.cos(4.0 * points[:, 1:2])
    settings.setdefault("fracture", Fracture(breaking_stress=2.0e4, scatter=0.3, seed=5))
    nodes, tets = bar((1, 1, 1), (1.0, 1.0, 1.0))
    body = breakable(nodes, tets, settings.pop("fracture"), key="ball")
    return dataclasses.replace(
        body,
        vertices=points + [0.0, 0.0, 0.62],
        triangles=np.array(found.faces, np.int32),
        meshing=Meshing("smooth", divisions=5),
        tet_nodes=None,
        tets=None,
        material=settings.pop("material", GLASS),
        initial_velocity=(0.0, 0.0, -4.0),
        **settings,
    )


FLOOR = (Collider("floor", "Floor"),)


def falling(folder, *bodies, colliders=FLOOR, **tracks) -> Run:
    settings = Settings(fps=50.0, substeps=2, frame_end=200)
    return Run(folder, Scene((*bodies,), colliders, settings), **tracks)


def pieces(run):
    return run.reports[-1].bodies["ball"]["pieces"]


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
        topology = Topology.of(state)
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
    assert "node.velocity_change" in run.state.fields and DAMAGE in run.state.fields
    assert 0.99 < run.state.fields[DAMAGE].max() <= 1.0
    assert run.reports[-1].bodies["ball"]["splits"] == run.built.model.node_count - whole.model.node_count
    assert run.reports[-1].bodies["ball"]["largest_stress"] > 2.0e4 == run.scene.bodies[0].fracture.breaking_stress


def test_momentum_and_energy_of_motion_are_kept_by_splitting_alone(tmp_path, monkeypatch):
    from sinew.solver import break_up as module

    sums = []
    take = module._take

    def watched(simulation, broken, parted):
        def momentum():
            m, v, x = simulation.built.model.mass[:, None], simulation.state.v, simulation.state.x
            return np.concatenate(
                [(m * v).sum(0), np.cross(x, m * v).sum(0), (m * x).sum(0), [0.5 * (m * v * v).sum()]]
            )

        before = momentum()
        take(simulation, broken, parted)
        sums.append((before, momentum()))

    monkeypatch.setattr(module, "_take", watched)
    run = falling(tmp_path, ball())
    run.advance(20)
    assert len(sums) > 5
    for before, after in sums:
        # copies share the mass of their node as the tets do, so what they had at one place is only spread
        assert np.abs(after - before).max() <= 1e-12 * np.abs(before).max()


def test_tips_are_where_tets_have_parted_and_still_share_a_node(tmp_path):
    run = falling(tmp_path, ball(fracture=Fracture(breaking_stress=6.0e3, scatter=0.3, most_splits=3)))
    assert not run.state.fields[TIP].any()
    tips = 0
    for _ in range(20):
        run.advance()
        if run.built.whole is None:
            continue
        neighbours, tets = run.built.fracture.neighbours, run.built.model.tets
        parted = neighbours.parted(tets)
        is_tip = np.zeros(run.built.model.node_count, bool)
        for tet, face in zip(*np.nonzero(parted), strict=True):
            for corner in range(4):
                if corner != face and tets.ravel()[neighbours.twin[tet, face, corner]] == tets[tet, corner]:
                    is_tip[tets[tet, corner]] = True
        assert np.array_equal(run.state.fields[TIP] > 0, is_tip)
        assert set(front(tets, neighbours.twin, parted).tolist()) == set(np.flatnonzero(is_tip).tolist())
        tips += is_tip.sum()
    assert tips > 20


def test_a_resumed_simulation_has_the_same_topology_and_the_same_bytes(tmp_path):
    run = falling(tmp_path / "a", ball())
    run.advance(9)
    assert pieces(run) > 1
    stored = State.from_arrays({name: array.copy() for name, array in run.state.to_arrays().items()})
    again = falling(tmp_path / "b", ball())
    again.simulation = Simulation(again.scene, again.tracks, with_topology(again.built, stored), stored)
    again.frame = run.frame
    assert np.array_equal(again.built.contact_points.tet, run.built.contact_points.tet)
    assert np.array_equal(again.built.broken_keys, run.built.broken_keys)
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
    assert Topology.of(one).tets.shape != Topology.of(other).tets.shape or not np.array_equal(
        Topology.of(one).tets, Topology.of(other).tets
    )


def test_threads_change_no_crack(tmp_path):
    from sinew.solver.jit import set_thread_count

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
    parted = built.fracture.neighbours.parted(built.model.tets)
    assert built.fracture.together.sum() > 50 and not (parted & built.fracture.together).any()
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
        memory, points = Memory.of(run.state), run.built.contact_points
        memory = memory.only(memory.id < 2 * len(points))  # not those of pieces with each other
        place, point = np.divmod(memory.id, len(points))
        names = [(int(p), int(points.tet[k]), tuple(points.weights[k])) for p, k in zip(place, point, strict=True)]
        return dict(zip(names, memory.force, strict=True))

    from sinew.solver import break_up as module

    take, kept = module._take, []

    def watched(simulation, broken, parted):
        before = remembered()
        take(simulation, broken, parted)
        after = remembered()
        assert (np.diff(Memory.of(run.state).id) > 0).all()
        assert before == after
        kept.append(len(before))

    module._take = watched
    try:
        run.advance(30)
    finally:
        module._take = take
    assert len(kept) > 10 and max(kept) > 5


def held_bar(fracture, **settings):
    """Returns a bar along x whose ends are pinned exactly."""
    nodes, tets = bar((8, 3, 3), (1.6, 0.6, 0.6))
    body = breakable(irregular(nodes, tets, 0.03), tets, fracture, material=JELLY, **settings)
    ends = np.flatnonzero((body.vertices[:, 0] < 1e-9) | (body.vertices[:, 0] > 1.6 - 1e-9)).astype(np.int32)
    return dataclasses.replace(body, pinned=ends, pin_weights=np.ones(len(ends)))


def torn(folder, body, seconds=1.2, far=1.0):
    """Returns a run in which the pinned vertices at x > 0 move off along x."""
    start = body.vertices[body.pinned]
    end = start + np.where(start[:, :1] > 0.8, [far, 0.0, 0.0], 0.0)
    settings = Settings(fps=50.0, substeps=1, frame_end=200, gravity=(0.0, 0.0, 0.0))
    return Run(folder, Scene((body,), (), settings), body__bar__targets=([0.0, seconds], np.array([start, end])))


def test_exact_pins_hold_both_halves_of_a_torn_bar(tmp_path):
    run = torn(tmp_path, held_bar(Fracture(breaking_stress=1.5e4, seed=1)))
    run.advance(80)
    assert run.reports[-1].bodies["bar"]["pieces"] >= 2
    body, targets = run.scene.bodies[0], run.tracks.sample("body.bar.targets", 1.6)
    assert np.abs(run.render["bar"][body.pinned] - targets).max() < 1e-9
    # all nodes of tets that hold pinned vertices stay held, whatever they are copies of
    pins = run.built.pins[0]
    for region, whole in zip(pins.regions, run.built.whole.pins[0].regions, strict=True):
        assert set(region.nodes.tolist()) == set(run.built.model.tets[region.holders].ravel().tolist())
        assert np.array_equal(np.unique(Topology.of(run.state).origin[region.nodes]), whole.nodes)
        given = np.random.default_rng(0).normal(size=targets.shape)
        origin = Topology.of(run.state).origin[region.nodes]
        rows = np.searchsorted(whole.nodes, origin)
        assert np.array_equal(region.node_targets(given), whole.node_targets(given)[rows])


def test_nothing_breaks_where_it_is_unbreakable_or_held(tmp_path):
    body = held_bar(Fracture(breaking_stress=1.5e4, seed=1))
    # the right half never breaks
    unbreakable = (body.vertices[:, 0] > 0.75).astype(float)
    body = dataclasses.replace(body, fracture=dataclasses.replace(body.fracture, unbreakable=unbreakable))
    run = torn(tmp_path, body)
    run.advance(60)
    fracture, model = run.built.fracture, run.built.model
    assert run.reports[-1].bodies["bar"]["pieces"] >= 2
    parted = fracture.neighbours.parted(model.tets)
    tet, face = np.nonzero(parted)
    other = fracture.neighbours.tet[tet, face]
    assert len(tet) and (fracture.is_breakable[tet] | fracture.is_breakable[other]).all()
    held = np.isin(model.tets, run.built.pins[0].held_nodes).all(axis=1)
    assert not (held[tet] & held[other]).any()
    assert 0.3 < fracture.is_breakable.mean() < 0.7


def test_paint_and_an_animated_breaking_stress_decide_where_and_when(tmp_path):
    body = held_bar(Fracture(breaking_stress=1.5e4, scatter=0.0, seed=1))
    weak = np.where(np.abs(body.vertices[:, 0] - 1.2) < 0.15, 0.3, 1.0)
    painted = dataclasses.replace(body, fracture=dataclasses.replace(body.fracture, strength_paint=weak))
    run = torn(tmp_path / "paint", painted)
    while not run.reports or run.reports[-1].bodies["bar"]["splits"] == 0.0:
        run.advance()
    early = run.frame
    tet = np.flatnonzero(run.built.fracture.neighbours.parted(run.built.model.tets).any(axis=1))
    middle = run.built.model.X[run.built.model.tets[tet]].mean(axis=(0, 1))
    assert abs(middle[0] - 1.2) < 0.25

    unpainted = torn(tmp_path / "plain", body)
    while not unpainted.reports or unpainted.reports[-1].bodies["bar"]["splits"] == 0.0:
        unpainted.advance()
    assert unpainted.frame > 1.5 * early

    start = body.vertices[body.pinned]
    end = start + np.where(start[:, :1] > 0.8, [0.1, 0.0, 0.0], 0.0)
    settings = Settings(fps=50.0, substeps=1, frame_end=200, gravity=(0.0, 0.0, 0.0))
    run = Run(
        tmp_path / "track",
        Scene((body,), (), settings),
        body__bar__targets=([0.0, 0.4], np.array([start, end])),
        body__bar__breaking_stress=([0.0, 1.0, 1.2], np.array([1e9, 1e9, 2.0e3])),
    )
    run.advance(50)
    assert run.reports[-1].bodies["bar"]["splits"] == 0.0
    run.advance(15)
    assert run.reports[-1].bodies["bar"]["splits"] > 0.0


def test_splits_and_pieces_are_capped_and_what_is_left_is_told(tmp_path):
    run = falling(tmp_path, ball(fracture=Fracture(breaking_stress=1.0e3, most_splits=4, most_pieces=6)))
    before, left = run.built.model.node_count, 0.0
    for _ in range(30):
        steps = []
        from sinew.solver.advance import advance_step

        settings = run.scene.settings
        for number in (1, 2):
            begin, end = (settings.time(run.frame + n / 2) for n in (number - 1, number))
            report = advance_step(run.simulation, begin, end)
            steps.append(run.built.model.node_count)
            left = max(left, report.splits_left["ball"])
        run.frame += 1
        assert run.built.model.pattern.island_count <= 6
    assert run.built.model.pattern.island_count == 6 and left > 10.0
    assert run.built.model.node_count > before


def test_a_node_that_splits_in_a_step_is_split_once(tmp_path):
    """Four splits at most in a step add a bounded number of nodes: copies at the node, and hinges at its neighbours."""
    run = falling(tmp_path, ball(fracture=Fracture(breaking_stress=3.0e3, most_splits=1)))
    most = 0
    for _ in range(20):
        before = run.built.model.node_count
        run.advance()
        most = max(most, run.built.model.node_count - before)
    assert 1 <= most <= 2 * 12


@pytest.mark.parametrize(
    ("change", "kind", "word"),
    [
        ({"breaking_stress": 0.0}, "setting-out-of-range", "Breaking Stress"),
        ({"breaking_stress": float("nan")}, "setting-out-of-range", "Breaking Stress"),
        ({"toughness": -1.0}, "setting-out-of-range", "Toughness"),
        ({"scatter": 1.0}, "setting-out-of-range", "Scatter"),
        ({"scatter": -0.1}, "setting-out-of-range", "Scatter"),
        ({"most_splits": 0}, "setting-out-of-range", "Splits per Step"),
        ({"most_pieces": 0}, "setting-out-of-range", "Most Pieces"),
        ({"strength_paint": np.zeros(98)}, "strength-all-zero", "0 everywhere"),
        ({"unbreakable": np.ones(98)}, "nothing-breakable", "unbreakable"),
        ({"strength_paint": np.ones(3)}, "paint-without-vertices", "Breaking Stress"),
        ({"unbreakable": np.ones(3)}, "paint-without-vertices", "Unbreakable"),
        ({"strength_paint": np.full(98, -1.0)}, "setting-out-of-range", "Breaking Stress"),
    ],
)
def test_bad_input_is_one_sentence(tmp_path, change, kind, word):
    body = block((4, 4, 4), fracture=Fracture(**change))
    assert len(body.vertices) == 98
    with pytest.raises(BadInput) as problem:
        Run(tmp_path, Scene((body,)))
    assert problem.value.kind == kind and word in problem.value.sentence and '"Block"' in problem.value.sentence


def test_a_whole_breakable_body_moves_like_one_that_cannot_break(tmp_path):
    body = block((3, 3, 3), at=(0.0, 0.0, 0.3))
    scene = Scene((body,), (Collider("floor", "Floor"),), Settings(fps=50.0, frame_end=100))
    firm = dataclasses.replace(body, fracture=Fracture(breaking_stress=1e9))
    one, other = Run(tmp_path / "a", scene), Run(tmp_path / "b", dataclasses.replace(scene, bodies=(firm,)))
    for _ in range(20):
        assert np.array_equal(one.advance(), other.advance())
    assert other.built.whole is None and other.state.fields[LARGEST][0] > 0.0


def test_gravity_already_in_shape_counts_as_stress_and_stays_after_breaking(tmp_path):
    """A bar that hangs still bears its weight, ρ g L at its top; it breaks there where it bears less."""
    nodes, tets = bar((3, 3, 8), (0.6, 0.6, 1.6))
    weight = 1000.0 * 9.81 * 1.6
    body = breakable(irregular(nodes, tets, 0.03), tets, Fracture(breaking_stress=10.0 * weight), material=JELLY)
    top = np.flatnonzero(body.vertices[:, 2] > 1.6 - 1e-9).astype(np.int32)
    body = dataclasses.replace(body, pinned=top, pin_weights=np.ones(len(top)), gravity_in_shape=True)
    settings = Settings(fps=50.0, substeps=2, frame_end=200)
    run = Run(tmp_path / "firm", Scene((body,), (), settings))
    run.advance(3)
    assert np.abs(run.render["bar"] - body.vertices).max() < 1e-6
    assert 0.7 * weight < run.reports[-1].bodies["bar"]["largest_stress"] < 2.0 * weight

    track = ([0.0, 0.1, 0.11], np.array([1e6, 1e6, 0.5 * weight]))
    run = Run(tmp_path / "weak", Scene((body,), (), settings), body__bar__breaking_stress=track)
    run.advance(4)
    assert run.built.whole is None
    run.advance(30)
    assert run.reports[-1].bodies["bar"]["pieces"] >= 2
    parted = run.built.fracture.neighbours.parted(run.built.model.tets)
    broken = run.built.model.X[run.built.model.tets[np.flatnonzero(parted.any(axis=1))]].mean(axis=1)
    assert np.median(broken[:, 2]) > 0.7
    assert np.abs(run.render["bar"][top] - body.vertices[top]).max() < 1e-9
    assert run.render["bar"][:, 2].min() < -0.3


def test_what_is_attached_goes_with_its_pins_while_the_rest_breaks_off(tmp_path):
    body = held_bar(Fracture(breaking_stress=1.5e4, seed=1))
    ends = body.pinned
    left = ends[body.vertices[ends, 0] < 0.8]
    right = ends[body.vertices[ends, 0] > 0.8]
    body = dataclasses.replace(
        body, pinned=right, pin_weights=np.full(len(right), 0.5), attached=left, attached_weights=np.ones(len(left))
    )
    start = body.vertices[right]
    run = Run(
        tmp_path,
        Scene((body,), (), Settings(fps=50.0, substeps=1, frame_end=200, gravity=(0.0, 0.0, 0.0))),
        body__bar__targets=([0.0, 0.6], np.array([start, start + [0.8, 0.0, 0.0]])),
        body__bar__pin_stiffness=([0.0], np.array([1.0e5])),
        body__bar__attached__targets=([0.0], body.vertices[left][None]),
    )
    run.advance(60)
    assert run.reports[-1].bodies["bar"]["pieces"] >= 2
    assert np.abs(run.render["bar"][left] - body.vertices[left]).max() < 1e-9
    assert np.abs(run.render["bar"][right] - start - [0.8, 0.0, 0.0]).max() < 0.05


def test_bodies_beside_one_that_breaks_move_as_they_do_alone(tmp_path):
    first, last = block((2, 2, 2), at=(3.0, 0.0, 0.1), key="first"), block((2, 2, 2), at=(-4.0, 0.0, 0.1), key="last")
    last = dataclasses.replace(last, fracture=Fracture(breaking_stress=1e9))
    alone, together = falling(tmp_path / "a", first, last), falling(tmp_path / "b", first, ball(), last)
    for frame in range(15):
        alone.advance()
        together.advance()
        for key in ("first", "last"):
            # from the seventh frame on they touch the ground, and contacts of all bodies are settled together
            near = 1e-12 if frame < 6 else 3e-3
            assert np.abs(alone.render[key] - together.render[key]).max() < near, key
    assert pieces(together) > 1 and together.reports[-1].bodies["last"]["pieces"] == 1.0
