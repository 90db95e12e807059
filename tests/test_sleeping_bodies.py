# SPDX-License-Identifier: GPL-3.0-or-later
"""What rests sleeps: it stays to the last bit, presses on, wakes where something disturbs it, and ends as if awake."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

import sinew
from fixtures.rigid_bodies import FLOOR, centres, momenta, rigid_box, run_of
from fixtures.scenes import Run, pose, rotation
from sinew.solver.mechanics.state_fields import SLEEP_GROUP
from sinew.solver.mechanics.topology_state import check_fits
from sinew.solver.runtime.arrays import Bools, Floats
from sinew.solver.runtime.threads.thread_count import set_thread_count
from sinew.solver.scene.contact import Collider
from sinew.solver.scene.scene import Body, Scene, Settings
from sinew.solver.simulation import sleep_criterion, sleeping_bodies

EDGE, WEIGHT = 0.2, 1000.0 * 0.2**3 * 9.81
FRAMES_TO_REST = 22  # contacts that push depth out halve it every four frames


def stack(count: int = 2, at: float = 0.0) -> tuple[Body, ...]:
    """Returns boxes on each other, a little apart, each a little turned."""
    return tuple(
        rigid_box(
            (EDGE, EDGE, EDGE),
            (at, 0.0, 0.5 * EDGE + i * (EDGE + 0.001) + 0.001),
            rotation((0, 0, 1), 0.2 * i),
            key=f"box{at:g}_{i}",
        )
        for i in range(count)
    )


def sleeps(run: Run) -> Bools:
    """Returns which bodies sleep, (bodies,)."""
    labels = run.state.fields.get(SLEEP_GROUP)
    own = [body.nodes.start for body in run.built.model.bodies]
    return np.zeros(len(own), bool) if labels is None else labels[own] >= 0


def never_sleeps(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sleeping_bodies, "MIN_QUIET_TIME", np.inf)


def test_what_rests_sleeps_stays_to_the_last_bit_and_presses_on(tmp_path: Path) -> None:
    run = run_of(tmp_path, *stack(), colliders=(FLOOR,))
    run.advance(FRAMES_TO_REST)
    assert sleeps(run).all() and not run.state.v.any()
    before, pressed = run.state.x.copy(), run.simulation.contact_loads()
    run.advance(3)
    assert np.array_equal(run.state.x, before)
    for name in ("positions", "normals", "forces"):
        assert np.array_equal(getattr(run.simulation.contact_loads(), name), getattr(pressed, name))
    assert len(pressed) >= 8 and pressed.names[0] == "floor"
    # contacts have pushed depth out until now: what they press with is not quite the weight
    assert run.reports[-1].colliders["floor"][2] == pytest.approx(-2.0 * WEIGHT, rel=1e-2)
    assert run.reports[-1].contacts == run.reports[-4].contacts > 0


def test_a_stack_that_slept_is_where_one_is_that_never_did(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    asleep = run_of(tmp_path / "asleep", *stack(3), colliders=(FLOOR,))
    asleep.advance(30)
    assert sleeps(asleep).all()
    never_sleeps(monkeypatch)
    awake = run_of(tmp_path / "awake", *stack(3), colliders=(FLOOR,))
    awake.advance(30)
    assert not sleeps(awake).any()
    assert np.abs(asleep.state.x - awake.state.x).max() < 1e-4 * EDGE


def hit_from_the_side(folder: Path) -> Run:
    """Returns a box at rest on ice that another one slides into after 24 frames."""
    ice = replace(FLOOR, friction=0.0)
    rests, slides = stack(1), rigid_box((EDGE, EDGE, EDGE), (-1.2, 0.0, 0.5 * EDGE), key="slider")
    return run_of(folder, *rests, replace(slides, initial_velocity=(1.0, 0.0, 0.0)), colliders=(ice,))


def test_a_hit_wakes_and_gives_the_motion_that_one_awake_gets(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    run = hit_from_the_side(tmp_path / "asleep")
    run.advance(FRAMES_TO_REST)
    assert sleeps(run).tolist() == [True, False]
    run.advance(6)
    assert not sleeps(run).any() and centres(run)[0, 0] > 0.02
    never_sleeps(monkeypatch)
    awake = hit_from_the_side(tmp_path / "awake")
    awake.advance(FRAMES_TO_REST + 6)
    # both lose as much every few frames, since energy that contacts with the ground give is taken from all motion
    assert momenta(run)[0][0] == pytest.approx(momenta(awake)[0][0], rel=2e-4)
    assert np.abs(run.state.x - awake.state.x).max() < 1e-4 * EDGE


def test_groups_wake_alone(tmp_path: Path) -> None:
    faller = rigid_box((EDGE, EDGE, EDGE), (0.02, 0.0, 6.0), key="faller")
    run = run_of(tmp_path, *stack(2), *stack(2, at=2.0), faller, colliders=(FLOOR,))
    run.advance(FRAMES_TO_REST)
    assert sleeps(run).tolist() == [True, True, True, True, False]
    run.advance(6)  # it lands after 1.06 s
    assert sleeps(run).tolist() == [False, False, True, True, False]
    run.advance(60)
    assert sleeps(run).all()


def test_pieces_of_a_group_that_fall_asleep_later_join_it(tmp_path: Path) -> None:
    faller = rigid_box((EDGE, EDGE, EDGE), (0.0, 0.0, 1.2), key="faller")
    run = run_of(tmp_path, *stack(1), faller, colliders=(FLOOR,))
    run.advance(60)
    labels = run.state.fields[SLEEP_GROUP]
    assert sleeps(run).all() and len(np.unique(labels)) == 1


def moved_floor(folder: Path) -> Run:
    times, down = [0.0, 1.0, 1.5], [pose(), pose(), pose(move=(0.0, 0.0, -1.0))]
    return run_of(folder, *stack(), colliders=(FLOOR,), collider__floor__matrix=(times, down, "rigid"))


def turned_gravity(folder: Path) -> Run:
    values = np.array([[0.0, 0.0, -9.81], [0.0, 0.0, -9.81], [9.81, 0.0, -2.0]])
    return Run(folder, Scene(stack(), (FLOOR,), Settings()), gravity=([0.0, 1.0, 1.1], values))


def pushed_by_keys(folder: Path) -> Run:
    """An animated box stands still for a second, and then pushes both others aside."""
    animated = rigid_box((EDGE, EDGE, 3.0 * EDGE), (-0.4, 0.0, 0.4), key="keyed", animated=True)
    shapes = np.array([animated.vertices + [x, 0.0, 0.0] for x in (0.0, 0.0, 0.5)])
    name, times = "body__keyed__animated", [0.0, 1.0, 1.4]
    keys = {name: ([0.0], [1.0], "step"), f"{name}__targets": (times, shapes)}
    return run_of(folder, *stack(), animated, colliders=(FLOOR,), **keys)


@pytest.mark.parametrize("disturbed", [moved_floor, turned_gravity, pushed_by_keys])
def test_what_changes_around_them_wakes(disturbed: object, tmp_path: Path) -> None:
    run = disturbed(tmp_path)  # type: ignore[operator]
    run.advance(FRAMES_TO_REST)
    assert sleeps(run)[:2].all()
    before = centres(run)
    run.advance(14)
    assert not sleeps(run).any() and (np.linalg.norm(centres(run) - before, axis=1) > 0.05).all()


def test_what_slides_slowly_never_sleeps(tmp_path: Path) -> None:
    """A slope by 0.5 degrees too steep for its friction."""
    angle = np.arctan(0.5) + np.radians(0.5)
    slope = Collider("slope", "Slope", "plane", friction=0.5)
    turn = rotation((0, 1, 0), angle)
    box = rigid_box((EDGE, EDGE, EDGE), tuple(turn @ [0.0, 0.0, 0.5 * EDGE]), turn)
    tilted = {"collider__slope__matrix": ([0.0], [pose(turn)], "rigid")}
    run = run_of(tmp_path, box, colliders=(slope,), **tilted)
    begin = centres(run)[0]
    run.advance(48)
    assert not sleeps(run).any() and np.linalg.norm(centres(run)[0] - begin) > 0.1


def test_nothing_sleeps_without_gravity(tmp_path: Path) -> None:
    run = run_of(tmp_path, *stack(1), gravity=(0.0, 0.0, 0.0))
    run.advance(FRAMES_TO_REST)
    assert not sleeps(run).any()


def test_a_bake_resumed_asleep_has_the_same_bytes(tmp_path: Path) -> None:
    faller = rigid_box((EDGE, EDGE, EDGE), (0.02, 0.0, 6.0), rotation((1, 1, 0), 0.3), key="faller")
    scene = Scene((*stack(), faller), (FLOOR,), Settings(frame_start=1, frame_end=34))
    whole = sinew.bake(scene, tmp_path / "whole.sinew")
    sinew.bake(replace(scene, settings=replace(scene.settings, frame_end=21)), tmp_path / "parts.sinew")
    parts = sinew.bake(scene, tmp_path / "parts.sinew", resume=True)
    for frame in range(1, 35):
        assert np.array_equal(whole.read_frame(frame).x, parts.read_frame(frame).x)


def test_a_checkpoint_of_what_sleeps_is_none_if_its_contacts_do_not_fit(tmp_path: Path) -> None:
    run = run_of(tmp_path, *stack(), colliders=(FLOOR,))
    run.advance(FRAMES_TO_REST)
    counts = run.built.model.node_count, run.built.model.tet_count
    check_fits(run.state, *counts)
    for name in ("id", "tet", "load"):
        spoilt = run.state.copy()
        spoilt.fields[f"asleep.{name}"] = spoilt.fields[f"asleep.{name}"][:-1]
        with pytest.raises(ValueError, match="asleep"):
            check_fits(spoilt, *counts)


def test_any_number_of_threads_gives_the_same_bytes(tmp_path: Path) -> None:
    ends: list[Floats] = []
    for threads in (1, 2):
        set_thread_count(threads)
        try:
            run = hit_from_the_side(tmp_path / str(threads))
            run.advance(FRAMES_TO_REST + 6)
        finally:
            set_thread_count(None)
        ends.append(run.state.x)
    assert np.array_equal(*ends)


def test_a_group_sleeps_whose_mass_has_nearly_all_rested_for_long() -> None:
    group, mass = np.array([0, 0, 2, 2, 4], np.int64), np.array([1.0, 99.0, 1.0, 9.0, 1.0])
    is_quiet, rests = np.array([False, True, False, True, True]), np.ones(5, bool)
    assert sleep_criterion.may_sleep(group, mass, rests, is_quiet).tolist() == [True, True, False, False, True]
    rests[0] = False
    assert sleep_criterion.may_sleep(group, mass, rests, is_quiet).tolist() == [False, False, False, False, True]


def test_pushes_are_felt_as_a_loop_over_contacts_says(tmp_path: Path) -> None:
    run = run_of(tmp_path, *stack(3), colliders=(FLOOR,))
    run.advance(2)
    contacts, model, gravity = run.simulation.contacts, run.built.model, np.array([0.0, 0.0, -9.81])
    assert contacts is not None
    of, pushed = np.array([False, False, True]), np.zeros((3, 3))
    row, tet = model.pattern.island_of_row, contacts.contact_state.attachment.tet
    for c in np.flatnonzero(contacts.was_active):
        if tet[c, 1] < 0:
            continue
        own, other = (int(row[model.tets[tet[c, side], 0]]) for side in (0, 1))
        force = max(contacts.end[1][c], 0.0) * contacts.contact_set.normal[c] + contacts.end[2][c]
        if of[other] and not of[own]:
            pushed[own] += force
        if of[own] and not of[other]:
            pushed[other] -= force
    for is_piece, ratio in ((False, 1e-6), (True, 0.25)):
        wanted = np.linalg.norm(pushed, axis=1) > ratio * WEIGHT
        found = sleep_criterion.felt_pushes(contacts, model, gravity, of, np.full(3, is_piece))
        assert np.array_equal(found, wanted) and wanted.tolist() == [False, True, False]
