# SPDX-License-Identifier: GPL-3.0-or-later
"""Rows of Attachments by edges drawn between vertices: springs and struts between two places."""

from __future__ import annotations

import itertools
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

import sinew.solver.api as sinew
from fixtures.bone_scenes import ball, limb
from fixtures.edge_rows import KINDS, LOWER, SIDE, UPPER, body_of, drawn_edges, energy_of, nodal_forces, pair_of
from fixtures.edge_rows import potential_of as potential_at
from fixtures.fracture_specimens import breakable
from fixtures.live_runs import drive
from fixtures.rigid_bodies import BOX_CORNERS, BOX_TRIANGLES, centres, momenta, rigid_box, run_of
from fixtures.scenes import Run, pose, rotation
from fixtures.tet_meshes import bar
from sinew.solver.live.live_run import LiveRun
from sinew.solver.runtime.arrays import Floats
from sinew.solver.runtime.errors import BadInput
from sinew.solver.scene.attachment import FRAME, NOTHING, AttachedSurface, Attachment
from sinew.solver.scene.contact import Collider
from sinew.solver.scene.flesh import Bone, Flesh
from sinew.solver.scene.scene import Body, Fracture, Scene, Settings
from sinew.solver.scene.tracks import NoTracks
from sinew.solver.simulation.diagnostics.diagnose import diagnose
from sinew.solver.simulation.simulation import Simulation

WEIGHTLESS = {"gravity": (0.0, 0.0, 0.0)}
PAIRS = list(itertools.product(KINDS, KINDS))
POST = body_of("rigid", UPPER)


def scene_of(*bodies: Body, **settings: object) -> Scene:
    return Scene(bodies, (), Settings(**WEIGHTLESS | {"frame_end": 60} | settings))


def hung(breaking: float | None = None, **row: object) -> Body:
    """Returns a rigid box of 64 kg that hangs at the middle of its top, 0.3 m below a post."""
    edge = np.array([[[0.0, 0.0, LOWER.ends], [0.0, 0.0, UPPER.ends]]])
    given = {"kind": "spring", "edges": edge, "breaking_force": breaking} | row
    return body_of("rigid", LOWER, attachments=(Attachment("post", **given),))


def post() -> Collider:
    return Collider("post", "Post", "mesh", POST.vertices, POST.triangles)


MASS = 1000.0 * SIDE**3
WEIGHT = 9.81 * MASS


@pytest.mark.parametrize(("lower", "upper"), PAIRS)
def test_forces_between_all_kinds_are_derivatives_and_have_no_torque(lower: str, upper: str) -> None:
    """Also of the damper, whose energy is that of a spring of the length at the start."""
    simulation = Simulation(scene_of(*pair_of(lower, upper, spring_constant=900.0, damping=20.0)))
    simulation.start()
    random = np.random.default_rng(3)
    potential = potential_at(simulation)
    x = simulation.state.x + 0.02 * random.normal(size=simulation.state.x.shape)
    force = nodal_forces(potential, x)
    size, torques = np.abs(force).sum(), np.cross(x, force)
    assert size > 1.0
    assert np.abs(force.sum(axis=0)).max() < 1e-9 * size
    assert np.abs(torques.sum(axis=0)).max() < 1e-9 * np.abs(torques).sum()
    for _ in range(3):
        d = random.normal(size=x.shape)
        h = 1e-6
        slope = (energy_of(potential, x + h * d) - energy_of(potential, x - h * d)) / (2.0 * h)
        assert slope == pytest.approx(-float((force * d).sum()), rel=1e-5, abs=1e-6 * size)


@pytest.mark.parametrize(("lower", "upper"), [("soft", "sheet"), ("string", "rigid"), ("sheet", "string")])
def test_edges_are_at_rest_as_drawn_and_in_rigid_motions(lower: str, upper: str) -> None:
    simulation = Simulation(scene_of(*pair_of(lower, upper, kind="fixed")))
    simulation.start()
    potential, x = potential_at(simulation), simulation.state.x
    moved = x @ rotation([1.0, 2.0, -0.5], 1.1).T + [0.3, -2.0, 1.0]
    stretched = nodal_forces(potential, 1.01 * x)
    for each in (x, moved):
        assert np.abs(nodal_forces(potential, each)).max() < 1e-10 * np.abs(stretched).max()


