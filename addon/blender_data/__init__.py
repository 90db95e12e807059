# SPDX-License-Identifier: GPL-3.0-or-later
"""Reads and sets Blender's own data: object keys, modifiers, visibility, F-curves, library overrides."""
