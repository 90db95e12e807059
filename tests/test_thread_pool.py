# SPDX-License-Identifier: GPL-3.0-or-later
"""Parts on several threads: each is done once, errors come through, nobody waits for a thread that has not begun."""

from __future__ import annotations

import threading
from queue import SimpleQueue

import numpy as np
import pytest

from sinew.solver.runtime.threads import thread_pool
from sinew.solver.runtime.threads.thread_count import set_thread_count, thread_count
from sinew.solver.runtime.threads.thread_pool import run_in_chunks, run_parts, run_ranges


@pytest.fixture(params=[1, 2])
def threads(request):
    before = thread_count()
    set_thread_count(request.param)
    yield
    set_thread_count(before)


@pytest.mark.parametrize("count", [0, 1, 2, 97])
def test_every_part_is_done_once(threads, count):
    for _ in range(50):
        times = np.zeros(count, int)

        def work(part, times=times):
            times[part] += 1

        run_parts(count, work)
        assert (times == 1).all()


@pytest.mark.parametrize("at_once", [1, 7, 100])
def test_ranges_and_slices_cover_all(threads, at_once):
    times = np.zeros((2, 40), int)

    def work(begin, end):
        times[0, begin:end] += 1

    def work_on(part):
        times[1, part] += 1

    run_ranges(0, 40, at_once, work)
    run_in_chunks(40, work_on, at_once)
    assert (times == 1).all()


@pytest.mark.parametrize("bad", [0, 3, 19])
def test_an_error_in_any_part_comes_through(threads, bad):
    def work(part):
        if part == bad:
            raise ValueError(f"part {part}")

    for _ in range(50):
        with pytest.raises(ValueError, match=f"part {bad}"):
            run_parts(20, work)


@pytest.fixture
def later(threads, monkeypatch):
    """What other threads are asked for, of which there are none."""
    asked: SimpleQueue = SimpleQueue()
    monkeypatch.setattr(thread_pool, "_pending_work", asked)
    monkeypatch.setattr(thread_pool, "_background_threads", [threading.Thread()] * thread_count())
    return asked


def test_nobody_begins_a_part_when_one_has_failed(later):
    done: list[int] = []

    def work(part):
        if part == 1:
            raise ValueError
        done.append(part)

    with pytest.raises(ValueError):
        run_parts(20, work)
    while not later.empty():
        later.get()()
    assert done == [0]


def test_nobody_waits_for_threads_that_have_not_begun(later):
    done: list[int] = []
    run_parts(5, done.append)
    assert done == [0, 1, 2, 3, 4] and later.qsize() == thread_count() - 1
