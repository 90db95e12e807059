# SPDX-License-Identifier: GPL-3.0-or-later
"""The benchmarks of steps, kernels and meshers, reduced: they do what they say they time."""

from __future__ import annotations

import numpy as np
import pytest

pytest.importorskip("matplotlib", reason="make bench draws with it")

from sinew.solver.integrators.solver_context import StepWorkspace
from speed import baseline_meshers, beams, meshing, step
from speed import stream_triad as triad
from speed.step import StepCost
from speed.step_kernels import HALF_PRODUCT, ITERATION, PRODUCT, step_kernels

pytestmark = pytest.mark.slow


@pytest.fixture(scope="module")
def model():
    return beams.make_beam((2, 2, 4))


def test_the_triad_is_one():
    a, b, c = np.zeros(1000), np.arange(1000.0), np.full(1000, 2.0)
    triad._triad(a, b, c, 0.5, 1, 3)
    assert np.array_equal(a, b + 1.0)
    call = triad.StreamTriad(1.0, 1)
    call()
    assert call.bytes == pytest.approx(1e6 * call.times, rel=1e-4)
    assert np.allclose(call.arrays[0], 1.5)


def test_kernels_do_what_a_step_does(model):
    """The product is that of the matrix, each is counted with bytes, and calls can be repeated."""
    workspace = StepWorkspace(model.pattern)
    found = {kernel.name: kernel for kernel in step_kernels(model, workspace)}
    pattern, values = model.pattern, workspace.values
    for _ in range(2):
        for kernel in found.values():
            kernel.call()
            assert kernel.bytes > 24 * pattern.node_count
    assert found[ITERATION].times == 20
    # p and q are drawn as in `step_kernels`, q is overwritten
    p, _ = np.random.default_rng(0).standard_normal((2, pattern.node_count, 3))
    q = found[PRODUCT].call()
    rows = np.repeat(np.arange(pattern.node_count), np.diff(pattern.row_start.astype(np.int64)))
    expected = np.zeros_like(p)
    np.add.at(expected, rows, np.einsum("bij,bj->bi", values.reshape(-1, 3, 3), p[pattern.column]))
    assert np.allclose(q, expected, rtol=0.0, atol=1e-12 * np.abs(expected).max())
    assert np.allclose(found[HALF_PRODUCT].call(), expected, rtol=0.0, atol=1e-12 * np.abs(expected).max())


def test_steps_of_a_beam_are_timed_with_just_so_many_iterations():
    """A step that ends early raises."""
    found = step.measure_costs((4, 4, 12), rounds=1, sizes=[10])
    assert set(found) == {1, 2} and all(cost.tets == 960 and cost.whole > 0.0 for cost in found.values())
    assert set(found[2].stages) == set(step.STAGE_LABELS.values())
    assert all(ms > 0.0 for ms in found[1].stages.values()) and found[2].slower > 0.0


def test_growth_is_judged_by_all_sizes_and_by_the_large_ones():
    """Exact costs: the small one is held up by something constant, and the large ones grow as n^1.2."""
    sizes = {"3K": 3000, "10K": 10_000, "100K": 100_000, "400K": 400_000}
    triad = {10: 80.0, 240: 20.0}
    costs = {name: StepCost(n, (n / 1e4) ** 1.2 if n >= 10_000 else 0.9, {}, triad) for name, n in sizes.items()}
    whole, large = step.growth_row(costs)
    assert large.ours == "1.200" and large.reached is False and "10K" in large.quantity
    assert float(whole.ours) < 1.1 and whole.reached and {whole.line, large.line} == {11}
    assert "takes 4.0 times as long" in large.remark and "an exponent of 1.38" in large.remark  # 1 + log 4 / log 40


def test_bounds_in_milliseconds_are_carried_over():
    """By the smaller ratio of triads: 4 where they gave 50 and 21.25 GB/s, 3 where they gave 74 and 20."""
    stages = dict.fromkeys(step.STAGE_LABELS.values(), 1.0)
    slow = {n: StepCost(100_000, 40.0, stages, {10: 50.0, 240: 21.25}) for n in (1, 2)}
    fast = {n: StepCost(100_000, 40.0, stages, {10: 74.0, 240: 20.0}) for n in (1, 2)}
    judged, told = step.table_rows("100K", slow)
    assert judged.reached and judged.line == 2 and "48 (12 × 4.00)" in judged.wanted and told.reached is None
    assert step.table_rows("100K", fast)[0].reached is False
    assert step.rate_row(slow[2]).reached and step.rate_row(fast[2]).wanted == "> 20.0 (60 / 3.00)"


def test_suzanne_is_filled_and_tetgen_says_why_it_does_not():
    pytest.importorskip("bpy", reason="needs Blender's module")
    surface = meshing.suzanne(0)
    assert surface.triangles.shape == (968, 3) and surface.vertices.shape == (507, 3)
    said = baseline_meshers.run_tetgen(surface)
    assert said.startswith("fails: ") or said == "tetgen is not installed"
