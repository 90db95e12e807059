# SPDX-License-Identifier: GPL-3.0-or-later
"""When a tet has no volume; apart from the kernels, so that Blender can ask without loading Numba."""

DEGENERATE_TET_RATIO = 1.0e-14  # a tet has no volume where 6 V is at most this times the cube of its longest edge