def test_a_body_turns_freely_about_the_end_of_one_edge() -> None:
    lower, upper = pair_of("rigid", "rigid", edges=drawn_edges()[:1])
    simulation = Simulation(scene_of(lower, upper))
    simulation.start()
    potential, x = potential_at(simulation), simulation.state.x.copy()
    nodes = simulation.built.model.bodies[1].nodes
    pivot = drawn_edges()[0, 0]
    x[nodes] = (x[nodes] - pivot) @ rotation([0.2, 1.0, 0.4], 0.7).T + pivot
    assert np.abs(nodal_forces(potential, x)).max() < 1e-9
    x[nodes] += 0.01
    assert np.abs(nodal_forces(potential, x)).max() > 1.0


def test_the_end_that_is_nearer_to_the_body_is_its_own() -> None:
    """Some edges are drawn from the target to the body; all ends are where they were drawn."""
    for way in (1, -1):
        simulation = Simulation(scene_of(*pair_of("soft", "soft", edges=drawn_edges()[:, ::way])))
        simulation.start()
        (active,) = potential_at(simulation).active
        x, tets = simulation.state.x, simulation.built.model.tets
        ends = np.stack([active.points(x, tets), active.ends(x, tets)], axis=1)
        expected = drawn_edges()
        expected[1] = expected[1, ::-1]
        np.testing.assert_allclose(ends, expected, atol=1e-12)
        np.testing.assert_allclose(active.links.rest_length, np.linalg.norm(np.diff(ends, axis=1)[:, 0], axis=1))


def test_a_body_hangs_lower_by_m_g_over_k(tmp_path: Path) -> None:
    k = WEIGHT / 0.05
    row = {"spring_constant": k, "damping": 2.0 * np.sqrt(k * MASS)}
    run = run_of(tmp_path, hung(**row), colliders=(post(),), frame_end=100)
    before = centres(run)[0, 2]
    run.advance(60)
    assert before - centres(run)[0, 2] == pytest.approx(WEIGHT / k, rel=1e-6)
    assert max(report.not_converged for report in run.reports) == 0


def test_a_fixed_edge_carries_a_body_from_below_and_above(tmp_path: Path) -> None:
    """A strut of the stiffness 1000 E L, with L the edge of a cube over 2, since 3 V / A = a / 2."""
    body = hung(kind="fixed")
    stiffness = 1000.0 * body.material.youngs_modulus * 0.5 * SIDE
    for sign in (1.0, -1.0):
        run = run_of(tmp_path / str(sign), body, colliders=(post(),), frame_end=60, gravity=(0.0, 0.0, -9.81 * sign))
        (active,) = potential_at(run.simulation).active
        assert active.links.stiffness == pytest.approx([stiffness], rel=1e-9)
        before = centres(run)[0, 2]
        run.advance(20)
        assert sign * (before - centres(run)[0, 2]) == pytest.approx(WEIGHT / stiffness, rel=0.05)


def test_damping_acts_along_the_edge_alone(tmp_path: Path) -> None:
    """An oscillation along it dies out, a swing across does not."""
    left = []
    for speed in ((0.0, 0.0, -0.5), (0.5, 0.0, 0.0)):
        k = 20000.0
        row = {"spring_constant": k, "damping": 0.3 * np.sqrt(k * MASS)}
        body = replace(hung(**row), initial_velocity=speed)
        run = run_of(tmp_path / str(speed), body, colliders=(post(),), frame_end=60, substeps=4, **WEIGHTLESS)
        run.advance(2)
        now = float(np.linalg.norm(momenta(run)[0]))
        left.append(now / (0.5 * MASS))
    assert left[0] < 0.75 and left[1] > 0.98


