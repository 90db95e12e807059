# SPDX-License-Identifier: GPL-3.0-or-later
"""What the memory of this machine gives: the triad a = b + s c of STREAM, 24 bytes per entry in float64.

The line of `a` that the processor reads before it writes it is not counted, as STREAM does not.
"""

from __future__ import annotations

import statistics

import numba
import numpy as np

from speed.timing import seconds, threads

BYTES = 24


@numba.njit(parallel=True, fastmath={"contract"}, error_model="numpy", boundscheck=False)
def _triad(a, b, c, s, times, parts):
    for part in numba.prange(parts):
        first, last = part * len(a) // parts, (part + 1) * len(a) // parts
        x, y, z = a[first:last], b[first:last], c[first:last]
        for _ in range(times):
            for i in range(len(x)):
                x[i] = y[i] + s * z[i]
            s += 1e-9  # each time counts: no loop can be left out


def triad(megabytes: float, count: int, rounds: int = 5) -> float:
    """Returns the bandwidth of a triad over three arrays of `megabytes` in all on so many threads [GB/s], a median."""
    entries = int(1e6 * megabytes / BYTES)
    times = max(1, int(240.0 / megabytes))
    with threads(count):
        arrays = [np.empty(entries) for _ in range(3)]
        for array in arrays:
            _triad(array, array, array, 0.0, 1, count)  # each thread touches its part first
            array[:] = 1.0
        taken = [seconds(lambda: _triad(*arrays, 0.5, times, count)) for _ in range(rounds + 1)][1:]
    return BYTES * entries * times / statistics.median(taken) / 1e9
