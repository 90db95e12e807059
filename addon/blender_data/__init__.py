# SPDX-License-Identifier: GPL-3.0-or-later
"""What of Blender's own data Sinew finds and sets: keys, modifiers, visibility, F-curves, overrides."""
