# SPDX-License-Identifier: GPL-3.0-or-later
"""Activation dynamics of first order: how the activation of a muscle follows its excitation.

    da/dt = (u − a) / τ,   τ = rise where u > a, fall where u < a

The excitation u is linear between its samples, so every piece has a solution in closed form: with d = u − a, whose
slope is that of u less d/τ, d(t) = s τ + (d₀ − s τ) e^(−t/τ). It changes its sign at most once in a piece, since the
slope s that brought it to zero carries it on.

Source: Zajac (1989), activation dynamics of first order. There the time constant slides with u; here one counts for the
way up and one for the way down.
"""

from __future__ import annotations

import math

import numpy as np

from ...runtime.arrays import Floats, floats

# by how much linear interpolation between the samples may miss the activation, at most
INTERPOLATION_ERROR = 2.5e-4
MAX_PARTS = 64  # of one interval between samples of the excitation


def activation_over_time(times: Floats, excitation: Floats, rise: float, fall: float) -> tuple[Floats, Floats]:
    """Returns a(t) at samples so dense that what is linear between them misses it by at most 2.5e-4.

    Args:
        times: Of the samples of u [s], not falling, (k,); at two equal ones u jumps.
        excitation: u, clamped to [0, 1], (k,).
        rise, fall: Time constants [s], ≥ 0; with 0, a is u.

    Returns:
        Times [s], all of the given ones among them, (m,), and a, which begins as u does, (m,).
    """
    u = np.clip(floats(excitation), 0.0, 1.0)
    values, found = [float(u[0])], [float(times[0])]
    for i in range(1, len(times)):
        length = float(times[i] - times[i - 1])
        parts = _part_count(length, float(u[i - 1]) - values[-1], float(u[i] - u[i - 1]), rise, fall)
        for part in range(1, parts + 1):
            ends = u[i - 1] + (u[i] - u[i - 1]) * np.array([part - 1, part]) / parts
            values.append(activation_after(values[-1], float(ends[0]), float(ends[1]), length / parts, rise, fall))
            found.append(float(times[i - 1]) + length * part / parts if part < parts else float(times[i]))
    return np.array(found), np.array(values)


def activation_after(a: float, begin: float, end: float, length: float, rise: float, fall: float) -> float:
    """Returns a after so long [s], in which u goes evenly from `begin` to `end`; see `activation_over_time`."""
    if length <= 0.0:
        return end if (rise if end > a else fall) == 0.0 else a
    slope, lag = (end - begin) / length, begin - a
    is_rising = lag > 0.0 or (lag == 0.0 and slope > 0.0)
    time_constant = rise if is_rising else fall
    if time_constant == 0.0:
        # a is at u at once, and stays there until u turns away from it in the other direction
        other, turned = (fall, slope < 0.0) if is_rising else (rise, slope > 0.0)
        return end - _lag_after(0.0, slope, length, other) if turned and other > 0.0 else end
    turns = _zero_of_lag(lag, slope, time_constant)
    if turns < length:
        other = fall if is_rising else rise
        return end - (_lag_after(0.0, slope, length - turns, other) if other > 0.0 else 0.0)
    return end - _lag_after(lag, slope, length, time_constant)


def _lag_after(lag: float, slope: float, length: float, time_constant: float) -> float:
    """Returns d = u − a after so long [s]."""
    steady = slope * time_constant
    return steady + (lag - steady) * math.exp(-length / time_constant)


def _zero_of_lag(lag: float, slope: float, time_constant: float) -> float:
    """Returns when d is zero [s], ∞ where it never is again."""
    steady = slope * time_constant
    if lag * steady >= 0.0:
        return math.inf
    return time_constant * math.log1p(-lag / steady)


def _part_count(length: float, lag: float, change: float, rise: float, fall: float) -> int:
    """Returns into how many parts an interval goes [s], in which u − a is `lag` at first and u changes by `change`.

    A chord of length h misses a by at most h² max|d²a/dt²| / 8, and d²a/dt² = (s − d/τ) / τ.
    """
    shortest = min((each for each in (rise, fall) if each > 0.0), default=math.inf)
    if length <= 0.0 or math.isinf(shortest):
        return 1
    bend = (abs(change) / length + (abs(lag) + abs(change)) / shortest) / shortest
    return min(max(math.ceil(length * math.sqrt(bend / (8.0 * INTERPOLATION_ERROR))), 1), MAX_PARTS)
