# SPDX-License-Identifier: GPL-3.0-or-later
"""A bake: scene in, cache out, resumed after a stop; this file loads neither Numba nor SciPy."""
