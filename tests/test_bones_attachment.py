# SPDX-License-Identifier: GPL-3.0-or-later
"""Which nodes follow which bone: inside and near, masks and paint, weights, joints; and what is refused by name."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from fixtures.bone_scenes import ball, held_by, limb, line, rod
from fixtures.scenes import block
from sinew.solver.constraints.bones import check_bones
from sinew.solver.runtime.errors import BadInput
from sinew.solver.scene.flesh import Bone, Flesh
from sinew.solver.scene.scene import Scene


def bone(key, shape, **settings):
    return Bone(key, key.capitalize(), *shape, **settings)


def attached(tmp_path, bodies, *bones, **tracks):
    found, built, _ = held_by(tmp_path, bodies, *bones, **tracks)
    return found, found.bone_of_nodes(built.model.node_count), built.model.X


def test_nodes_inside_a_closed_mesh_follow_it(tmp_path):
    _, number, X = attached(tmp_path, limb(), bone("ball", ball([2.1, 0.5, 0.5], 0.4)))
    inside = np.linalg.norm(X - [2.1, 0.5, 0.5], axis=1) < 0.38
    outside = np.linalg.norm(X - [2.1, 0.5, 0.5], axis=1) > 0.4
    assert inside.sum() > 5 and (number[inside] == 0).all() and (number[outside] == -1).all()


def test_nodes_within_the_distance_follow_too(tmp_path):
    _, number, X = attached(tmp_path, limb(), bone("ball", ball([2.1, 0.5, 0.5], 0.4, 16), distance=0.2))
    away = np.linalg.norm(X - [2.1, 0.5, 0.5], axis=1)
    assert (number[away < 0.595] == 0).all() and (number[away > 0.6] == -1).all()


def test_an_open_mesh_has_no_inside(tmp_path):
    vertices, triangles = ball([2.1, 0.5, 0.5], 0.4)
    half = triangles[(vertices[triangles].mean(axis=1) - [2.1, 0.5, 0.5])[:, 2] > 0.0]
    _, number, X = attached(tmp_path, limb(), bone("cap", (vertices, half), distance=0.1))
    below = X[number == 0][:, 2] < 0.39
    assert (number == 0).any() and not below.any()


def test_a_mask_lets_go_of_what_is_nearest_to_it(tmp_path):
    vertices, triangles = rod(0.5, 3.5)
    mask = (vertices[:, 0] < 2.0).astype(float)
    _, number, X = attached(tmp_path, limb(), bone("rod", (vertices, triangles), mask=mask))
    held = X[number == 0]
    assert len(held) > 5 and held[:, 0].max() < 2.2
    assert (number[(np.abs(X - [1.0, 0.5, 0.5]) < 0.01).all(axis=1)] == 0).all()


def test_paint_on_the_flesh_says_where_bones_hold_it(tmp_path):
    body = limb()
    body = replace(body, flesh=Flesh(attachment_paint=(body.vertices[:, 0] > 2.0).astype(float)))
    _, number, X = attached(tmp_path, body, bone("rod", rod(0.3, 3.7)))
    held = X[number == 0]
    assert len(held) > 5 and held[:, 0].min() > 1.9


def test_an_armature_bone_holds_around_its_line_by_the_largest_weight(tmp_path):
    body = limb()
    along = body.vertices[:, 0] / 4.0
    bones = (
        line([0.5, 0.5, 0.5], [2.0, 0.5, 0.5], key="upper", distance=0.3, bodies=("limb",), weights=1.0 - along),
        line([2.0, 0.5, 0.5], [3.5, 0.5, 0.5], key="lower", distance=0.3, bodies=("limb",), weights=along),
    )
    _, number, X = attached(tmp_path, body, *bones)
    for k, low, high in ((0, 0.2, 2.0), (1, 2.0, 3.8)):
        own = X[number == k]
        ends = bones[k].vertices
        way = own - np.column_stack([np.clip(own[:, 0], ends[0, 0], ends[1, 0]), np.full((len(own), 2), 0.5)])
        assert len(own) > 3 and np.linalg.norm(way, axis=1).max() <= 0.3 + 1e-12
        assert own[:, 0].min() >= low and own[:, 0].max() <= high


def test_where_the_leading_armature_bone_does_not_reach_no_other_does(tmp_path):
    body = limb()
    led = np.ones(len(body.vertices))
    bones = (
        line([0.5, 0.5, 0.5], [1.0, 0.5, 0.5], key="leads", distance=0.3, bodies=("limb",), weights=led),
        line([0.5, 0.5, 0.5], [3.5, 0.5, 0.5], key="follows", distance=0.3, bodies=("limb",), weights=0.4 * led),
    )
    _, number, _ = attached(tmp_path, body, *bones)
    assert (number == 0).any() and not (number == 1).any()


def test_towards_a_joint_an_armature_bone_holds_less_around_its_line(tmp_path):
    """On a cone, so that the joint can bend by 130°; the other ends hold all that they reach, and so do soft bones."""
    body = limb((32, 8, 8))
    weight = np.clip(body.vertices[:, 0] - 1.5, 0.0, 1.0)
    bones = [
        line([0.3, 0.5, 0.5], [2.0, 0.5, 0.5], key="upper", distance=0.4, bodies=("limb",), weights=1.0 - weight),
        line([2.0, 0.5, 0.5], [3.7, 0.5, 0.5], key="lower", distance=0.4, bodies=("limb",), weights=weight),
    ]
    _, number, X = attached(tmp_path / "exact", body, *bones)
    across, along = np.linalg.norm(X[:, 1:] - 0.5, axis=1), np.abs(X[:, 0] - 2.0)
    held, slope = number >= 0, np.tan(np.radians(25.0))
    assert (across[held] <= slope * along[held] + 1e-9).all()
    inside = (across < 0.39) & (across < slope * along - 1e-9) & (along < 1.7) & (along > 0.2)
    assert held[inside].all()
    capped = (np.linalg.norm(X - [0.3, 0.5, 0.5], axis=1) < 0.39) & (X[:, 0] < 0.3)
    assert capped.sum() > 3 and held[capped].all()
    soft = [replace(one, stiffness=10.0) for one in bones]
    _, number, X = attached(tmp_path / "soft", body, *soft)
    assert (number[(across < 0.39) & (along < 0.3)] >= 0).all()


def test_of_two_mesh_bones_a_node_follows_that_in_which_it_lies_deepest(tmp_path):
    soft = {"stiffness": 100.0}  # springs keep no gap
    two = (bone("left", rod(0.3, 2.3), **soft), bone("right", rod(1.7, 3.7), **soft))
    _, number, X = attached(tmp_path, limb((16, 6, 6)), *two)
    middle = np.abs(X[:, 1:] - 0.5).max(axis=1) < 0.01
    assert (number[middle & (X[:, 0] > 0.4) & (X[:, 0] < 1.9)] == 0).all()
    assert (number[middle & (X[:, 0] > 2.1) & (X[:, 0] < 3.6)] == 1).all()


@pytest.mark.parametrize("gap", [-0.4, 0.0, 0.3])
def test_no_tet_is_held_by_two_exact_bones(tmp_path, gap):
    two = (bone("left", rod(0.3, 2.0 - gap / 2), distance=0.15), bone("right", rod(2.0 + gap / 2, 3.7), distance=0.15))
    found, built, _ = held_by(tmp_path, limb(), *two)
    number = found.bone_of_nodes(built.model.node_count)[built.model.tets]
    assert not ((number == 0).any(axis=1) & (number == 1).any(axis=1)).any()
    assert (number == 0).all(axis=1).any() and (number == 1).all(axis=1).any()


def test_a_gap_takes_no_more_than_one_layer_of_nodes(tmp_path):
    two = (bone("left", rod(0.3, 2.1)), bone("right", rod(1.9, 3.7)))
    found, built, _ = held_by(tmp_path, limb(), *two)
    number, X = found.bone_of_nodes(built.model.node_count), built.model.X
    free = X[(number < 0) & (np.linalg.norm(X[:, 1:] - 0.5, axis=1) < 0.29) & (X[:, 0] > 0.31) & (X[:, 0] < 3.69)]
    assert 0 < len(free) and np.ptp(free[:, 0]) < 0.51


def test_bones_hold_the_bodies_that_they_name_and_else_all_flesh(tmp_path):
    plain, flesh = block((4, 4, 4), key="plain"), block((4, 4, 4), at=(5.0, 0.0, 0.0), key="flesh", flesh=Flesh())
    both = ball([0.5, 0.5, 0.5], 0.3)
    found, built, _ = held_by(
        tmp_path, (plain, flesh), bone("named", both, bodies=("plain",)), bone("all", (both[0] + [5.0, 0, 0], both[1]))
    )
    number, ranges = found.bone_of_nodes(built.model.node_count), built.model.bodies
    assert set(number[ranges[0].nodes]) == {-1, 0} and set(number[ranges[1].nodes]) == {-1, 1}
    assert [(hold.body, hold.number) for hold in found.constraints] == [(0, 0), (1, 1)]


def test_without_flesh_there_is_nothing_to_hold(tmp_path):
    found, _, _ = held_by(tmp_path, block((4, 4, 4)), bone("ball", ball([0.5, 0.5, 0.5], 0.3)))
    assert found is None


def test_what_the_preview_reads(tmp_path):
    found, built, _ = held_by(
        tmp_path, limb(), bone("left", rod(0.3, 1.7)), bone("right", rod(2.3, 3.7), stiffness=10.0)
    )
    arrays = found.to_arrays(built.model.bodies[0].nodes)
    assert arrays["bones"].tolist() == ["Left", "Right"] and arrays["bone_is_soft"].tolist() == [False, True]
    assert np.array_equal(arrays["attached"], found.bone_of_nodes(built.model.node_count))


# --- what is refused or told, by name ---


def refused(tmp_path, bodies, *bones):
    with pytest.raises(BadInput) as told:
        held_by(tmp_path, bodies, *bones)
    return told.value


def test_a_bone_outside_the_flesh_says_how_far_it_is(tmp_path):
    told = refused(tmp_path, limb(), bone("skull", ball([2.0, 0.5, 2.0], 0.4, 16), distance=0.1))
    assert told.kind == "bone-outside" and "Skull" in told.sentence and "Limb" in told.sentence
    assert float(told.details["away"]) == pytest.approx(0.6, abs=0.01) and told.details["wanted"] in told.next_step
    found, _, _ = held_by(
        tmp_path, limb(), bone("skull", ball([2.0, 0.5, 2.0], 0.4, 16), distance=float(told.details["wanted"]))
    )
    assert len(found.constraints[0].nodes)


def test_a_bone_smaller_than_the_tets_is_told_as_one_outside(tmp_path):
    told = refused(tmp_path, limb(), bone("pin", ball([2.1, 0.6, 0.6], 0.05)))
    assert told.kind == "bone-outside" and float(told.details["away"]) < 0.25


def test_a_mask_that_leaves_nothing_is_told(tmp_path):
    shape = ball([2.0, 0.5, 0.5], 0.4)
    told = refused(tmp_path, limb(), bone("skull", shape, mask=np.zeros(len(shape[0]))))
    assert told.kind == "bone-masked" and "Skull" in told.sentence and "Limb" in told.sentence


def test_armature_bones_none_of_which_holds_anything_are_told_by_body(tmp_path):
    body = limb()
    told = refused(
        tmp_path,
        body,
        line([0, 3, 3], [1, 3, 3], distance=0.1, bodies=("limb",), weights=np.ones(len(body.vertices))),
    )
    assert told.kind == "armature-outside" and "Limb" in told.sentence


def test_one_armature_bone_may_hold_nothing(tmp_path):
    body = limb()
    ones = np.ones(len(body.vertices))
    bones = (
        line([1, 0.5, 0.5], [3, 0.5, 0.5], key="in", distance=0.3, bodies=("limb",), weights=ones),
        line([0, 3, 3], [1, 3, 3], key="out", distance=0.1, bodies=("limb",), weights=0.5 * ones),
    )
    found, _, _ = held_by(tmp_path, body, *bones)
    assert [hold.number for hold in found.constraints] == [0]


def test_bones_that_hold_everything_are_refused(tmp_path):
    told = refused(tmp_path, limb(), bone("all", ball([2.0, 0.5, 0.5], 3.0)))
    assert told.kind == "bones-everything" and "Limb" in told.sentence


def test_bones_and_pins_that_hold_everything_together_are_refused(tmp_path):
    body = limb((16, 2, 2))
    left = np.flatnonzero(body.vertices[:, 0] < 2.3).astype(np.int32)
    told = refused(
        tmp_path,
        replace(body, pinned=left, pin_weights=np.ones(len(left))),
        bone("right", ball([4.0, 0.5, 0.5], 2.5, 16)),
    )
    assert told.kind == "bones-everything"


def test_a_spring_may_pull_at_everything(tmp_path):
    found, built, _ = held_by(tmp_path, limb(), bone("all", ball([2.0, 0.5, 0.5], 3.0), stiffness=10.0))
    assert len(found.constraints[0].nodes) == built.model.node_count


def test_bones_that_want_the_same_flesh_are_told(tmp_path):
    found, _, _ = held_by(tmp_path, limb(), bone("one", rod(0.5, 3.0)), bone("two", rod(1.0, 3.5)))
    (told,) = found.warnings[0]
    assert told.kind == "bones-want-the-same"
    assert all(name in told.sentence for name in ("Limb", "One", "Two")) and str(told.details["count"]) in told.sentence


def test_bones_that_meet_in_a_joint_are_no_conflict(tmp_path):
    found, _, _ = held_by(
        tmp_path, limb(), bone("one", rod(0.3, 2.1), distance=0.1), bone("two", rod(1.9, 3.7), distance=0.1)
    )
    assert found.warnings[0] == ()


def test_a_bone_that_others_crowd_out_is_told(tmp_path):
    found, _, _ = held_by(tmp_path, limb(), bone("rod", rod(0.3, 3.7)), bone("bead", ball([2.0, 0.5, 0.5], 0.1)))
    kinds = {told.kind: told for told in found.warnings[0]}
    assert "Bead" in kinds["bone-crowded-out"].sentence


def test_all_bones_that_others_crowd_out_are_told_in_one_note(tmp_path):
    beads = [bone(key, ball([x, 0.5, 0.5], 0.1)) for key, x in (("one", 1.25), ("two", 2.5))]
    found, _, _ = held_by(tmp_path, limb(), bone("rod", rod(0.3, 3.7)), *beads)
    told = [note for note in found.warnings[0] if note.kind == "bone-crowded-out"]
    assert len(told) == 1 and '"One", "Two"' in told[0].sentence


def test_bones_that_hold_too_few_points_are_told_in_one_note(tmp_path):
    """With the distance that the note says, they hold enough."""
    beads = [bone(key, ball([x, 0.5, 0.5], 0.2)) for key, x in (("one", 0.6), ("two", 2.1), ("three", 3.4))]
    found, _, _ = held_by(tmp_path / "few", limb(), *beads)
    (told,) = found.warnings[0]
    assert told.kind == "bones-hold-few" and told.details["setting"] == "Distance"
    held = found.bone_of_nodes(10000)
    for number, name in enumerate(("One", "Two", "Three")):
        assert f'"{name}" has {np.count_nonzero(held == number)}' in told.sentence
    wider = [replace(one, distance=float(told.details["distance"])) for one in beads]
    assert held_by(tmp_path / "wider", limb(), *wider)[0].warnings[0] == ()
    assert held_by(tmp_path / "finer", limb((48, 12, 12)), *beads)[0].warnings[0] == ()


def test_armature_bones_that_hold_too_few_points_are_told_with_a_radius(tmp_path):
    body = limb()
    left = (body.vertices[:, 0] < 2.0).astype(float)
    lines = [
        line([a, 0.4, 0.4], [b, 0.4, 0.4], key=key, name=key, bodies=("limb",), weights=weights, distance=0.05)
        for key, a, b, weights in (("Left", 0.3, 1.2, left), ("Right", 2.8, 3.7, 1.0 - left))
    ]
    lines[1] = replace(lines[1], distance=0.3)
    (told,) = held_by(tmp_path / "few", body, *lines)[0].warnings[0]
    assert told.kind == "bones-hold-few" and told.details["setting"] == "Radius"
    assert '"Left" has none' in told.sentence and "Right" not in told.sentence
    wider = [replace(one, distance=float(told.details["distance"])) for one in lines]
    assert held_by(tmp_path / "wider", body, *wider)[0].warnings[0] == ()


def test_points_on_one_line_are_told(tmp_path):
    thin = bone("thin", rod(0.1, 3.9, radius=0.1))
    (told,) = held_by(tmp_path, limb((16, 4, 4)), thin)[0].warnings[0]
    assert "on one line" in told.sentence and told.kind == "bones-hold-few"
    wider = replace(thin, distance=float(told.details["distance"]))
    assert held_by(tmp_path / "wider", limb((16, 4, 4)), wider)[0].warnings[0] == ()


def test_pins_that_want_nodes_elsewhere_are_told(tmp_path):
    body = limb()
    end = np.flatnonzero(body.vertices[:, 0] < 0.3).astype(np.int32)
    body = replace(body, pinned=end, pin_weights=np.ones(len(end)))
    moved = (np.zeros(1), (body.vertices[end] + [0.0, 0.0, 0.1])[None])
    shape = bone("rod", rod(-0.1, 3.7))
    found, _, _ = held_by(tmp_path / "moved", body, shape, body__limb__targets=moved)
    (told,) = found.warnings[0]
    assert told.kind == "pins-against-bones" and "Rod" in told.sentence and "Limb" in told.sentence
    assert float(told.details["distance"]) == pytest.approx(0.1, abs=1e-3)
    found, _, _ = held_by(tmp_path / "still", body, shape)
    assert found.warnings[0] == ()


@pytest.mark.parametrize(
    ("kind", "changed"),
    [
        ("bone-without-faces", {"triangles": np.zeros((0, 3), np.int32)}),
        ("mesh-not-finite", {"vertices": np.full((5, 3), np.nan)}),
        ("mesh-index", {"triangles": np.array([[0, 1, 999]], np.int32)}),
        ("setting-out-of-range", {"distance": -1.0}),
        ("setting-out-of-range", {"distance": np.nan}),
        ("setting-out-of-range", {"stiffness": 0.0}),
        ("bone-body", {"bodies": ("nobody",)}),
        ("paint-without-vertices", {"mask": np.ones(3)}),
        ("paint-without-vertices", {"weights": np.ones(3), "bodies": ("limb",)}),
    ],
)
def test_bones_that_are_no_bones_are_refused_by_name(kind, changed):
    broken = replace(bone("rib", ball([2.0, 0.5, 0.5], 0.4)), **changed)
    if kind == "mesh-not-finite":
        broken = replace(broken, triangles=np.array([[0, 1, 2]], np.int32))
    with pytest.raises(BadInput) as told:
        check_bones(Scene((limb(),), bones=(broken,)))
    assert told.value.kind == kind and "Rib" in told.value.sentence
