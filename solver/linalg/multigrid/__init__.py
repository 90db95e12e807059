# SPDX-License-Identifier: GPL-3.0-or-later
"""Multigrid on lattices over the nodes, as a preconditioner of conjugate gradients."""
