# SPDX-License-Identifier: GPL-3.0-or-later
"""Where nodes that follow a bone are, what springs pull, and what an animation must not do."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from fixtures.bone_scenes import ball, held_by, limb, rod, targets
from fixtures.scenes import JELLY, Run, block, pose, rotation
from sinew.solver.constraints.force import ForceStep
from sinew.solver.linalg.harmonic_extension import make_harmonic_extension, surrounded_nodes
from sinew.solver.runtime.errors import SolveFailed
from sinew.solver.scene.flesh import Bone, Flesh
from sinew.solver.scene.scene import Fracture, Scene, Settings
from sinew.solver.simulation.fracture_topology import split_scene

TURN = pose(rotation([1.0, 2.0, 0.5], 1.3), [0.3, -2.0, 1.0])
STRETCH = pose(rotation([1.0, 2.0, 0.5], 0.7) @ np.diag([1.2, 0.6, 0.9]), [0.3, -2.0, 1.0])


def bone(shape, **settings):
    settings.setdefault("key", "bone")
    return Bone(name="Bone", vertices=shape[0], triangles=shape[1], **settings)


def moved(matrix, points):
    return points @ matrix[:3, :3].T + matrix[:3, 3]


def over_time(*values):
    return np.arange(len(values), dtype=float), np.stack(values)


QUAD = np.array([[0, 1, 2], [0, 2, 3]])
SHAPES = {
    "ball with an inside": (ball([2.0, 0.5, 0.5], 0.45, 12), 0.1),
    "rod thinner than tets": (rod(0.5, 3.5, 0.05), 0.3),
    "sheet": ((np.array([[0.4, 0, 0.5], [3.6, 0, 0.5], [3.6, 1, 0.5], [0.4, 1, 0.5]]), QUAD), 0.3),
    "one triangle": ((np.array([[1, 0.2, 0.5], [3, 0.2, 0.5], [2, 0.9, 0.6]]), QUAD[:1]), 0.4),
}


@pytest.mark.parametrize("where", ["near", "far"])
@pytest.mark.parametrize("name", SHAPES)
def test_a_bone_that_moves_rigidly_is_followed_to_round_off_also_by_its_vertices(tmp_path, name, where):
    (vertices, triangles), distance = SHAPES[name]
    shape, body = (vertices, triangles.astype(np.int32)), limb((24, 6, 6))
    away = np.array([0.0, 0.0, 0.0] if where == "near" else [1000.0, -500.0, 200.0])
    shape, body = (
        (shape[0] + away, shape[1]),
        replace(body, vertices=body.vertices + away, tet_nodes=body.tet_nodes + away),
    )
    matrix = TURN @ pose(None, -away)
    tracks = {"bone__bone__vertices": over_time(shape[0], moved(matrix, shape[0]))}
    found, built, read = held_by(tmp_path / "v", body, bone(shape, distance=distance), **tracks)
    fixed, there = targets(found, built, read, 1.0)
    wanted = moved(matrix, built.model.X)
    assert fixed.sum() > 10 and np.abs(there - wanted)[fixed].max() < 1e-9 * 3.0
    tracks = {"bone__bone__matrix": (*over_time(np.eye(4), matrix), "rigid")}
    found, built, read = held_by(tmp_path / "m", body, bone(shape, distance=distance), **tracks)
    fixed_too, there = targets(found, built, read, 1.0)
    assert np.array_equal(fixed, fixed_too) and np.abs(there - wanted)[fixed].max() < 1e-9 * 3.0


def test_an_affine_motion_of_a_solid_bone_is_followed_to_round_off(tmp_path):
    shape = ball([2.0, 0.5, 0.5], 0.45, 12)
    tracks = {"bone__bone__vertices": over_time(shape[0], moved(STRETCH, shape[0]))}
    found, built, read = held_by(tmp_path, limb((24, 6, 6)), bone(shape), **tracks)
    fixed, there = targets(found, built, read, 1.0)
    assert fixed.sum() > 10 and np.abs(there - moved(STRETCH, built.model.X))[fixed].max() < 1e-9


def test_between_samples_of_a_matrix_a_bone_turns_evenly(tmp_path):
    quarter = pose(rotation([0, 0, 1], np.pi / 2))
    tracks = {"bone__bone__matrix": (*over_time(np.eye(4), quarter), "rigid")}
    found, built, read = held_by(tmp_path, limb(), bone(rod(0.5, 3.5)), **tracks)
    fixed, there = targets(found, built, read, 0.5)
    wanted = moved(pose(rotation([0, 0, 1], np.pi / 4)), built.model.X)
    assert np.abs(there - wanted)[fixed].max() < 1e-12


def test_a_bone_without_a_track_stands_still(tmp_path):
    found, built, read = held_by(tmp_path, limb(), bone(rod(0.5, 3.5)))
    fixed, there = targets(found, built, read, 3.0)
    assert fixed.any() and np.array_equal(there[fixed], built.model.X[fixed])


def bent(points, radius=2.5):
    """An arc of that radius; sections stay upright on it."""
    angle, height = (points[:, 0] - 2.0) / radius, points[:, 2] - 0.5
    along, up = (radius - height) * np.sin(angle), radius - (radius - height) * np.cos(angle)
    return np.stack([2.0 + along, points[:, 1], 0.5 + up], axis=1)


@pytest.mark.parametrize(("radius", "sides"), [(0.05, 12), (0.05, 60), (0.4, 12), (0.4, 60)])
def test_a_bent_rod_bends_the_flesh_along(tmp_path, radius, sides):
    """The bend of a rod says where flesh near it goes, also where it is much thinner than the tets."""
    shape = rod(0.2, 3.8, radius, sides, rings=60)
    tracks = {"bone__bone__vertices": over_time(shape[0], bent(shape[0]))}
    found, built, read = held_by(tmp_path, limb((32, 8, 8)), bone(shape, distance=0.2), **tracks)
    fixed, there = targets(found, built, read, 1.0)
    off = np.linalg.norm(there - bent(built.model.X), axis=1)[fixed]
    assert np.linalg.norm(there - built.model.X, axis=1)[fixed].max() > 0.6
    assert off.max() < 0.04 and off.mean() < 0.01, (off.max(), off.mean())
    assert found.inverted_tets(read, 1.0) == []


def skeleton(*shapes):
    """Returns several closed meshes as one."""
    starts = np.cumsum([0, *(len(vertices) for vertices, _ in shapes)])
    triangles = [faces + start for (_, faces), start in zip(shapes, starts[:-1], strict=True)]
    return np.concatenate([vertices for vertices, _ in shapes]), np.concatenate(triangles).astype(np.int32)


def test_the_bones_of_a_skeleton_in_one_mesh_move_each_in_its_own_way(tmp_path):
    """As an armature deforms it: each is followed to round-off, and no tet is held by two."""
    vertices, triangles = skeleton(rod(0.2, 1.95), rod(2.05, 3.8))
    joint = [2.0, 0.5, 0.5]
    matrix = pose(None, joint) @ pose(rotation([0, 1, 0], -1.2)) @ pose(None, np.negative(joint))
    bent_vertices = np.where(vertices[:, :1] > 2.0, moved(matrix, vertices), vertices)
    body = limb((24, 8, 8))
    found, built, read = held_by(
        tmp_path, body, bone((vertices, triangles)), bone__bone__vertices=over_time(vertices, bent_vertices)
    )
    fixed, there = targets(found, built, read, 1.0)
    X, tets = built.model.X, built.model.tets
    wanted = np.where(X[:, :1] > 2.0, moved(matrix, X), X)
    assert fixed.sum() > 50 and np.abs(there - wanted)[fixed].max() < 1e-9
    assert len(found.constraints) == 2 and set(found.bone_of_nodes(len(X)).tolist()) == {-1, 0}
    left = (fixed & (X[:, 0] < 2.0))[tets].any(axis=1)
    assert not (left & (fixed & (X[:, 0] > 2.0))[tets].any(axis=1)).any()
    assert found.inverted_tets(read, 1.0) == [] and found.warnings[0] == ()


def test_what_lies_in_a_bone_is_part_of_it(tmp_path):
    """A skull stays hollow."""
    outer, inner = ball([2.0, 0.5, 0.5], 0.49, 12), ball([2.0, 0.5, 0.5], 0.25, 12)
    shape = skeleton(outer, (inner[0], inner[1][:, ::-1]))
    found, built, _ = held_by(tmp_path, limb((24, 8, 8)), bone(shape), bone__bone__vertices=over_time(shape[0]))
    (hold,) = found.constraints
    away = np.linalg.norm(built.model.X[hold.nodes] - [2.0, 0.5, 0.5], axis=1)
    assert len(away) > 20 and away.min() > 0.24


def test_a_bone_that_moves_rigidly_stays_whole(tmp_path):
    shape = skeleton(rod(0.2, 1.95), rod(2.05, 3.8))
    found, _, _ = held_by(tmp_path, limb(), bone(shape), bone__bone__matrix=(*over_time(np.eye(4)), "rigid"))
    assert len(found.constraints) == 1


def test_vertices_without_faces_say_nothing_of_a_bone(tmp_path):
    vertices, triangles = rod(0.5, 3.5)
    stray = np.vstack([vertices, [[50.0, 0.0, 0.0], [0.0, 80.0, 0.0]]])
    tracks = over_time(stray, np.vstack([moved(TURN, vertices), stray[-2:] * 3.0]))
    found, built, read = held_by(tmp_path, limb(), bone((stray, triangles)), bone__bone__vertices=tracks)
    fixed, there = targets(found, built, read, 1.0)
    assert np.abs(there - moved(TURN, built.model.X))[fixed].max() < 1e-9


def test_inner_nodes_lie_as_a_harmonic_function_does():
    """Against the dense solve of the same least squares."""
    from fixtures.tet_meshes import bar

    nodes, tets = bar((4, 4, 4), (1.0, 1.0, 1.0))
    inner = (np.abs(nodes - 0.5) < 0.4).all(axis=1)
    rng = np.random.default_rng(1)
    d = rng.standard_normal(nodes.shape) * 0.1
    edges = np.swapaxes(nodes[tets][:, 1:] - nodes[tets][:, :1], 1, 2)
    g = np.concatenate([-np.linalg.inv(edges).sum(axis=1, keepdims=True), np.linalg.inv(edges)], axis=1)
    K = np.zeros((len(nodes), len(nodes)))
    for tet, own, size in zip(tets, g, np.linalg.det(edges) / 6.0, strict=True):
        K[np.ix_(tet, tet)] += size * own @ own.T
    wanted = d.copy()
    wanted[inner] = np.linalg.solve(K[np.ix_(inner, inner)], -K[np.ix_(inner, ~inner)] @ d[~inner])
    make_harmonic_extension(nodes, tets, inner).extend(d)
    assert np.abs(d - wanted).max() < 1e-4
    assert make_harmonic_extension(nodes, tets, np.zeros(len(nodes), bool)) is None


def test_nodes_are_surrounded_where_all_their_tets_are_held():
    tets = np.array([[0, 1, 2, 3], [1, 2, 3, 4]], np.int32)
    assert surrounded_nodes(tets, tets[:1], 5).tolist() == [True, False, False, False, False]


def test_a_deforming_bone_may_turn_a_few_tets_and_not_most_of_them(tmp_path):
    shape = ball([2.0, 0.5, 0.5], 0.45, 12)
    dented, turned = shape[0].copy(), shape[0].copy()
    top = shape[0][:, 2] > 0.85
    dented[top, 2] -= 0.5
    turned[:, 0] = 4.0 - turned[:, 0]
    tracks = {"bone__bone__vertices": over_time(shape[0], dented, turned)}
    found, built, read = held_by(tmp_path, limb((24, 8, 8)), bone(shape), **tracks)
    assert found.inverted_tets(read, 0.0) == []
    targets(found, built, read, 1.0)
    ((body, name, count),) = found.inverted_tets(read, 1.0)
    assert (body, name) == (0, "Bone") and count > 0
    with pytest.raises(SolveFailed) as told:
        targets(found, built, read, 2.0)
    assert told.value.kind == "bone-crushes" and "Bone" in told.value.sentence and "Limb" in told.value.sentence


def test_two_bones_that_run_into_each_other_are_told_by_name(tmp_path):
    two = (bone(rod(0.3, 1.7), key="left"), bone(rod(2.3, 3.7), key="right"))
    track = (*over_time(np.eye(4), pose(None, [-1.1, 0.0, 0.0])), "rigid")
    body = limb((16, 4, 4), flesh=Flesh(self_contact=False))
    names = [replace(one, name=one.key.capitalize()) for one in two]
    settings = Settings(frame_end=25, gravity=(0.0, 0.0, 0.0))
    run = Run(tmp_path, Scene((body,), settings=settings, bones=tuple(names)), bone__right__matrix=track)
    assert run.built.bones.inverted_between(run.built.model, run.state.x, run.tracks, run.state.time) == []
    run.advance(24)
    told = run.built.bones.inverted_between(run.built.model, run.state.x, run.tracks, run.state.time)
    ((number, one, other, count),) = told
    assert (number, one, other) == (0, "Left", "Right") and 4 <= count <= run.reports[-1].inverted_tets


@pytest.mark.parametrize("bend", [0.0, 20.0])
def test_bones_that_move_as_one_crush_nothing_between_them(tmp_path, bend):
    """Whatever else turns the flesh between them inside out: two rigid children of one bone cannot."""
    two = [replace(bone(rod(a, b), key=key), name=key) for key, a, b in (("One", 0.3, 1.7), ("Two", 2.3, 3.7))]
    found, built, read = held_by(tmp_path, limb(), *two)
    model = built.model
    turn, own = rotation([1.0, 2.0, 3.0], 0.8), rotation([0.0, 1.0, 0.0], np.radians(bend))
    x, held = model.X.copy(), found.bone_of_nodes(model.node_count)
    x[held == 1] = (x[held == 1] - [2.0, 0.5, 0.5]) @ own.T + [2.0, 0.5, 0.5]
    x = x @ turn.T + [0.3, 0.1, 5.0]
    between = (held < 0) & (np.abs(model.X[:, 0] - 2.0) < 0.6)
    x[between] = np.random.default_rng(3).permutation(x[between])
    told = found.inverted_between(model, x, read, 0.0)
    assert [names for _, *names, _ in told] == ([["One", "Two"]] if bend else [])


@pytest.mark.parametrize("scale", [[-1.0, 1.0, 1.0], [0.0, 0.0, 0.0], [1.0, 1.0, 0.0]])
def test_a_mirrored_or_flat_bone_is_told(tmp_path, scale):
    tracks = {"bone__bone__matrix": (*over_time(np.eye(4), pose(np.diag(scale))), "step")}
    found, built, read = held_by(tmp_path, limb(), bone(rod(0.5, 3.5)), **tracks)
    targets(found, built, read, 0.5)
    with pytest.raises(SolveFailed) as told:
        targets(found, built, read, 1.0)
    assert told.value.kind == "bone-mirrored" and "Bone" in told.value.sentence and told.value.details["time"] == 1.0


@pytest.mark.parametrize("kind", ["matrix", "vertices"])
@pytest.mark.parametrize("stiffness", [None, 50.0])
def test_an_animation_that_is_not_a_number_is_told(tmp_path, kind, stiffness):
    shape = rod(0.5, 3.5)
    rest = np.eye(4) if kind == "matrix" else shape[0]
    broken = rest.copy()
    broken[1, 1] = np.nan
    tracks = {f"bone__bone__{kind}": (*over_time(rest, broken), "step")}
    found, built, read = held_by(tmp_path, limb(), bone(shape, stiffness=stiffness), **tracks)
    with pytest.raises(SolveFailed) as told:
        targets(found, built, read, 1.0)
        found.springs(read, built.model, 1.0)
    assert told.value.kind == "bone-not-finite" and "Bone" in told.value.sentence and told.value.details["time"] == 1.0


def test_other_vertices_than_at_rest_are_told(tmp_path):
    shape = rod(0.5, 3.5)
    tracks = {"bone__bone__vertices": (np.zeros(1), shape[0][None, 1:])}
    found, built, read = held_by(tmp_path, limb(), bone(shape), **tracks)
    with pytest.raises(SolveFailed) as told:
        targets(found, built, read, 0.0)
    assert told.value.kind == "bone-vertices"


def test_a_deforming_bone_on_a_line_is_refused(tmp_path):
    vertices = np.array([[1.0, 0.5, 0.5], [2.0, 0.5, 0.5], [3.0, 0.5, 0.5]])
    flat = (vertices, np.array([[0, 1, 2]], np.int32))
    with pytest.raises(Exception, match="Bone") as told:
        held_by(tmp_path, limb(), bone(flat, distance=0.3), bone__bone__vertices=over_time(vertices))
    assert told.value.kind == "bone-on-a-line"


# --- springs ---


def test_springs_pull_each_by_its_own_stiffness_and_mass(tmp_path):
    left, right = bone(rod(0.3, 1.7), key="left", stiffness=40.0), bone(rod(2.3, 3.7), key="right", stiffness=7.0)
    tracks = {"bone__right__matrix": (np.zeros(1), pose(None, [0.0, 0.0, 0.2])[None], "rigid")}
    found, built, read = held_by(tmp_path, limb(), left, right, **tracks)
    fixed, _ = targets(found, built, read, 0.0)
    assert not fixed.any() and not len(found.fixed_nodes)
    state, model = built.initial.copy(), built.model
    points = found.point_forces(ForceStep(model, state, read, 0.0, 0.0))
    springs = found.springs(read, model, 0.0)
    assert np.array_equal(points.positions(state.x, model.tets), state.x[springs.nodes])
    number = found.bone_of_nodes(model.node_count)[springs.nodes]
    k = np.where(number == 0, 40.0, 7.0) * model.mass[springs.nodes]
    assert points.stiffness == pytest.approx(k[:, None, None] * np.eye(3))
    assert points.force == pytest.approx(k[:, None] * np.where((number == 1)[:, None], [0.0, 0.0, 0.2], 0.0))


@pytest.mark.parametrize("flesh", [None, Flesh(), Flesh(motion="dynamic")], ids=["plain", "pose", "jiggle"])
def test_a_body_is_carried_by_its_bone(tmp_path, flesh):
    """An exact bone carries it to the last digit, a soft one on springs, whatever the body is."""
    body = replace(limb((8, 3, 3), (4.0, 1.0, 1.0)), flesh=flesh, material=replace(JELLY, youngs_modulus=1e6))
    settings = Settings(frame_end=40, gravity=(0.0, 0.0, 0.0))
    matrix = pose(rotation([1, 0, 0], 0.5), [0.0, 0.3, 0.4])
    tracks = {"bone__bone__matrix": (np.array([0.0, 0.25]), np.stack([np.eye(4), matrix]), "rigid")}
    for name, stiffness in (("exact", None), ("soft", 3000.0)):
        held = bone(rod(0.3, 3.7), bodies=("limb",), distance=0.1, stiffness=stiffness)
        run = Run(tmp_path / name, Scene((body,), settings=settings, bones=(held,)), **tracks)
        run.advance(39)
        nodes = run.built.bones.constraints[0].nodes
        off = np.abs(run.state.x[nodes] - moved(matrix, run.built.model.X[nodes])).max()
        assert off < (1e-12 if stiffness is None else 0.02), off
        assert np.abs(run.state.x - moved(matrix, run.built.model.X)).max() < 0.05


def test_pins_win_where_both_hold_a_node(tmp_path):
    body = limb((8, 3, 3), (4.0, 1.0, 1.0))
    end = np.flatnonzero(body.vertices[:, 0] < 0.1).astype(np.int32)
    body = replace(body, pinned=end, pin_weights=np.ones(len(end)))
    lifted = (np.array([0.0, 0.2]), np.stack([np.eye(4), pose(None, [0.0, 0.0, 0.3])]), "rigid")
    held = bone(rod(-0.1, 3.7, 0.45))
    run = Run(
        tmp_path, Scene((body,), settings=Settings(gravity=(0.0, 0.0, 0.0)), bones=(held,)), bone__bone__matrix=lifted
    )
    run.advance(10)
    pinned = np.concatenate([region.nodes for region in run.built.pins[0].regions])
    both = np.intersect1d(pinned, run.built.bones.constraints[0].nodes)
    assert len(both) and np.abs(run.state.x[both] - run.built.model.X[both]).max() < 1e-12
    only = np.setdiff1d(run.built.bones.constraints[0].nodes, pinned)
    assert np.abs(run.state.x[only] - run.built.model.X[only] - [0.0, 0.0, 0.3]).max() < 1e-12


def test_where_another_body_breaks_bones_keep_their_nodes(tmp_path):
    """And where a held body itself does, they hold all copies of a node."""
    first, second = block((3, 3, 3), key="first", fracture=Fracture()), limb((8, 3, 3), at=(0.0, 3.0, 0.0))
    shape = rod(0.3, 3.7, 0.4)
    holder = bone((shape[0] + [0, 3.0, 0], shape[1]), distance=0.1)
    middle = bone(ball([0.5, 0.5, 0.5], 0.4), key="inner", bodies=("first",))
    whole = Run(tmp_path, Scene((first, second), bones=(holder, middle))).built
    after = split_scene(whole, whole.fracture.neighbours.tet >= 0).built
    more = after.model.bodies[0].nodes.stop - whole.model.bodies[0].nodes.stop
    (inner, outer), (inner_before, outer_before) = after.bones.constraints, whole.bones.constraints
    assert more > 0 and np.array_equal(outer.nodes, outer_before.nodes + more)
    origin = np.empty(after.model.node_count, int)
    origin[after.model.tets.ravel()] = whole.model.tets.ravel()
    assert np.array_equal(inner.nodes, np.flatnonzero(np.isin(origin, inner_before.nodes)))
    assert len(inner.nodes) > len(inner_before.nodes)
    assert np.array_equal(inner_before.nodes[inner.rows], origin[inner.nodes])


def test_building_gives_warnings_of_bones_to_their_body(tmp_path):
    body = limb()
    bones = (bone(rod(0.5, 3.0), key="a"), bone(rod(1.0, 3.5), key="b"))
    run = Run(tmp_path, Scene((block((2, 2, 2), at=(9.0, 0, 0), key="other"), body), bones=bones))
    assert "bones-want-the-same" in {told.kind for told in run.built.bodies[1].warnings}
    assert not {told.kind for told in run.built.bodies[0].warnings} & {"bones-want-the-same"}
