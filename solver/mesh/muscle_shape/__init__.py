# SPDX-License-Identifier: GPL-3.0-or-later
"""Surfaces of muscles that are drawn: sections of a profile along a smooth curve, outside bones and neighbours."""
