# SPDX-License-Identifier: GPL-3.0-or-later
"""Points with named values as binary PLY files, which Blender's Import PLY node and other programs read."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
import numpy.typing as npt


def ply_bytes(positions: npt.NDArray[np.float32], columns: Mapping[str, npt.NDArray]) -> bytes:
    """Returns the file of points (k, 3), named x, y, z, with further columns (k,), all little-endian float32."""
    names = ["x", "y", "z", *columns]
    table = np.empty((len(positions), len(names)), "<f4")
    table[:, :3] = positions
    for number, values in enumerate(columns.values(), 3):
        table[:, number] = values
    lines = ["ply", "format binary_little_endian 1.0", f"element vertex {len(positions)}"]
    lines += [*(f"property float {name}" for name in names), "end_header", ""]
    return "\n".join(lines).encode("ascii") + table.tobytes()


def read_ply(data: bytes) -> dict[str, npt.NDArray[np.float32]]:
    """Returns the columns of a file from `ply_bytes`.

    Raises:
        ValueError: It is another kind of file, or truncated.
    """
    head, mark, body = data.partition(b"end_header\n")
    lines = head.decode("ascii", "replace").splitlines()
    if not mark or lines[:2] != ["ply", "format binary_little_endian 1.0"]:
        raise ValueError("not a PLY file of points")
    names = [line.split()[-1] for line in lines[3:]]
    table = np.frombuffer(body, "<f4").reshape(int(lines[2].split()[-1]), len(names))
    return {name: table[:, number] for number, name in enumerate(names)}
