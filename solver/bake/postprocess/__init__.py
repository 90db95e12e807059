# SPDX-License-Identifier: GPL-3.0-or-later
"""The finishing pass: makes the final render meshes of broken bodies, and their baked motion."""
