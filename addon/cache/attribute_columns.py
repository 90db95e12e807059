# SPDX-License-Identifier: GPL-3.0-or-later
"""The columns of attribute files, and the names of the mesh attributes that they become. Knows no Blender."""

from __future__ import annotations

from pathlib import Path

VELOCITY_COLUMNS = ("velocity_x", "velocity_y", "velocity_z")
# not "velocity": Cycles would use that as motion in object space, and blur by it
VELOCITY_ATTRIBUTE = "world_velocity"
# Cycles reserves that name for volumes, and reads 0 from a mesh
RENAMED_ATTRIBUTES = {"temperature": "temperature_celsius"}
POSITION_COLUMNS = {"x", "y", "z"}


def read_columns(path: Path) -> tuple[str, ...]:
    """Returns the names of the columns of a PLY file except positions, or () for other files."""
    found: list[str] = []
    with open(path, "rb") as file:
        for _ in range(64):
            words = file.readline().decode("ascii", "replace").split()
            if words[:1] == ["end_header"]:
                return tuple(name for name in found if name not in POSITION_COLUMNS)
            if words[:1] == ["property"]:
                found.append(words[-1])
    return ()
