# SPDX-License-Identifier: GPL-3.0-or-later
"""What a broken bake becomes in Blender: a new object with the final topology, and the original out of sight."""
