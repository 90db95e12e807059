# SPDX-License-Identifier: GPL-3.0-or-later
"""The columns of an attribute file, and their names on the mesh. Knows no Blender."""

from __future__ import annotations

from pathlib import Path

VELOCITY_COLUMNS = ("velocity_x", "velocity_y", "velocity_z")
# not "velocity": Cycles would use that as motion in object space, and blur by it
VELOCITY_ATTRIBUTE = "world_velocity"
# Cycles reserves that name for volumes, and reads 0 from a mesh
RENAMED_ATTRIBUTES = {"temperature": "temperature_celsius"}
POSITION_COLUMNS = {"x", "y", "z"}


def read_columns(path: Path) -> tuple[str, ...]:
    """Returns the names of the values per vertex in a PLY file except positions, or none for other files."""
    found: list[str] = []
    with open(path, "rb") as file:
        for _ in range(64):
            words = file.readline().decode("ascii", "replace").split()
            if words[:1] == ["end_header"]:
                return tuple(name for name in found if name not in POSITION_COLUMNS)
            if words[:1] == ["property"]:
                found.append(words[-1])
    return ()


def attribute_names(columns: tuple[str, ...]) -> tuple[str, ...]:
    """Returns the names of the attributes on the mesh: as in the file or `RENAMED_ATTRIBUTES`, the velocity as one
    vector.
    """
    plain = tuple(RENAMED_ATTRIBUTES.get(name, name) for name in columns if name not in VELOCITY_COLUMNS)
    return plain + ((VELOCITY_ATTRIBUTE,) if set(VELOCITY_COLUMNS) <= set(columns) else ())
