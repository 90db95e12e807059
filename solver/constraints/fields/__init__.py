# SPDX-License-Identifier: GPL-3.0-or-later
"""Blender's force fields: where they act from, how they fall off, and what they do to bodies."""