@pytest.mark.parametrize("share", [0.8, 1.3])
def test_an_edge_breaks_where_it_carries_more_than_its_force(tmp_path: Path, share: float) -> None:
    k = WEIGHT / 0.02
    row = {"spring_constant": k, "damping": 2.0 * np.sqrt(k * MASS)}
    run = run_of(tmp_path, hung(share * WEIGHT, **row), colliders=(post(),), frame_end=60)
    before = centres(run)[0, 2]
    run.advance(24)
    fallen = before - centres(run)[0, 2]
    assert fallen > 0.5 if share < 1.0 else fallen < 0.021
    assert ("broken.lower.0" in run.state.fields) == (share < 1.0)


def test_keys_switch_edges_off_and_on(tmp_path: Path) -> None:
    """A body is let go, and caught again at the length that was drawn."""
    times, values = np.array([0.0, 0.125, 0.375]), np.array([1.0, 0.0, 1.0])
    track = {"body__lower__attachment__0__strength": (times, values, "step")}
    row = {"spring_constant": WEIGHT / 0.01, "damping": 4000.0}
    run = run_of(tmp_path, hung(**row), colliders=(post(),), frame_end=100, **track)
    before, fallen = centres(run)[0, 2], []
    for _ in range(80):
        run.advance()
        fallen.append(before - centres(run)[0, 2])
    assert fallen[2] < 0.02 and fallen[8] > 0.2
    assert fallen[-1] == pytest.approx(0.01, abs=1e-3)


@pytest.mark.parametrize("carrier", ["empty", "line of a bone", "bone mesh", "collider"])
def test_what_moves_takes_the_body_along(tmp_path: Path, carrier: str) -> None:
    """Six struts, of which no two are parallel, let a body neither turn nor move against what they end at."""
    low, high = (np.array([[0.15 * np.cos(a), 0.15 * np.sin(a), z] for a in (0.0, 2.1, 4.2)]) for z in
                 (LOWER.ends, UPPER.ends))  # fmt: skip
    edges = np.array([[low[k], high[(k + step) % 3]] for k in range(3) for step in (1, 2)])
    start, turn = pose(rotation([0.0, 1.0, 0.0], 0.4), (1.0, 0.0, 0.5)), pose(rotation([0.0, 0.0, 1.0], 0.3))
    matrices = np.stack([np.eye(4), pose(None, (0.05, 0.02, 0.1)) @ turn])
    target, track, moved = "post", "bone__post__matrix", matrices
    bones, colliders = tuple[Bone, ...](), tuple[Collider, ...]()
    if carrier == "empty":
        target, track, moved = FRAME, "body__lower__attachment__0__matrix", matrices @ start
    elif carrier == "line of a bone":
        bones = (Bone("post", "Post", np.array([[0.0, 0.0, 1.0], [0.0, 0.0, 2.0]]), np.zeros((0, 3), np.int32)),)
    elif carrier == "bone mesh":
        bones = (Bone("post", "Post", POST.vertices, POST.triangles),)
    else:
        colliders, track = (post(),), "collider__post__matrix"
    body = body_of("rigid", LOWER, attachments=(Attachment(target, "fixed", edges=edges),))
    scene = Scene((body,), colliders, Settings(**WEIGHTLESS, frame_end=60), bones=bones)
    run = Run(tmp_path, scene, **{track: (np.array([0.0, 0.25]), moved, "rigid")})
    run.advance(20)
    expected = body.vertices @ matrices[1, :3, :3].T + matrices[1, :3, 3]
    np.testing.assert_allclose(run.render["lower"], expected, atol=2e-3)


def test_paint_is_a_factor_and_shares_the_spring_constant() -> None:
    lower, upper = pair_of("sheet", "sheet", spring_constant=700.0)
    (row,) = upper.attachments
    paint = (upper.vertices[:, 0] > 0.0).astype(float)  # the vertices are at -0.2, -0.1, 0, 0.1, 0.2
    painted = replace(upper, attachments=(replace(row, paint=paint, target_paint=np.full(len(lower.vertices), 0.5)),))
    simulation = Simulation(scene_of(lower, painted))
    simulation.start()
    (active,) = potential_at(simulation).active
    # upper ends at x = -0.04, 0.02, 0.15: the first is not painted
    np.testing.assert_allclose(active.links.stiffness, 700.0 * np.array([0.2, 1.0]) / 1.2, rtol=1e-9)
    nothing = replace(upper, attachments=(replace(row, paint=np.zeros(len(paint))),))
    with pytest.raises(BadInput) as caught:
        Simulation(scene_of(lower, nothing)).start()
    assert caught.value.kind == "edges-unpainted"


