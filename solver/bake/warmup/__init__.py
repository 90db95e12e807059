# SPDX-License-Identifier: GPL-3.0-or-later
"""Compiles the kernels that a bake will need, on scenes of a few tets."""
