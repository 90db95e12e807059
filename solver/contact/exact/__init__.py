# SPDX-License-Identifier: GPL-3.0-or-later
"""Exact contact: surfaces that do not intersect never will, by barriers and times of impact."""
