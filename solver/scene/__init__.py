# SPDX-License-Identifier: GPL-3.0-or-later
"""What is asked for: bodies, colliders, settings and their animation; loads neither Numba nor SciPy."""
