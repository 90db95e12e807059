# SPDX-License-Identifier: GPL-3.0-or-later
"""Cuts tets by triangles: divides them into convex cells, and gives each connected part of a tet a copy of the tet."""
