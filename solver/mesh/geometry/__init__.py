# SPDX-License-Identifier: GPL-3.0-or-later
"""Geometry of points, triangles and tetrahedra: distances, winding numbers, trees of boxes."""
