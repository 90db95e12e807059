# SPDX-License-Identifier: GPL-3.0-or-later
"""Linear algebra on sparse matrices of 3×3 blocks: patterns, products and solvers."""
