# SPDX-License-Identifier: GPL-3.0-or-later
"""What is fixed: rows about bones in place of the bones' own settings, and bodies that move together."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from fixtures.bone_scenes import ball, held_by, limb, line, targets
from fixtures.scenes import Run, block, pose, rotation
from fixtures.sliding_scenes import attachments_of
from sinew.solver.runtime.errors import BadInput
from sinew.solver.scene.attachment import ALL_BONES, ARMATURE_BONES, Attachment
from sinew.solver.scene.flesh import Bone, Flesh
from sinew.solver.scene.scene import Body, Collider, Scene, Settings
from sinew.solver.scene.validation import check_scene

LEFT, RIGHT = ball([1.0, 0.5, 0.5], 0.3), ball([3.0, 0.5, 0.5], 0.3)
WEIGHTLESS = Settings(frame_end=4, gravity=(0.0, 0.0, 0.0), tolerance=1e-8)


def two_balls(**settings: Any) -> tuple[Bone, Bone]:
    return tuple(Bone(key, key.capitalize(), *shape, **settings) for key, shape in (("left", LEFT), ("right", RIGHT)))


def attached_limb(*attachments: Attachment) -> Body:
    return replace(limb(), attachments=attachments)


def held(folder, body, *bones, **tracks):
    found, built, read = held_by(folder, body, *bones, **tracks)
    return found, found.bone_of_nodes(built.model.node_count), built, read


def test_a_row_takes_the_place_of_the_distance_of_its_bone(tmp_path) -> None:
    left, right = two_balls()
    body = attached_limb(Attachment("left", "fixed", reach=0.25))
    _, by_row, *_ = held(tmp_path / "row", body, left, right)
    _, by_setting, *_ = held(tmp_path / "setting", limb(), replace(left, distance=0.25), right)
    _, as_it_was, *_ = held(tmp_path / "plain", limb(), left, right)
    assert (by_row == by_setting).all() and (by_row == 0).sum() > (as_it_was == 0).sum() > 0
    assert (by_row == 1).sum() == (as_it_was == 1).sum()


def test_a_row_of_all_bones_leaves_bones_with_rows_to_these(tmp_path) -> None:
    body = attached_limb(Attachment(ALL_BONES, "fixed", reach=0.25), Attachment("right", "fixed", reach=0.1))
    _, by_row, *_ = held(tmp_path / "row", body, *two_balls())
    left, right = two_balls()
    _, wanted, *_ = held(tmp_path / "set", limb(), replace(left, distance=0.25), replace(right, distance=0.1))
    assert (by_row == wanted).all()


def test_a_row_of_the_armature_lets_its_bones_hold_by_springs_at_their_own_distance(tmp_path) -> None:
    body = attached_limb(Attachment(ARMATURE_BONES, "spring", reach=0.0, stiffness=300.0))
    own = {"distance": 0.3, "bodies": ("limb",), "weights": np.ones(len(body.vertices))}
    bone, (left, _) = line([2.0, 0.5, 0.5], [3.5, 0.5, 0.5], **own), two_balls()
    found, by_row, *_ = held(tmp_path / "row", body, left, bone)
    _, wanted, *_ = held(tmp_path / "plain", limb(), left, bone)
    assert (by_row == wanted).all() and {hold.bone.stiffness for hold in found.constraints} == {None, 300.0}


def test_springs_have_the_stiffness_of_the_row_and_its_strength(tmp_path) -> None:
    left, right = two_balls(stiffness=500.0)
    body = attached_limb(Attachment("left", "spring", reach=0.1, strength=2.0, stiffness=300.0))
    found, _, built, read = held(tmp_path, body, left, right)
    mass = built.model.mass
    springs = found.springs(read, built.model, 0.0)
    of_left = np.isin(springs.nodes, next(hold.nodes for hold in found.constraints if hold.number == 0))
    assert springs.stiffness[of_left] / mass[springs.nodes[of_left]] == pytest.approx(600.0)
    assert springs.stiffness[~of_left] / mass[springs.nodes[~of_left]] == pytest.approx(500.0)


def test_what_slides_on_a_bone_is_not_held_by_it(tmp_path) -> None:
    left, right = two_balls()
    _, number, *_ = held(tmp_path, attached_limb(Attachment("left", reach=0.3)), left, right)
    assert not (number == 0).any() and (number == 1).any()


def test_paint_of_a_row_takes_the_place_of_that_of_the_flesh(tmp_path) -> None:
    body = limb()
    above = (body.vertices[:, 2] > 0.5).astype(float)
    plain = replace(body, flesh=Flesh(attachment_paint=1.0 - above))
    body = replace(plain, attachments=(Attachment("left", "fixed", reach=0.1, paint=above),))
    _, number, built, _ = held(tmp_path, body, *two_balls())
    assert (built.model.X[number == 0, 2] >= 0.5).all() and (number == 0).any()
    assert (built.model.X[number == 1, 2] <= 0.5).all() and (number == 1).any()


def test_a_key_lets_go_and_holds_again(tmp_path) -> None:
    keys = np.array([0.0, 1.0, 2.0]), np.array([1.0, 0.0, 1.0]), "step"
    matrices = np.array([0.0, 2.0]), np.stack([np.eye(4), pose(np.eye(3), [2.0, 0.0, 0.0])])
    found, number, built, read = held(
        tmp_path, attached_limb(Attachment("left", "fixed", reach=0.1)), *two_balls(),
        body__limb__attachment__0__strength=keys, bone__left__matrix=matrices,
    )  # fmt: skip
    for time, is_held in ((0.0, True), (1.5, False), (2.0, True)):
        is_fixed, places = targets(found, built, read, time)
        assert is_fixed[number == 0].all() == is_held == is_fixed[number == 0].any() and is_fixed[number == 1].all()
        if is_held:
            assert places[number == 0] == pytest.approx(built.model.X[number == 0] + [time, 0.0, 0.0])


def test_a_bone_that_a_row_does_not_reach_is_told(tmp_path) -> None:
    far = Bone("left", "Left", LEFT[0] + [0.0, 0.0, 0.9], LEFT[1])
    assert (held(tmp_path, attached_limb(Attachment("left", "fixed", reach=0.5)), far)[1] == 0).any()
    with pytest.raises(BadInput, match='surface of "Limb" is .* away from "Left", farther than the Reach'):
        held(tmp_path / "near", attached_limb(Attachment("left", "fixed", reach=0.01)), far)


@pytest.mark.parametrize(
    ("attachment", "sentence"),
    [
        (Attachment(ALL_BONES, "sliding"), '"Limb" is attached to all bones, and no bone mesh may hold it'),
        (Attachment(ARMATURE_BONES, "fixed"), '"Limb"'),
        (Attachment("board", "fixed", reach=0.0), "Reach"),
    ],
)
def test_rows_that_cannot_hold_are_told(attachment, sentence) -> None:
    board = Collider("board", "Board", "mesh", vertices=LEFT[0], triangles=LEFT[1])
    with pytest.raises(BadInput, match=sentence):
        check_scene(Scene((attached_limb(attachment),), (board,), WEIGHTLESS))


def gaps(run: Run) -> np.ndarray:
    """Returns how far the links of the first attachment, whose target is a body, are from where they are at rest."""
    links, model = attachments_of(run).links[0], run.built.model

    def apart(x: np.ndarray) -> np.ndarray:
        anchor = np.einsum("ka,kai->ki", links.anchor_weights, x[model.tets[links.anchor_tet]])
        return links.points(x, model.tets) - anchor

    return np.linalg.norm(apart(run.state.x), axis=1)


@pytest.mark.parametrize("motion", ["quasistatic", pytest.param("dynamic", marks=pytest.mark.slow)])
def test_fixed_bodies_move_together_and_apart_by_less_than_the_tolerance(motion, tmp_path) -> None:
    """A cube on a cube that is turned by its pinned ends: the joint opens by less than a ten-thousandth of it."""
    flesh = Flesh(motion)
    lower, upper = block((2, 2, 2), flesh=flesh, key="lower"), block((2, 2, 2), at=(0.0, 0.0, 1.0), flesh=flesh)
    ends = np.flatnonzero(lower.vertices[:, 2] < 0.01).astype(np.int32)
    lower = replace(lower, pinned=ends, pin_weights=np.ones(len(ends)))
    upper = replace(upper, attachments=(Attachment("lower", "fixed", reach=0.05),))
    turned = lower.vertices[ends] @ rotation([0.0, 1.0, 0.0], 0.3).T
    run = Run(
        tmp_path, Scene((lower, upper), settings=replace(WEIGHTLESS, gravity=(0.0, 0.0, -2.0))),
        body__lower__targets=(np.array([0.0, 2.0 / 24.0]), np.stack([lower.vertices[ends], turned])),
    )  # fmt: skip
    run.advance(4)
    assert all(report.converged for report in run.reports)
    assert 0.0 < gaps(run).max() < 1.0e-4
    assert np.abs(run.render["block"] - upper.vertices).max() > 0.1, "the upper one is taken along"


@pytest.mark.parametrize("motion", ["quasistatic", pytest.param("dynamic", marks=pytest.mark.slow)])
def test_flesh_comes_off_a_bone_and_is_held_again(motion, tmp_path) -> None:
    """The left bone moves away while it lets go: flesh stays with the right one, and then follows both."""
    body = replace(attached_limb(Attachment("left", "fixed", reach=0.1)), flesh=Flesh(motion, self_contact=False))
    times = np.arange(5) / 24.0
    strength = np.array([1.0, 0.0, 0.0, 0.0, 1.0])
    moved = np.stack([pose(np.eye(3), [-0.2 * min(k, 2), 0.0, 0.0]) for k in range(5)])
    scene = Scene((body,), settings=replace(WEIGHTLESS, frame_end=6), bones=two_balls())
    run = Run(
        tmp_path, scene, body__limb__attachment__0__strength=(times, strength, "step"),
        bone__left__matrix=(times, moved),
    )  # fmt: skip
    hold = next(each for each in run.built.bones.constraints if each.number == 0)
    shift = []
    for _ in range(5):
        run.advance()
        shift.append(float((run.state.x - run.built.model.X)[hold.nodes, 0].mean()))
    assert all(report.converged for report in run.reports)
    assert abs(shift[2]) < 0.02 if motion == "quasistatic" else abs(shift[2]) < 0.4
    assert shift[4] == pytest.approx(-0.4, abs=1e-9)


def test_bones_that_hold_too_little_by_a_row_are_told_with_a_reach_that_suffices(tmp_path) -> None:
    beads = [Bone(str(x), str(x), *ball([x, 0.5, 0.5], 0.2)) for x in (0.6, 2.1, 3.4)]
    few, *_ = held(tmp_path / "few", attached_limb(Attachment(ALL_BONES, "fixed", reach=0.0)), *beads)
    (told,) = few.warnings[0]
    assert told.kind == "bones-hold-few" and told.details["setting"] == "Reach"
    row = Attachment(ALL_BONES, "fixed", reach=float(told.details["distance"]))
    assert held(tmp_path / "wider", attached_limb(row), *beads)[0].warnings[0] == ()
