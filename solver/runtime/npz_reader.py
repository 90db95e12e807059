# SPDX-License-Identifier: GPL-3.0-or-later
"""Reads untrusted .npz files: a damaged file raises one kind of error, quickly."""

from __future__ import annotations

import math
import zipfile
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path

import numpy as np
import numpy.typing as npt

from .arrays import Floats, Indices, floats, indices

MAX_COMPRESSION_RATIO = 2000  # limit of deflate: a thousand bytes from one


def read_arrays(path: Path) -> dict[str, npt.NDArray]:
    """Returns all arrays of an .npz file, by name.

    Raises:
        OSError: The file cannot be opened.
        ValueError: It is not an .npz file, it is damaged, or an array claims more bytes than the file has.
    """
    try:
        with zipfile.ZipFile(path) as archive:
            size = path.stat().st_size
            return {entry.filename.removesuffix(".npy"): _array(archive, entry, size) for entry in archive.infolist()}
    except (OSError, ValueError):
        raise
    except MemoryError as problem:
        raise ValueError("its arrays need more memory than there is") from problem
    except Exception as problem:  # zipfile, zlib and NumPy raise many kinds of errors
        raise ValueError(f"it is no whole .npz file ({first_line(problem)})") from problem


def _array(archive: zipfile.ZipFile, entry: zipfile.ZipInfo, size: int) -> npt.NDArray:
    name = entry.filename.removesuffix(".npy")
    if entry.file_size > MAX_COMPRESSION_RATIO * size:
        raise ValueError(f"{name} announces more than the file holds")
    with archive.open(entry) as file:
        version = np.lib.format.read_magic(file)
        read_header = np.lib.format.read_array_header_1_0 if version == (1, 0) else np.lib.format.read_array_header_2_0
        shape, _, dtype = read_header(file)
        if dtype.hasobject:
            raise ValueError(f"{name} holds objects instead of numbers")
        if min(shape, default=0) < 0 or math.prod(shape) * dtype.itemsize != entry.file_size - file.tell():
            raise ValueError(f"{name} is not as long as it says")
    with archive.open(entry) as file:
        return np.lib.format.read_array(file, allow_pickle=False)


def stored_floats(arrays: Mapping[str, npt.NDArray], name: str, *shape: int) -> Floats:
    """Returns a stored array of finite numbers; -1 in `shape` stands for any length.

    Raises:
        ValueError: It is missing, has another type or shape, or has NaN or infinity.
    """
    array = _checked_array(arrays, name, "f", "floats")
    if not np.isfinite(array).all():
        raise ValueError(f"{name} holds values that are not finite")
    with _named(name):
        return floats(array, *shape) if shape else array


def stored_indices(arrays: Mapping[str, npt.NDArray], name: str, below: int, *shape: int) -> Indices:
    """Returns a stored array of integers from 0 to below `below`; -1 in `shape` stands for any length.

    Raises:
        ValueError: It is missing, has another type or shape, or has numbers out of range.
    """
    array = _checked_array(arrays, name, "iu", "whole numbers")
    if array.size and not 0 <= int(array.min()) <= int(array.max()) < below:
        raise ValueError(f"{name} holds numbers that are not from 0 to {below - 1}")
    with _named(name):
        return indices(array, *shape)


@contextmanager
def _named(name: str) -> Iterator[None]:
    """Adds the name of the array to errors."""
    try:
        yield
    except ValueError as problem:
        raise ValueError(f"{name}: {problem}") from problem


def _checked_array(arrays: Mapping[str, npt.NDArray], name: str, kinds: str, words: str) -> npt.NDArray:
    if name not in arrays:
        raise ValueError(f"it has no array {name}")
    array = np.asarray(arrays[name])
    if array.dtype.kind not in kinds and array.size:
        raise ValueError(f"{name} holds {array.dtype.name} instead of {words}")
    return array


def first_line(problem: BaseException) -> str:
    """Returns the first line of an error message, without its full stop."""
    if isinstance(problem, OSError) and problem.strerror:
        return problem.strerror
    return (str(problem).strip().splitlines() or [type(problem).__name__])[0][:200].rstrip(".")
