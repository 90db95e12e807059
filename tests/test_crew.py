# SPDX-License-Identifier: GPL-3.0-or-later
"""Threads that share out passes: every part is done once, and seen by the pass behind."""

import threading

import numpy as np
import pytest

from sinew.solver.geometry import chunks
from sinew.solver.geometry.chunks import BELL, run_parts
from sinew.solver.geometry.crew import OVER, PATIENCE, await_bell, crew_of, is_over, linger, post, take, tell, wait
from sinew.solver.jit import kernel

PARTS, PASSES = 37, 2000


@kernel(bare=True)
def smooth(leads, crew, passes, values, done_by):
    """Passes over a ring of numbers, each the mean of its neighbours in the pass before; counts parts done."""
    turn, length = 0, len(values[0])
    while turn < passes:
        if leads:
            post(crew, length)
        part, done = take(crew, leads), 0
        while part >= 0:
            # a part has been seen by others as often as passes are through
            turn_of_part = np.int64(values[2, part])
            old, new = values[turn_of_part % 2], values[1 - turn_of_part % 2]
            new[part] = 0.5 * (old[part - 1 if part else length - 1] + old[part + 1 if part + 1 < length else 0])
            values[2, part] += 1.0
            part, done = take(crew, leads), done + 1
        done_by[0 if leads else 1] += done
        if leads:
            wait(crew, done)
            turn += 1
        else:
            tell(crew, done)
            if is_over(crew):
                await_bell(crew)
                break


def smoothed(threads: int) -> tuple[np.ndarray, np.ndarray]:
    values, done_by = np.zeros((3, PARTS)), np.zeros(2, np.int64)
    values[0] = np.random.default_rng(0).normal(size=PARTS)
    ended = threading.Semaphore(0)

    def help_out(crew, leads):
        smooth(leads, crew, PASSES, values, done_by)
        ended.release()

    with crew_of(threads, help_out) as crew:
        smooth(True, crew, PASSES, values, done_by)
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
    monkeypatch.setattr(chunks, "_waiting", chunks.SimpleQueue())  # which nobody serves
    monkeypatch.setattr(chunks, "_beside", [threading.Thread()])
    values, done_by = np.zeros((3, PARTS)), np.zeros(2, np.int64)
    with crew_of(2, lambda crew, leads: smooth(leads, crew, 3, values, done_by)) as crew:
        smooth(True, crew, 3, values, done_by)
    assert done_by.tolist() == [3 * PARTS, 0]


@kernel(bare=True)
def lingered(times):
    turns = 0
    for _ in range(times):
        turns = linger(turns)
    return turns


def test_who_waits_for_long_lets_others_run() -> None:
    # the system's call is made and returns: turns are not counted behind it
    assert lingered(PATIENCE - 1) == PATIENCE - 1 and lingered(PATIENCE + 1000) == PATIENCE


@kernel(bare=True)
def seen_over(crew):
    return is_over(crew)


@kernel(bare=True)
def lingered_on(crew):
    return await_bell(crew)


def test_the_bell_is_rung_when_there_is_something_new_to_do() -> None:
    before, (values, done_by) = BELL[0], (np.zeros((3, PARTS)), np.zeros(2, np.int64))
    with crew_of(1, lambda crew, leads: None) as crew:
        smooth(True, crew, 3, values, done_by)
        assert BELL[0] == before, "nobody is to be called"
    with crew_of(2, lambda crew, leads: None) as crew:
        assert BELL[0] == before, "nobody leads as yet"
        smooth(True, crew, 3, values, done_by)
        assert BELL[0] == before + 1, "once, not in every pass"
        assert not seen_over(crew)
    assert seen_over(crew) and lingered_on(crew) == PATIENCE, "nobody has rung"
    run_parts(2, lambda part: None)
    assert BELL[0] == before + 2 and crew[OVER] == 1 and lingered_on(crew) == 0
