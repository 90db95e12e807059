# SPDX-License-Identifier: GPL-3.0-or-later
"""Meshes: their geometry, tets that fill a surface, what is bound to them, cutting, and their files."""
