# SPDX-License-Identifier: GPL-3.0-or-later
"""A smooth curve through points that overshoots none of them."""

from __future__ import annotations

import numpy as np

from ...runtime.arrays import Floats


def monotone_cubic(at: Floats, values: Floats, x: Floats) -> Floats:
    """Returns the piecewise cubic through points at x, which rises and falls only as they do, (m,).

    Before the first and after the last point it stays. Its slopes are harmonic means of those of neighbouring chords,
    and 0 at peaks.

    Args:
        at: Places of the points, rising, (k,).
        values: There, (k,).
        x: Where to evaluate, (m,).

    Source: FB84; the slopes at the ends are those of a parabola through three points, limited in the same way.
    """
    if len(at) < 2:
        return np.full(np.shape(x), values[0], np.float64)
    width, chord = np.diff(at), np.diff(values) / np.diff(at)
    slope = np.concatenate([chord[:1], np.zeros(len(at) - 2), chord[-1:]])
    if len(at) > 2:
        before, after = 2.0 * width[1:] + width[:-1], width[1:] + 2.0 * width[:-1]
        turns = chord[:-1] * chord[1:] <= 0.0
        safe = np.where(turns[:, None], 1.0, np.column_stack([chord[:-1], chord[1:]]))
        slope[1:-1] = np.where(turns, 0.0, (before + after) / (before / safe[:, 0] + after / safe[:, 1]))
        slope[0] = _end_slope(width[0], width[1], chord[0], chord[1])
        slope[-1] = _end_slope(width[-1], width[-2], chord[-1], chord[-2])
    i = np.clip(np.searchsorted(at, x, side="right") - 1, 0, len(width) - 1)
    s = np.clip((x - at[i]) / width[i], 0.0, 1.0)
    start, end = values[i], values[i + 1]
    rise = s * s * (3.0 - 2.0 * s)
    bend = s * (1.0 - s) * ((1.0 - s) * slope[i] - s * slope[i + 1])
    return start + (end - start) * rise + width[i] * bend


def _end_slope(width: float, next_width: float, chord: float, next_chord: float) -> float:
    slope = ((2.0 * width + next_width) * chord - width * next_chord) / (width + next_width)
    if slope * chord <= 0.0:
        return 0.0
    is_too_steep = chord * next_chord <= 0.0 and abs(slope) > 3.0 * abs(chord)
    return 3.0 * chord if is_too_steep else slope
