# SPDX-License-Identifier: GPL-3.0-or-later
"""Memory bandwidth of this machine: the triad a = b + s c of STREAM, 24 bytes per entry in float64.

As in STREAM, the read of a cache line of `a` before its write does not count.
"""

from __future__ import annotations

import statistics

import numba
import numpy as np

from speed.timing import seconds, using_threads

BYTES_PER_ENTRY = 24


@numba.njit(parallel=True, fastmath={"contract"}, error_model="numpy", boundscheck=False)
def _triad(a, b, c, s, times, parts):
    for part in numba.prange(parts):
        first, last = part * len(a) // parts, (part + 1) * len(a) // parts
        x, y, z = a[first:last], b[first:last], c[first:last]
        for time in range(times):
            factor = s + 1e-9 * time  # the compiler can leave out no pass
            for i in range(len(x)):
                x[i] = y[i] + factor * z[i]


class StreamTriad:
    """A triad over three arrays of `megabytes` in all on `count` threads; a call runs it `times` times."""

    def __init__(self, megabytes: float, count: int) -> None:
        """Allocates the arrays; each thread touches its part first."""
        entries = int(1e6 * megabytes / BYTES_PER_ENTRY)
        self.count, self.times = count, max(1, int(240.0 / megabytes))
        self.bytes = BYTES_PER_ENTRY * entries * self.times  # of a call
        self.arrays = [np.empty(entries) for _ in range(3)]
        with using_threads(count):
            for array in self.arrays:
                _triad(array, array, array, 0.0, 1, count)
                array[:] = 1.0

    def __call__(self) -> None:
        """Runs the triad."""
        with using_threads(self.count):
            a, b, c = self.arrays
            _triad(a, b, c, 0.5, self.times, self.count)


def triad_bandwidth(megabytes: float, count: int, rounds: int = 5) -> float:
    """Returns the median bandwidth of a triad over three arrays of `megabytes` in all on `count` threads [GB/s]."""
    call = StreamTriad(megabytes, count)
    taken = [seconds(call) for _ in range(rounds + 1)][1:]
    return call.bytes / statistics.median(taken) / 1e9
