# SPDX-License-Identifier: GPL-3.0-or-later
"""Threads that share out passes: every part is done once, and seen by the pass behind."""

import threading

import numpy as np
import pytest

from sinew.solver.runtime.jit import kernel
from sinew.solver.runtime.threads import thread_pool
from sinew.solver.runtime.threads.thread_count import using_threads
from sinew.solver.runtime.threads.thread_pool import WAKEUP_COUNTER, run_parts
from sinew.solver.runtime.threads.worker_team import (
    FINISHED,
    SPINS_BEFORE_YIELD,
    await_wakeup,
    claim,
    is_finished,
    join,
    pause_or_yield,
    publish,
    report_done,
    worker_team,
)

PARTS, PASSES = 37, 2000


@kernel(no_refcount=True)
def smooth(leads, team, passes, values, done_by):
    """Passes over a ring of numbers, each the mean of its neighbours in the pass before; counts parts done."""
    turn, length = 0, len(values[0])
    while turn < passes:
        if leads:
            publish(team, length)
        part, done = claim(team, leads), 0
        while part >= 0:
            # a part has been seen by others as often as passes are through
            turn_of_part = np.int64(values[2, part])
            old, new = values[turn_of_part % 2], values[1 - turn_of_part % 2]
            new[part] = 0.5 * (old[part - 1 if part else length - 1] + old[part + 1 if part + 1 < length else 0])
            values[2, part] += 1.0
            part, done = claim(team, leads), done + 1
        done_by[0 if leads else 1] += done
        if leads:
            join(team, done)
            turn += 1
        else:
            report_done(team, done)
            if is_finished(team):
                await_wakeup(team)
                break


def smoothed(threads: int) -> tuple[np.ndarray, np.ndarray]:
    values, done_by = np.zeros((3, PARTS)), np.zeros(2, np.int64)
    values[0] = np.random.default_rng(0).normal(size=PARTS)
    ended = threading.Semaphore(0)

    def help_out(team, leads):
        smooth(leads, team, PASSES, values, done_by)
        ended.release()

    with worker_team(threads, help_out) as team:
        smooth(True, team, PASSES, values, done_by)
    for _ in range(threads - 1):
        assert ended.acquire(timeout=60.0), "an other did not see that all is over"
    return values, done_by


def test_every_part_is_done_once_in_every_pass() -> None:
    alone, by_one = smoothed(1)
    assert by_one.tolist() == [PARTS * PASSES, 0] and (alone[2] == PASSES).all()
    there = np.roll(np.arange(PARTS), 1), np.roll(np.arange(PARTS), -1)
    values = np.random.default_rng(0).normal(size=PARTS)
    for _ in range(PASSES):
        values = 0.5 * (values[there[0]] + values[there[1]])
    assert np.allclose(alone[PASSES % 2], values, rtol=0.0, atol=1e-12)
    for _ in range(5):
        both, by_both = smoothed(2)
        assert both.tobytes() == alone.tobytes() and by_both.sum() == PARTS * PASSES


def test_the_leader_waits_for_nobody_who_has_not_begun(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(thread_pool, "_pending_work", thread_pool.SimpleQueue())  # which nobody serves
    monkeypatch.setattr(thread_pool, "_background_threads", [threading.Thread()])
    values, done_by = np.zeros((3, PARTS)), np.zeros(2, np.int64)
    with worker_team(2, lambda team, leads: smooth(leads, team, 3, values, done_by)) as team:
        smooth(True, team, 3, values, done_by)
    assert done_by.tolist() == [3 * PARTS, 0]


@kernel(no_refcount=True)
def lingered(times):
    turns = 0
    for _ in range(times):
        turns = pause_or_yield(turns)
    return turns


def test_who_waits_for_long_lets_others_run() -> None:
    # the system's call is made and returns: turns are not counted behind it
    assert (
        lingered(SPINS_BEFORE_YIELD - 1) == SPINS_BEFORE_YIELD - 1
        and lingered(SPINS_BEFORE_YIELD + 1000) == SPINS_BEFORE_YIELD
    )


@kernel(no_refcount=True)
def seen_over(team):
    return is_finished(team)


@kernel(no_refcount=True)
def lingered_on(team):
    return await_wakeup(team)


def test_the_bell_is_rung_when_there_is_something_new_to_do() -> None:
    before, (values, done_by) = WAKEUP_COUNTER[0], (np.zeros((3, PARTS)), np.zeros(2, np.int64))
    with worker_team(1, lambda team, leads: None) as team:
        smooth(True, team, 3, values, done_by)
        assert WAKEUP_COUNTER[0] == before, "nobody is to be called"
    with worker_team(2, lambda team, leads: None) as team:
        assert WAKEUP_COUNTER[0] == before, "nobody leads as yet"
        smooth(True, team, 3, values, done_by)
        assert WAKEUP_COUNTER[0] == before + 1, "once, not in every pass"
        assert not seen_over(team)
    assert seen_over(team) and lingered_on(team) == SPINS_BEFORE_YIELD, "nobody has rung"
    with using_threads(2):  # whatever another test has left
        run_parts(2, lambda part: None)
    assert WAKEUP_COUNTER[0] == before + 2 and team[FINISHED] == 1 and lingered_on(team) == 0
