# SPDX-License-Identifier: GPL-3.0-or-later
"""Steps go on on all threads or on one, whichever was faster of late, and no bit tells which."""

import time

import numba
import numpy as np
import pytest

from fixtures.tet_meshes import bar
from sinew.solver.constraints.external_forces import ExternalForces
from sinew.solver.integrators import thread_tuner
from sinew.solver.integrators.implicit_euler import step
from sinew.solver.integrators.step_input import ContactCallbacks
from sinew.solver.mechanics.model import Part, make_model
from sinew.solver.mechanics.state import State
from sinew.solver.runtime.jit import set_thread_count, thread_count
from sinew.solver.scene.scene import Material, Settings


def walked(costs, seconds, way=None):
    """Takes steps for so many seconds, each of the cost of its way at that time; returns the way and the times."""
    way, now, times = way or thread_tuner.ThreadTuner(), 0.0, []
    while now < seconds:
        on_all = way.next_on_all(now)
        taken = costs(on_all, now)
        now += taken
        way.learn(on_all, taken, 30.0, now)
        times.append((now, on_all, taken))
    return way, times


@pytest.mark.parametrize("one", (0.0004, 0.01, 0.4))
def test_a_busy_machine_costs_little_more_than_one_thread(one):
    way, times = walked(lambda on_all, now: 4.5 * one if on_all else one, max(20.0, 100 * one))
    assert not way.on_all
    assert np.mean([taken for _, _, taken in times]) < 1.2 * one
    assert np.median([taken for _, _, taken in times]) == one


@pytest.mark.parametrize("one", (0.0004, 0.01, 0.4))
def test_an_idle_machine_keeps_its_threads(one):
    way, times = walked(lambda on_all, now: 0.55 * one if on_all else one, max(20.0, 100 * one))
    assert way.on_all
    assert np.mean([taken for _, _, taken in times]) < 0.58 * one


def test_threads_that_gain_only_behind_their_first_steps_are_kept():
    """As in a new process, where two threads were no faster than one for 30 to 80 ms."""
    _, times = walked(lambda on_all, now: 0.00135 if not on_all or now < 0.06 else 0.00075, 1.0)
    assert np.mean([on_all for _, on_all, _ in times]) > 0.98


@pytest.mark.parametrize("pause", (0.05, 1.0, 20.0))
def test_steps_with_long_pauses_between_them_are_compared_all_the_same(pause):
    """As where frames are slow to write, or a kernel is compiled behind the first step."""
    way, now = thread_tuner.ThreadTuner(), 0.0
    for number in range(20):
        on_all = way.next_on_all(now)
        assert on_all or number > thread_tuner.RECENT_STEPS
        now += 0.01
        way.learn(on_all, 0.01 if on_all else 0.02, 1.0, now)
        now += pause
    assert way.on_all


def test_a_load_that_comes_and_goes_is_noticed():
    one = 0.004

    def costs(on_all, now):
        busy = 5.0 <= now < 15.0
        return one * ((4.5 if busy else 0.55) if on_all else 1.0)

    way, times = walked(costs, 40.0)
    slow = [now for now, on_all, _ in times if on_all and 5.0 <= now < 15.0]
    assert len([now for now in slow if now < 5.1]) <= 3 and len(slow) < 12, slow
    back = min(now for now, on_all, _ in times if on_all and now > 15.0)
    assert back < 15.0 + thread_tuner.LAST_RETRY_SECONDS + 0.1 and way.on_all


def by_chance(seed, all_threads, one_thread):
    """Returns costs that are drawn anew for every step, from a few that each way has."""
    rng = np.random.default_rng(seed)
    return lambda on_all, now: float(rng.choice(all_threads if on_all else one_thread))


@pytest.mark.parametrize("seed", range(5))
def test_threads_that_gain_a_little_are_kept_though_steps_differ(seed):
    way, times = walked(by_chance(seed, (0.0016, 0.0019, 0.0022, 0.0027), (0.002, 0.0023, 0.0027, 0.0035)), 20.0)
    assert way.on_all and np.mean([on_all for _, on_all, _ in times]) > 0.8


