# SPDX-License-Identifier: GPL-3.0-or-later
"""Colliders, rigid and deforming: their shape, their motion, and which points of bodies meet them."""
