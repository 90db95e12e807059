# SPDX-License-Identifier: GPL-3.0-or-later
"""The physics: from a scene file to a cache, without Blender."""