def test_each_edge_ends_at_the_nearest_of_several_targets() -> None:
    left, right = (rigid_box((0.2, 0.2, 0.2), (x, 0.0, 1.0), key=key) for x, key in ((-0.5, "left"), (0.5, "right")))
    edges = np.array([[[x, 0.0, SIDE], [3.0 * x, 0.0, 0.9]] for x in (-0.15, 0.15)])
    row = Attachment("left", "spring", edges=edges, more_targets=("right",), spring_constant=100.0)
    simulation = Simulation(scene_of(left, right, body_of("soft", LOWER, attachments=(row,))))
    simulation.start()
    active = potential_at(simulation).active
    assert [each.links.target.name for each in active] == ["Left", "Right"]
    assert [each.links.stiffness.tolist() for each in active] == [[50.0], [50.0]]


def test_bodies_on_edges_collide(tmp_path: Path) -> None:
    """Unlike surfaces that are attached: what falls on its target lies on it, and springs push no more."""
    (row,) = hung(spring_constant=10.0).attachments
    upper = replace(POST, key="upper", attachments=(replace(row, target="lower"),))
    floor = Collider("lower", "Lower", "mesh", hung().vertices, hung().triangles)
    run = run_of(tmp_path, upper, colliders=(floor,), frame_end=60)
    run.advance(40)
    assert run.render["upper"][:, 2].min() == pytest.approx(LOWER.ends, abs=5e-3)


def test_a_baked_body_pulls_by_its_edges_as_before() -> None:
    """Its row is that of a collider then: it begins at the same places, and has the same lengths."""
    lower, upper = pair_of("soft", "soft", spring_constant=300.0)
    whole = Simulation(scene_of(lower, upper))
    whole.start()
    count = len(upper.vertices)
    surface = AttachedSurface(upper.attachments, np.full(count, 1.0e5), 0.2, 0.2)
    baked = Collider("upper", "Upper", "mesh", upper.vertices, upper.triangles, rest_vertices=upper.vertices,
                     attached_surface=surface)  # fmt: skip
    alone = Simulation(Scene((lower,), (baked,), Settings(**WEIGHTLESS)))
    alone.start()
    x = 1.1 * alone.state.x
    both = np.concatenate([x, whole.state.x[len(x) :]])
    np.testing.assert_allclose(
        nodal_forces(potential_at(alone), x), nodal_forces(potential_at(whole), both)[: len(x)], atol=1e-9
    )
    far = replace(surface, attachments=(replace(upper.attachments[0], target="lower", more_targets=(NOTHING,)),))
    edges = np.concatenate([drawn_edges(), drawn_edges() + [0.0, 0.0, 5.0]])  # of another body, which is not here
    far = replace(surface, attachments=(replace(far.attachments[0], edges=edges),))
    alone = Simulation(Scene((lower,), (replace(baked, attached_surface=far),), Settings(**WEIGHTLESS)))
    alone.start()
    assert len(potential_at(alone).active[0].links.tet) == 3


