# SPDX-License-Identifier: GPL-3.0-or-later
"""What everything else runs on: arrays, errors, compiled kernels, threads, SIMD, files, events."""
