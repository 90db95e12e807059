# SPDX-License-Identifier: GPL-3.0-or-later
"""Level sets on voxels: signed distances, motion by mean curvature, surfaces of quads."""
