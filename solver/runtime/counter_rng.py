# SPDX-License-Identifier: GPL-3.0-or-later
"""Counter-based random numbers: functions of a seed, a step, a tet and a corner.

There is no generator state, so neither the number of threads nor a resume changes a number.
Source: Steele, Lea and Flood (2014), Fast splittable pseudorandom number generators: the finalizer of SplitMix64.
"""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from .arrays import Floats
from .jit import kernel

GOLDEN_GAMMA = np.uint64(0x9E3779B97F4A7C15)
MIX_MULTIPLIER_1, MIX_MULTIPLIER_2 = np.uint64(0xBF58476D1CE4E5B9), np.uint64(0x94D049BB133111EB)


def uniform(*counters: npt.ArrayLike) -> Floats:
    """Returns random numbers in [0, 1) for integers, which are broadcast against each other."""
    arrays = [np.asarray(counter, np.int64).astype(np.uint64) for counter in counters]
    mixed = np.zeros(np.broadcast_shapes(*(array.shape for array in arrays)), np.uint64)
    with np.errstate(over="ignore"):
        for array in arrays:
            mixed = _mix64(mixed * GOLDEN_GAMMA + array + GOLDEN_GAMMA)
    return (mixed >> np.uint64(11)).astype(np.float64) * 2.0**-53


def _mix64(z: npt.NDArray[np.uint64]) -> npt.NDArray[np.uint64]:
    z = (z ^ (z >> np.uint64(30))) * MIX_MULTIPLIER_1
    z = (z ^ (z >> np.uint64(27))) * MIX_MULTIPLIER_2
    return z ^ (z >> np.uint64(31))


@kernel(device_only=True)
def uniform_number(a, b, c, d):
    """Returns the random number in [0, 1) that `uniform` returns for four integers."""
    mixed = next_counter(np.uint64(0), a)
    mixed = next_counter(mixed, b)
    mixed = next_counter(mixed, c)
    mixed = next_counter(mixed, d)
    return np.float64(mixed >> np.uint64(11)) * 2.0**-53


@kernel(device_only=True)
def next_counter(mixed, counter):
    """Returns what `uniform` makes of the counters so far and the next one."""
    z = mixed * GOLDEN_GAMMA + np.uint64(np.int64(counter)) + GOLDEN_GAMMA
    z = (z ^ (z >> np.uint64(30))) * MIX_MULTIPLIER_1
    z = (z ^ (z >> np.uint64(27))) * MIX_MULTIPLIER_2
    return z ^ (z >> np.uint64(31))
