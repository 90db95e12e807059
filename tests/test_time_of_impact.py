# SPDX-License-Identifier: GPL-3.0-or-later
"""When a moving point goes through a moving triangle, against exact arithmetic."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest
from hypothesis import Phase, given, settings
from hypothesis import strategies as st

from sinew.solver.contact.surfaces.time_of_impact import (
    FRONT_TOLERANCE,
    NO_IMPACT,
    cubic_extrema,
    evaluate_cubic,
    falling_root,
    height_coefficients,
    time_of_impact,
)

SIZE = 1.0
TINY = 1.0e-8  # so small that the level below a triangle and the width beside it do not matter


def when(start, end, side=1, size=SIZE):
    """Returns when row 0 goes through the triangle of rows 1 to 3, and the weights there."""
    out = np.zeros(3)
    start, end = np.ascontiguousarray(start, float), np.ascontiguousarray(end, float)
    return time_of_impact(start, end, 0, 1, 2, 3, side, size, np.empty((1, 9)), out), out


def cross(a, b):
    return [a[1] * b[2] - a[2] * b[1], a[2] * b[0] - a[0] * b[2], a[0] * b[1] - a[1] * b[0]]


def dot(a, b):
    return sum(x * y for x, y in zip(a, b, strict=True))


def exact_rows(start, end):
    """Returns the vectors a, b, c from the first corner at both ends, as fractions."""
    both = []
    for rows in (start, end):
        rows = [[Fraction(float(x)) for x in row] for row in rows]
        both.append([[x - y for x, y in zip(rows[k], rows[1], strict=True)] for k in (0, 2, 3)])
    return both


def exact_cubic(start, end):
    """Returns the coefficients of a · (b × c) by powers of the time, without rounding."""
    (a, b, c), (d, e, f) = exact_rows(start, end)
    rates = [[y - x for x, y in zip(p, q, strict=True)] for p, q in zip((a, b, c), (d, e, f), strict=True)]
    coefficients = [Fraction(0)] * 4
    for i in (0, 1):
        for j in (0, 1):
            for k in (0, 1):
                one, two, three = rates[0] if i else a, rates[1] if j else b, rates[2] if k else c
                coefficients[i + j + k] += dot(one, cross(two, three))
    return coefficients


def exact_weights(start, end, t):
    """Returns weights of the point in the triangle, times the area squared, at the time t, without rounding."""
    a, b, c = (
        [x + t * (y - x) for x, y in zip(p, q, strict=True)] for p, q in zip(*exact_rows(start, end), strict=True)
    )
    n = cross(b, c)
    v, w = dot(cross(a, c), n), dot(cross(b, a), n)
    return dot(n, n) - v - w, v, w


def exact_entries(start, end, samples=32):
    """Returns the times at which the point goes from the front to the back inside: exact signs, 40 halvings."""
    p = exact_cubic(start, end)

    def value(t):
        return p[0] + t * (p[1] + t * (p[2] + t * p[3]))

    found = []
    times = [Fraction(k, samples) for k in range(samples + 1)]
    values = [value(t) for t in times]
    for low, high, one, other in zip(times[:-1], times[1:], values[:-1], values[1:], strict=True):
        if one > 0 > other:
            for _ in range(40):
                middle = (low + high) / 2
                low, high = (middle, high) if value(middle) > 0 else (low, middle)
            if min(exact_weights(start, end, low)) > 0:
                found.append(float(low))
    return found


NUMBER = st.integers(-64, 64).map(lambda k: k / 64.0)
ROWS = st.lists(st.tuples(NUMBER, NUMBER, NUMBER), min_size=4, max_size=4)


@settings(max_examples=150, deadline=None, phases=(Phase.generate,))
@given(ROWS, ROWS)
def test_whatever_goes_through_is_found(start, end):
    entries = exact_entries(start, end)
    t, weights = when(start, end, size=TINY)
    if entries:
        assert t <= entries[0] + 1e-4
    if t < NO_IMPACT:
        assert 0.0 <= t <= 1.0
        assert weights.min() >= 0.0 and abs(weights.sum() - 1.0) < 1e-12
        start, end = np.array(start), np.array(end)
        now = start + t * (end - start)
        assert np.linalg.norm(now[0] - weights @ now[1:]) < 1e-9


@settings(max_examples=60, deadline=None, phases=(Phase.generate,))
@given(ROWS, ROWS, st.floats(0.01, 0.98), st.floats(0.01, 0.98), st.floats(0.05, 0.95))
def test_points_sent_through_are_found(start, end, u, v, t):
    """The triangle moves at random; the point is where a place of it is at a time t, and comes from its front."""
    start, end = np.array(start), np.array(end)
    if u + v > 0.99:
        u, v = 1.0 - u, 1.0 - v
    now = start[1:] + t * (end[1:] - start[1:])
    normal = np.cross(now[1] - now[0], now[2] - now[0])
    size = np.linalg.norm(normal)
    if size < 1e-2:
        return
    speed = np.abs(end - start).sum() + 1.0
    place = now[0] + u * (now[1] - now[0]) + v * (now[2] - now[0])
    velocity = np.array([1.0 - u - v, u, v]) @ (end - start)[1:] - 20.0 * speed * normal / size
    start[0], end[0] = np.float32(place - t * velocity), np.float32(place + (1.0 - t) * velocity)
    entries = exact_entries(start, end)
    found, _ = when(start, end, size=TINY)
    assert found <= t + 1e-4 or (entries and found <= entries[0] + 1e-4)


def test_the_side_decides():
    triangle = np.array([[0.0, 0, 0], [1, 0, 0], [0, 1, 0]])
    down = np.vstack([[0.2, 0.2, 0.5], triangle]), np.vstack([[0.2, 0.2, -0.5], triangle])
    t, weights = when(*down)
    assert t == pytest.approx(0.5, abs=2e-4)
    np.testing.assert_allclose(weights, [0.6, 0.2, 0.2], atol=1e-12)
    assert when(*down, side=-1)[0] == NO_IMPACT
    t, weights = when(down[1], down[0], side=-1)
    assert t == pytest.approx(0.5, abs=2e-4)
    np.testing.assert_allclose(weights, [0.6, 0.2, 0.2], atol=1e-12)
    assert when(down[1], down[0])[0] == NO_IMPACT


def test_a_moving_triangle_is_met_by_a_point_at_rest():
    triangle = np.array([[0.0, 0, -1], [1, 0, -1], [0, 1, -1]])
    point = [0.25, 0.25, 0.0]
    t, _ = when(np.vstack([point, triangle]), np.vstack([point, triangle + [0, 0, 4.0]]))
    assert t == pytest.approx(0.25, abs=1e-4)


@pytest.mark.parametrize("way", [1e-4, 1e-2, 1.0, 1e3])
@pytest.mark.parametrize("turn", [0.3, 2.0])
def test_ways_through_a_shared_edge_are_caught_by_one_side(way, turn):
    """Two triangles with one edge, bent either way; points go down through places of the edge."""
    for bend in (-turn, turn):
        left = np.array([0.0, -np.cos(bend / 2), np.sin(bend / 2)])
        right = np.array([0.0, np.cos(bend / 2), np.sin(bend / 2)])
        a, b = np.array([-1.0, 0, 0]), np.array([1.0, 0, 0])
        for x in np.linspace(-0.9, 0.9, 31):
            for sideways in (-0.3, 0.0, 1e-9, 0.3):
                # towards the inside: between the backs of both
                top, bottom = [x, sideways * way, way], [x, -sideways * way, -way]
                size = min(way, 1.0)
                one = when([top, a, b, right], [bottom, a, b, right], size=size)[0]
                other = when([top, b, a, left], [bottom, b, a, left], size=size)[0]
                start = np.array(top)
                in_front = all(np.cross(q - p, r - p) @ (start - p) > 0.0 for p, q, r in ((a, b, right), (b, a, left)))
                if in_front:
                    assert min(one, other) < NO_IMPACT, (bend, x, sideways)


def test_what_touches_is_in_front_and_what_overlaps_is_not():
    triangle = np.array([[0.0, 0, 0], [1, 0, 0], [0, 1, 0]])
    end = np.vstack([[0.2, 0.2, -0.1], triangle])
    for height, is_met in (
        (1e-9, True),
        (0.0, True),
        (-0.9 * FRONT_TOLERANCE, True),
        (-1.1 * FRONT_TOLERANCE, False),
        (-0.01, False),
    ):
        assert (when(np.vstack([[0.2, 0.2, height], triangle]), end)[0] < NO_IMPACT) == is_met


def test_two_steps_agree_about_the_side_where_they_meet():
    """The state at the end of a step is that at the start of the next one, to the last bit."""
    rng = np.random.default_rng(3)
    for _ in range(200):
        a, b, c = rng.normal(size=(3, 4, 3))
        assert height_coefficients(a, b, 0, 1, 2, 3, 1e-4)[3] == height_coefficients(b, c, 0, 1, 2, 3, 1e-4)[0]


def test_grazing_and_flat_triangles_are_sound():
    triangle = np.array([[0.0, 0, 0], [1, 0, 0], [0, 1, 0]])
    # along the plane, in it, and touching it without going through
    for p, q in (([-1, 0.2, 0], [2, 0.2, 0]), ([0.2, 0.2, 0.1], [0.3, 0.3, 0.1]), ([0.2, 0.2, 0], [0.2, 0.2, 0])):
        assert when(np.vstack([p, triangle]), np.vstack([q, triangle]))[0] == NO_IMPACT
    flat = np.array([[0.0, 0, 0], [1, 0, 0], [2, 0, 0]])
    assert when(np.vstack([[0.5, 0.0, 1.0], flat]), np.vstack([[0.5, 0.0, -1.0], flat]))[0] in (
        NO_IMPACT,
        pytest.approx(0.5, abs=1e-3),
    )
    # a triangle that turns over while a point rests in front of its middle
    turned = triangle[[0, 2, 1]]
    t, _ = when(np.vstack([[0.3, 0.3, 1e-3], triangle]), np.vstack([[0.3, 0.3, 1e-3], turned]))
    assert t == NO_IMPACT or 0.0 <= t <= 1.0


def test_the_cubic_and_its_extremes():
    rng = np.random.default_rng(1)
    for _ in range(300):
        a, b = rng.normal(size=(2, 4, 3))
        coefficients = height_coefficients(a, b, 0, 1, 2, 3, 0.0)
        for t in (0.0, 0.3, 0.7, 1.0):
            now = a + t * (b - a)
            volume = (now[0] - now[1]) @ np.cross(now[2] - now[1], now[3] - now[1])
            assert evaluate_cubic(*coefficients, t) == pytest.approx(volume, abs=1e-12)
        one, other = cubic_extrema(*coefficients)
        for t in (one, other):
            if 1e-6 < t < 1.0:
                h = 1e-6
                slope = (evaluate_cubic(*coefficients, t + h) - evaluate_cubic(*coefficients, t - h)) / (2 * h)
                assert abs(slope) < 1e-5 * max(np.abs(coefficients))


def test_the_root_is_where_the_cubic_is_zero():
    rng = np.random.default_rng(2)
    for _ in range(300):
        b = np.sort(rng.normal(size=4))[::-1]
        b = b - 0.5 * (b[0] + b[3])
        t = falling_root(*b, 0.0, 1.0)
        assert abs(evaluate_cubic(*b, t)) <= 1e-14 * np.abs(b).max() * 10
