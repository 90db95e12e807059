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
