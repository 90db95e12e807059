# SPDX-License-Identifier: GPL-3.0-or-later
"""Bakes a scene into a cache, and resumes after a stop. This file loads neither Numba nor SciPy."""
