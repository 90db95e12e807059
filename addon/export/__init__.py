# SPDX-License-Identifier: GPL-3.0-or-later
"""What Sinew reads of Blender's objects, frame by frame."""
