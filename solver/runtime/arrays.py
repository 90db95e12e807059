# SPDX-License-Identifier: GPL-3.0-or-later
"""Converts and checks arrays: contiguous, of one type, of a known shape."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import numpy.typing as npt

type_float = np.float64
type_index = np.int32

Floats = npt.NDArray[np.float64]
Indices = npt.NDArray[np.int32]
Bools = npt.NDArray[np.bool_]


def floats(values: npt.ArrayLike, *shape: int) -> Floats:
    """Returns `values` as a contiguous float64 array; -1 in `shape` stands for any length."""
    array = np.ascontiguousarray(values, dtype=type_float)
    return _contiguous(array, shape) if shape else array


def indices(values: npt.ArrayLike, *shape: int) -> Indices:
    """Returns `values` as a contiguous int32 array; -1 in `shape` stands for any length.

    Raises:
        ValueError: A number does not fit into int32, or the shape differs.
    """
    array = np.asarray(values)
    if array.dtype.kind in "iu" and array.dtype.itemsize >= 4 and array.dtype != type_index and array.size:
        limits = np.iinfo(type_index)
        if not limits.min <= int(array.min()) <= int(array.max()) <= limits.max:
            raise ValueError(f"{int(array.max())} is too large for a number of a row")
    return _contiguous(np.ascontiguousarray(array, dtype=type_index), shape)


def concatenated(arrays: Sequence[npt.NDArray], empty: npt.NDArray) -> npt.NDArray:
    """Returns arrays one after the other, without a copy of an only one, or `empty` where there is none."""
    return arrays[0] if len(arrays) == 1 else np.concatenate([empty, *arrays])


def _contiguous(array: npt.NDArray, shape: tuple[int, ...]) -> npt.NDArray:
    if not shape:
        return array
    if array.size == 0 and len(shape) > 1:
        array = array.reshape([max(length, 0) for length in shape])
    if array.ndim != len(shape) or any(w not in (-1, h) for w, h in zip(shape, array.shape, strict=True)):
        raise ValueError(f"an array of shape {array.shape} came where {shape} was wanted")
    return array
