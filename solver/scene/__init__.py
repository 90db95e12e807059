# SPDX-License-Identifier: GPL-3.0-or-later
"""The input of a simulation: bodies, colliders, settings and their animation. It loads neither Numba nor SciPy."""
