# SPDX-License-Identifier: GPL-3.0-or-later
"""Diagnostics of a scene before a bake: what is wrong or doubtful, and where."""