@pytest.mark.slow
def test_a_body_swings_on_a_strut_as_a_pendulum_of_two_links(tmp_path: Path) -> None:
    """A small box below a post: the slower motion of a rod of the length l with a body whose centre is a below its end.

    M q̈ + K q = 0 for both angles, with M = m [[l², l a], [l a, a² + I / m]] and K = m g diag(l, a); a swing of the
    size θ takes 1 + θ² / 16 as long.
    """
    side, start = 0.1, 1.0
    box = rigid_box((side, side, side), (0.0, 0.0, -0.5), key="ball", initial_velocity=(start, 0.0, 0.0))
    edge = np.array([[[0.0, 0.0, -0.5 + 0.5 * side], [0.0, 0.0, UPPER.ends]]])
    box = replace(box, attachments=(Attachment("post", "fixed", edges=edge),))
    run = run_of(tmp_path, box, colliders=(post(),), frame_end=60, substeps=4)
    x = []
    for _ in range(58):
        run.advance()
        x.append(float(centres(run)[0, 0]))
    length, a = float(np.ptp(edge[0, :, 2])), 0.5 * side
    M = np.array([[length * length, length * a], [length * a, a * a + side * side / 6.0]])
    omega = np.sqrt(np.linalg.eigvals(np.linalg.solve(M, 9.81 * np.diag([length, a]))).min())
    size = max(np.abs(x)) / (length + a)
    turns = np.flatnonzero(np.diff(np.sign(x)))
    found = [(number + x[number] / (x[number] - x[number + 1])) / 24.0 for number in turns[:2]]
    assert found[1] - found[0] == pytest.approx(np.pi / omega * (1.0 + size**2 / 16.0), rel=0.005)
    (active,) = potential_at(run.simulation).active
    now = active.points(run.state.x, run.built.model.tets) - active.ends(run.state.x, run.built.model.tets)
    np.testing.assert_allclose(np.linalg.norm(now, axis=1), length, rtol=1e-5)


@pytest.mark.slow
def test_pieces_of_a_body_that_breaks_stay_on_their_edges(tmp_path: Path) -> None:
    """A bar on two struts, whose ends fly apart: each piece keeps its strut."""
    nodes, tets = bar((8, 1, 1), (1.6, 0.2, 0.2))
    body = breakable(nodes, tets, Fracture(breaking_stress=500.0), key="bar")
    edges = np.array([[[x, 0.1, 0.2], [x, 0.1, 0.7]] for x in (0.2, 1.4)])
    body = replace(body, attachments=(Attachment("post", "fixed", 0.01, edges=edges),))
    beam = rigid_box((2.0, 0.4, 0.2), (0.8, 0.1, 0.8), key="post")
    held = Collider("post", "Post", "mesh", beam.vertices, beam.triangles)
    run = run_of(tmp_path, body, colliders=(held,), frame_end=60, substeps=2)
    run.advance(12)
    assert run.reports[-1].bodies["bar"]["pieces"] > 1
    potential, x = potential_at(run.simulation), run.state.x
    (active,) = potential.active
    now = np.linalg.norm(active.points(x, potential.tets) - active.ends(x, potential.tets), axis=1)
    np.testing.assert_allclose(now, 0.5, atol=5e-3)


@pytest.mark.parametrize("motion", ["quasistatic", "dynamic"])
def test_flesh_on_edges_follows_a_bone_mesh(tmp_path: Path, motion: str) -> None:
    """A bone holds one end of a limb, and a strut to another one, which holds no flesh, bends the other end up."""
    holding = Bone("core", "Core", *ball([0.0, 0.5, 0.5], 0.3))
    lifting = Bone("post", "Post", BOX_CORNERS * 0.5 + [4.0, 0.5, 2.0], BOX_TRIANGLES)
    edge = np.array([[[3.9, 0.5, 1.0], [3.9, 0.5, 1.75]]])
    row = Attachment("post", "fixed", 0.01, edges=edge)
    body = limb((8, 2, 2), flesh=Flesh(motion=motion), attachments=(row,))
    lifting = replace(lifting, bodies=(NOTHING,))
    matrices = np.stack([np.eye(4), pose(None, (0.0, 0.0, 0.4))])
    scene = Scene((body,), settings=Settings(**WEIGHTLESS, frame_end=20), bones=(holding, lifting))
    run = Run(tmp_path, scene, bone__post__matrix=(np.array([0.0, 0.25]), matrices, "rigid"))
    run.advance(12)
    (active,) = potential_at(run.simulation).active
    x, tets = run.state.x, run.built.model.tets
    now = np.linalg.norm(active.points(x, tets) - active.ends(x, tets), axis=1)
    np.testing.assert_allclose(now, 0.75, atol=0.01)
    assert active.points(x, tets)[0, 2] > 1.3
    problems = [found.problem.kind for found in diagnose(scene, run.tracks)]
    assert not [kind for kind in problems if "edge" in kind or "attachment" in kind]


