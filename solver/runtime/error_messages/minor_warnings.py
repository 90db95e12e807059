# SPDX-License-Identifier: GPL-3.0-or-later
"""Warnings of what Sinew has settled by itself, where the result mostly looks right: the window folds them away."""

MINOR_WARNINGS = frozenset({"mesh-open", "tets-turned", "tets-doubled"})
