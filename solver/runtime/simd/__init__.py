# SPDX-License-Identifier: GPL-3.0-or-later
"""Kernels written in LLVM's vector instructions: three numbers of a node, or four blocks of a row, at a time."""
