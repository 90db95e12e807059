# SPDX-License-Identifier: GPL-3.0-or-later
"""Objects as Blender evaluates them at a frame, as arrays."""
