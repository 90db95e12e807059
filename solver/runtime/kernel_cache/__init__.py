# SPDX-License-Identifier: GPL-3.0-or-later
"""Compiled kernels on disk: where they lie, which sources they belong to, and how they are loaded."""
