# SPDX-License-Identifier: GPL-3.0-or-later
"""Reads the arrays of an .npz file that nobody trusts: damaged ones end in one kind of error, and quickly."""

from __future__ import annotations

import math
import zipfile
from pathlib import Path

import numpy as np
import numpy.typing as npt

MOST_EXPANSION = 2000  # of a compressed file: deflate makes no more than a thousand bytes out of one


def read_arrays(path: Path) -> dict[str, npt.NDArray]:
    """Returns all arrays of an .npz file, by name.

    Raises:
        OSError: The file cannot be opened.
        ValueError: It is no such file, it is damaged, or an array in it announces more than the file holds.
    """
    try:
        with zipfile.ZipFile(path) as archive:
            size = path.stat().st_size
            return {entry.filename.removesuffix(".npy"): _array(archive, entry, size) for entry in archive.infolist()}
    except (OSError, ValueError):
        raise
    except MemoryError as problem:
        raise ValueError("its arrays need more memory than there is") from problem
    except Exception as problem:  # zipfile, zlib and NumPy say "damaged" in many ways
        raise ValueError(f"it is no whole .npz file ({in_short(problem)})") from problem


def _array(archive: zipfile.ZipFile, entry: zipfile.ZipInfo, size: int) -> npt.NDArray:
    name = entry.filename.removesuffix(".npy")
    if entry.file_size > MOST_EXPANSION * size:
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


def in_short(problem: BaseException) -> str:
    """Returns the first line of what a library says, without its full stop."""
    if isinstance(problem, OSError) and problem.strerror:
        return problem.strerror
    return (str(problem).strip().splitlines() or [type(problem).__name__])[0][:200].rstrip(".")
