# SPDX-License-Identifier: GPL-3.0-or-later
"""Joints: how rigid parts of bodies may move against each other, and against what is animated."""
