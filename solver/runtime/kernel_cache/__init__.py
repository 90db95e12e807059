# SPDX-License-Identifier: GPL-3.0-or-later
"""Compiled kernels on disk: for which processor, of which sources, and where they lie (docs/kernels.md)."""