@pytest.mark.parametrize("one", (0.002, 0.04))
def test_threads_that_lose_are_given_up_though_steps_differ(one):
    # as measured beside two programs that spin, where a step on one thread is put aside in the middle or not
    all_threads, one_thread = (1.5 * one, 2.0 * one, 2.5 * one), (one, one, 1.2 * one, 3.0 * one)
    # where the first trial meets a step that is put aside, all go on for a while: one seed in twenty says nothing
    walks = [walked(by_chance(seed, all_threads, one_thread), max(5.0, 500 * one)) for seed in range(40)]
    assert np.mean([way.on_all for way, _ in walks]) < 0.15
    assert np.mean([on_all for _, times in walks for _, on_all, _ in times]) < 0.15


@pytest.mark.parametrize("one", (0.01, 0.2))
def test_threads_that_win_are_kept_where_steps_become_dearer_by_either_way(one):
    """As where contacts appear, or what solves a system changes."""

    def costs(on_all, now):
        return one * (0.6 if on_all else 1.0) * (2.0 if now > 50 * one else 1.0)

    _, times = walked(costs, 250 * one)
    assert np.mean([on_all for now, on_all, _ in times if now > 50 * one]) > 0.9


@pytest.mark.parametrize("ways", (0.6, 1.8))
def test_no_step_changes_the_way_alone(ways):
    def costs(on_all, now):
        slow = 9.0 if 5.0 <= now < 5.002 else 1.0
        return 0.002 * (ways if on_all else 1.0) * slow

    way, times = walked(costs, 5.9)
    before, behind = ([on_all for now, on_all, _ in times if begin < now < begin + 0.5] for begin in (4.4, 5.1))
    assert np.mean(before) == np.mean(behind) == (1.0 if ways < 1.0 else 0.0) and way.on_all == (ways < 1.0)


@pytest.mark.skipif(numba.config.NUMBA_NUM_THREADS < 2, reason="wants two threads")
def test_no_byte_tells_which_way_was_taken(monkeypatch):
    nodes, tets = bar((9, 9, 14), (1.0, 1.0, 1.5))
    model = make_model([Part("bar", nodes, tets, np.ones(len(tets)), Material(1e6, 0.33, 1000.0, 0.0))])
    used = []

    def ended(ways):
        state = State(model.X.copy(), np.zeros_like(model.X))
        outside = ExternalForces(np.array([0.0, -9.81, 0.0]), model.X[:, 2] == 0.0, model.X)
        for on_all in ways:
            monkeypatch.setattr(thread_tuner.ThreadTuner, "next_on_all", lambda self, now, on_all=on_all: on_all)
            monkeypatch.setattr(thread_tuner, "limiting_threads", lambda count: used.append(count) or known(count))
            step(model, state, outside, 0.01, Settings(max_iterations=40))
        return state

    known = thread_tuner.limiting_threads
    all_of_them, in_turns = ended([True] * 4), ended([True, False] * 2)
    assert [count > 1 for count in used] == [True] * 4 + [True, False] * 2
    assert np.array_equal(all_of_them.x, in_turns.x) and np.array_equal(all_of_them.v, in_turns.v)


@pytest.mark.skipif(numba.config.NUMBA_NUM_THREADS < 2, reason="wants two threads")
def test_contacts_are_looked_for_on_all_threads_and_do_not_count(monkeypatch):
    nodes, tets = bar((9, 9, 14), (1.0, 1.0, 1.5))
    model = make_model([Part("bar", nodes, tets, np.ones(len(tets)), Material(1e6, 0.33, 1000.0, 0.0))])
    state = State(model.X.copy(), np.zeros_like(model.X))
    threads, counted = [], []

    def respond(x, v):
        threads.append(thread_count())
        time.sleep(0.3)

    outside = ExternalForces(np.array([0.0, -9.81, 0.0]), model.X[:, 2] == 0.0, model.X)
    monkeypatch.setattr(thread_tuner.ThreadTuner, "next_on_all", lambda self, now: False)
    monkeypatch.setattr(
        thread_tuner.ThreadTuner, "learn", lambda self, on_all, seconds, work, now: counted.append((on_all, seconds))
    )
    before = set_thread_count(2)
    try:
        for _ in range(2):  # the first compiles
            began = time.perf_counter()
            step(model, state, outside, 0.01, Settings(max_iterations=40), contacts=ContactCallbacks(update=respond))
            taken = time.perf_counter() - began
        assert threads == [2, 2] and thread_count() == before == 2
    finally:
        set_thread_count(None)
    assert [on_all for on_all, _ in counted] == [False, False]
    assert 0.0 < counted[-1][1] < taken - 0.29