def test_an_empty_that_is_moved_live_pulls_a_body_along() -> None:
    """Its edges begin where they were drawn, wherever the empty is then."""
    track = "body.lower.attachment.0.matrix"
    edge = np.array([[[0.0, 0.0, LOWER.ends], [0.0, 0.0, UPPER.ends]]])
    body = body_of("rigid", LOWER, attachments=(Attachment(FRAME, "fixed", edges=edge),))
    start = pose(rotation([0.0, 1.0, 0.0], 0.4), (1.0, 0.0, 0.5))
    run = LiveRun(scene_of(body), NoTracks(), {track: start.tolist()})

    def hand(step: int) -> list[Mapping[str, object]]:
        return [
            {"command": "set", "track": track, "value": (pose(None, (0.0, 0.0, 0.004 * (step + 1))) @ start).tolist()}
        ]

    samples = drive(run, 30, hand)
    heights = [float(sample.positions["lower"][:, 2].min()) for sample in samples]
    assert heights[0] == pytest.approx(0.0) and heights[30] == pytest.approx(0.12, abs=0.01)


def test_a_resumed_bake_of_edges_that_broke_has_the_same_bytes(tmp_path: Path) -> None:
    scene = Scene(
        (hung(0.9 * WEIGHT, spring_constant=WEIGHT / 0.02, damping=900.0),), (post(),), Settings(frame_end=12)
    )
    whole = sinew.bake(scene, tmp_path / "whole.sinew")
    first = replace(scene, settings=replace(scene.settings, frame_end=8))
    sinew.bake(first, tmp_path / "parts.sinew")
    parts = sinew.bake(scene, tmp_path / "parts.sinew", resume=True)
    assert not whole.broken_attachments(1, "lower") and whole.broken_attachments(12, "lower") == {0}
    for frame in range(1, 13):
        assert np.array_equal(whole.read_frame(frame).x, parts.read_frame(frame).x)


def moved_end(place: Floats) -> Floats:
    edges = drawn_edges()
    edges[2, 1] = place
    return edges


WRONG_ROWS = {
    "edges-slide": {"kind": "sliding"},
    "edges-to-armature": {"target": "/armature"},
    "edges-not-finite": {"edges": drawn_edges() * np.nan},
    "edge-out-of-reach": {"edges": moved_end(np.array([0.0, 0.0, SIDE + 0.1]))},
    "edge-on-one-body": {"edges": moved_end(np.array([0.1, 0.0, UPPER.ends]))},
}


@pytest.mark.parametrize("kind", WRONG_ROWS)
def test_what_edges_cannot_do_is_named(kind: str) -> None:
    lower, upper = pair_of("soft", "soft")
    wrong = replace(upper, attachments=(replace(upper.attachments[0], **WRONG_ROWS[kind]),))
    with pytest.raises(BadInput) as caught:
        Simulation(scene_of(lower, wrong)).start()
    assert caught.value.kind == kind and '"Upper"' in caught.value.sentence
    if "reach" in kind:
        assert '"Lower"' in caught.value.sentence and "0.1 m away" in caught.value.sentence


def test_a_frame_carries_edges_alone() -> None:
    body = body_of("soft", LOWER, attachments=(Attachment(FRAME, "spring"),))
    with pytest.raises(BadInput) as caught:
        Simulation(scene_of(body)).start()
    assert caught.value.kind == "attachment-target-missing"


def test_a_scene_stores_edges_and_the_digest_knows_them(tmp_path: Path) -> None:
    lower, upper = pair_of("soft", "rigid")
    scene = scene_of(lower, upper)
    scene.save(tmp_path / "scene")
    loaded = Scene.load(tmp_path / "scene")
    np.testing.assert_array_equal(loaded.bodies[1].attachments[0].edges, drawn_edges())
    assert loaded.digest() == scene.digest()
    plain = replace(upper, attachments=(replace(upper.attachments[0], edges=np.zeros((0, 2, 3))),))
    assert scene_of(lower, plain).digest() != scene.digest()
