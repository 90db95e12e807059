# SPDX-License-Identifier: GPL-3.0-or-later
"""Scenes with Exact contact: what must not intersect, and their steps."""
