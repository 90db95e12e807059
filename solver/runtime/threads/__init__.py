# SPDX-License-Identifier: GPL-3.0-or-later
"""Threads that share the work of kernels: a pool of ordinary ones and a team that spins between passes."""
