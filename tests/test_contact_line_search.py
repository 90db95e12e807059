# SPDX-License-Identifier: GPL-3.0-or-later
"""How far a solve is followed, and which contacts begin, against what the formulas say."""

import numpy as np
import pytest
from scipy.optimize import minimize_scalar

from fixtures.tet_meshes import bar
from sinew.solver.contact.active_set.contact_line_search import (
    apply_step_lengths,
    deactivate_unreached,
    keep_earliest_contacts,
    line_search_steps,
)
from sinew.solver.contact.detection.contact_set import ContactState
from sinew.solver.linalg.block_pattern import block_pattern
from sinew.solver.linalg.quadratic_form import quadratic_form


def test_bending_is_that_of_the_matrix():
    X, tets = bar((2, 1, 1), (1.0, 1.0, 1.0))
    pattern = block_pattern(np.vstack([tets, tets + len(X)]), 2 * len(X), (0, len(X)))
    random = np.random.default_rng(0)
    values, d, out = random.normal(size=(pattern.block_count, 9)), random.normal(size=(2 * len(X), 3)), np.empty(2)
    quadratic_form(pattern.island_start, pattern.row_start, pattern.column, values, d, out)
    row = np.repeat(np.arange(pattern.node_count), np.diff(pattern.row_start))
    each = np.einsum("ki,kij,kj->k", d[row], values.reshape(-1, 3, 3), d[pattern.column])
    expected = [each[row < len(X)].sum(), each[row >= len(X)].sum()]
    assert out == pytest.approx(expected, rel=1e-12)


@pytest.mark.parametrize("has_limits", [False, True])
@pytest.mark.parametrize("seed", range(6))
def test_a_solve_is_followed_as_far_as_energy_falls(seed, has_limits):
    """A dense φ of four islands, the first three of which are one group; contacts push where they are pressed.

    With limits, half of them push with 20 N at most.
    """
    random = np.random.default_rng(seed)
    group, contacts, n = np.array([0, 0, 0, 3], np.int32), 60, 12
    of = np.where(np.arange(contacts) < 45, 0, 3).astype(np.int32)
    own = np.where(np.arange(n) < 9, 0, 3)  # three numbers per island
    half = random.normal(size=(n, n))
    A = (half @ half.T + np.eye(n)) * (own[:, None] == own)
    J = random.normal(size=(contacts, n)) * (of[:, None] == own)
    b, rest, k = (
        30.0 * random.normal(size=n),
        3.0 * random.normal(size=contacts),
        10.0 ** random.uniform(0, 3, contacts),
    )
    force = lambda v: k * (J @ v - rest)  # noqa: E731
    limit = np.where((random.random(contacts) < 0.5) & has_limits, 20.0, np.inf)
    limit_or_zero = np.where(np.isfinite(limit), limit, 0.0)

    def energy(v, group_only):
        in_v, in_c = own == group_only, of == group_only
        quadratic = 0.5 * v[in_v] @ A[np.ix_(in_v, in_v)] @ v[in_v] - b[in_v] @ v[in_v]
        pushed = np.maximum(force(v), 0.0)
        elastic = np.minimum(pushed, limit)
        return quadratic + ((elastic**2 / 2.0 + limit_or_zero * (pushed - elastic)) / k)[in_c].sum()

    v, cut = random.normal(size=n), 0
    for _ in range(40):
        before = force(v)
        on = before > 0.0
        yields = before > limit
        stiff = np.where(on & ~yields, k, 0.0)
        H = A + J.T @ (stiff[:, None] * J)
        d = np.linalg.solve(H, b + J.T @ (stiff * rest - np.where(yields, limit, 0.0))) - v
        state = ContactState.allocate(contacts)
        state.is_active[:], state.yields[:], state.yield_force[:], state.k[:] = on, yields, limit, k
        bent = d * (H @ d)
        bending = bent.reshape(4, 3).sum(axis=1)
        share = np.empty(4)
        if np.abs(d).max() < 1e-7 * np.abs(v).max():
            break
        line_search_steps(of, group, bending, before, force(v + d), state.arrays, share)
        assert share[0] == share[1] == share[2]
        for island in (0, 3):
            way = d * (own == island)
            best = minimize_scalar(
                lambda t, v=v, way=way, island=island: energy(v + t * way, island),
                bounds=(0.0, 1.0),
                method="bounded",
                options={"xatol": 1e-9},
            )
            if share[island] < 1.0:
                cut += 1
                assert share[island] == pytest.approx(best.x, abs=2e-5)
            assert energy(v + share[island] * way, island) <= energy(v, island) + 1e-9 * abs(energy(v, island))
        v = v + np.repeat(share, 3) * d
    assert cut > 0
    gradient = A @ v - b + J.T @ np.clip(force(v), 0.0, limit)
    assert np.abs(gradient).max() < 1e-8 * np.abs(b).max()  # the minimum


def test_following_goes_back_on_the_way():
    random = np.random.default_rng(0)
    start, before, after = random.normal(size=(3, 10, 3))
    island, share, dt = np.repeat(np.arange(2, dtype=np.uint32), 5), np.array([1.0, 0.25]), 0.01
    v, x = after.copy(), start + dt * after
    apply_step_lengths(start, dt, before, v, share, island, x)
    part = share[island][:, None]
    assert np.array_equal(v[:5], after[:5])
    assert v == pytest.approx(before + part * (after - before), abs=1e-14)
    assert x == pytest.approx(start + dt * v, abs=1e-14)


def test_what_is_met_first_pushes_first():
    k, size = np.full(6, 10.0), np.full(6, 0.1)
    gap = np.array([0.2, 0.5, 0.21, 0.2, -0.01, 0.4])
    way = np.array([1.0, 1.0, 1.0, 0.25, 0.1, 1.0])  # in the step
    known = np.array([0.0, 0.0, 0.0, 0.0, 0.0, 3.0])
    of = np.array([0, 0, 0, 1, 2, 3], np.int32)
    on = np.ones(6, bool)
    keep_earliest_contacts(of, known, k * (way - gap), gap, size, k, np.empty(4), on)
    # 0.03 m behind the first of its group
    assert on.tolist() == [True, False, True, True, True, True]
    on = np.array([False, True, True, True, True, True])
    keep_earliest_contacts(of, known, k * (way - gap), gap, size, k, np.empty(4), on)
    assert on.tolist() == [False, False, True, True, True, True]


def test_planes_that_end_before_do_not_begin_to_push():
    id, found, known = np.arange(8), np.array([0, 3, 5]), np.array([1, 4, 6])
    on, force = np.array([False] * 6 + [True] * 2), np.arange(1.0, 9.0)
    deactivate_unreached(found, known, id, 1, on, force)
    assert force.tolist() == [1, 2, 0, 4, 5, 6, 7, 8]
