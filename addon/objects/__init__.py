# SPDX-License-Identifier: GPL-3.0-or-later
"""Roles of objects, what holds them, what they collide with, and whether their meshes can be simulated."""
