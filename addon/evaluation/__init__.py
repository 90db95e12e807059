# SPDX-License-Identifier: GPL-3.0-or-later
"""Evaluates objects at a frame, as arrays."""
