# SPDX-License-Identifier: GPL-3.0-or-later
"""The menus of the settings: identifier, label, tooltip."""

from __future__ import annotations

ROLES = (
    ("NONE", "None", "Sinew leaves this object alone"),
    ("BODY", "Body", "A soft body: filled with tets, simulated and baked"),
    ("COLLIDER", "Collider", "Bodies bump into this object, which stands still or moves rigidly"),
)
COLLIDER_SHAPES = (
    ("MESH", "Mesh", "The object's evaluated mesh"),
    ("PLANE", "Ground", "An endless plane: everything below the object's local Z = 0 is solid"),
)
METHODS = (
    ("SMOOTH", "Smooth", "Tets follow the surface (isosurface stuffing): the best for rendering and contact"),
    ("ROBUST", "Robust", "A lattice of tets covers the surface: works on any mesh and keeps thin parts"),
    ("GIVEN", "From File", "Tets that you bring, in a file (.msh, .vtu, .vtk, .mesh, .veg)"),
)
SIZINGS = (
    ("DIVISIONS", "Resolution Divisions", "So many tets along the largest of the object's Dimensions"),
    ("SIZE", "Tet Size", "The edge length of the tets"),
)
INTERIOR_SIZES = (
    ("1", "Same", "Tets deep inside are as small as those at the surface"),
    ("2", "2×", "Tets deep inside may be twice as large as those at the surface"),
    ("4", "4×", "Tets deep inside may be four times as large as those at the surface"),
)
