# SPDX-License-Identifier: GPL-3.0-or-later
"""Stress, temperature and the like on the mesh, for shaders: read from the cache by nodes that need no add-on."""
