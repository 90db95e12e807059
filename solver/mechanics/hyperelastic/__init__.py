# SPDX-License-Identifier: GPL-3.0-or-later
"""Hyperelastic material laws: energy, stress and tangent of a tet, clamped to be positive definite."""
