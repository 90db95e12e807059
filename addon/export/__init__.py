# SPDX-License-Identifier: GPL-3.0-or-later
"""Blender's objects and their animation, written as a scene for the solver."""
