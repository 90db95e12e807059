# SPDX-License-Identifier: GPL-3.0-or-later
"""Reads surfaces and tets from files, and writes tets. Trimesh and meshio are loaded where they are needed."""
