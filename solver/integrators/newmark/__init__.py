# SPDX-License-Identifier: GPL-3.0-or-later
"""Newmark's scheme for flesh: explicit elasticity in substeps, the rest implicit."""
