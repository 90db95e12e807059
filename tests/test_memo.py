# SPDX-License-Identifier: GPL-3.0-or-later
"""Results that are remembered: until their stamp changes or their time is over, not too many, none in another file."""

from __future__ import annotations

import pytest

from sinew.addon.runtime import memo
from sinew.addon.runtime.memo import Memo, Throttle, clear_results


class Counting:
    """Computes 1, 2, 3, …; each takes `seconds` of a clock that stands still otherwise."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch, seconds: float = 0.0) -> None:
        self.calls, self.now, self.seconds = 0, 100.0, seconds
        monkeypatch.setattr(memo.clock, "monotonic", lambda: self.now)

    def __call__(self) -> int:
        self.calls += 1
        self.now += self.seconds
        return self.calls


def test_a_memo_computes_again_for_another_stamp(monkeypatch: pytest.MonkeyPatch) -> None:
    compute, results = Counting(monkeypatch), Memo[int](3)
    assert results.latest("a") is None
    assert [results.result("a", stamp, compute) for stamp in (7, 7, 8, 8, 7)] == [1, 1, 2, 2, 3]
    assert results.has("a", 7) and not results.has("a", 8) and results.latest("a") == 3
    results.discard("a")
    assert results.latest("a") is None


def test_the_oldest_result_goes_first(monkeypatch: pytest.MonkeyPatch) -> None:
    compute, results = Counting(monkeypatch), Memo[int](2)
    for key, stamp in (("a", 0), ("b", 0), ("a", 1), ("c", 0)):
        results.result(key, stamp, compute)
    assert [results.latest(key) for key in "abc"] == [3, None, 4]


def test_what_cannot_be_computed_is_not_remembered() -> None:
    results = Memo[float](2)
    with pytest.raises(ZeroDivisionError):
        results.result("a", 0, lambda: 1.0 / 0.0)
    assert not results.has("a", 0)


def test_a_throttle_computes_again_after_its_time(monkeypatch: pytest.MonkeyPatch) -> None:
    compute, results = Counting(monkeypatch), Throttle[int](2, 5.0)
    assert results.result("a", compute) == 1
    compute.now += 4.9
    assert results.result("a", compute) == 1 and results.result("a", compute, stamp="other") == 2
    compute.now += 5.1
    assert results.result("a", compute, stamp="other") == 3


@pytest.mark.parametrize(("seconds", "pause"), [(0.01, 1.0), (2.0, 38.0)])
def test_what_takes_long_is_computed_seldom(monkeypatch: pytest.MonkeyPatch, seconds: float, pause: float) -> None:
    compute, results = Counting(monkeypatch, seconds), Throttle[int](2, 1.0, time_share=0.05)
    results.result("a", compute)
    compute.now += 0.99 * pause
    assert results.result("a", compute) == 1
    compute.now += 0.02 * pause
    assert results.result("a", compute) == 2


def test_another_file_starts_without_results(monkeypatch: pytest.MonkeyPatch) -> None:
    compute, results, throttle = Counting(monkeypatch), Memo[int](2), Throttle[int](2, 5.0)
    results.result("a", 0, compute)
    throttle.result("a", compute)
    counts = results.clear_count, throttle.clear_count
    clear_results()
    assert results.latest("a") is None and throttle.result("a", compute) == 3
    assert (results.clear_count, throttle.clear_count) == (counts[0] + 1, counts[1] + 1)


@pytest.mark.parametrize("seconds", [0.0, 0.5])
def test_a_throttle_of_no_time_remembers_nothing(monkeypatch: pytest.MonkeyPatch, seconds: float) -> None:
    """Whether computing takes time, or the clock has not moved: that of Windows stands still for 16 ms."""
    compute, results = Counting(monkeypatch, seconds), Throttle[int](2, 0.0)
    assert [results.result("a", compute) for _ in range(2)] == [1, 2]
