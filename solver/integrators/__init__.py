# SPDX-License-Identifier: GPL-3.0-or-later
"""Time integration: one step of implicit Euler, BDF2 or Newmark, and the systems that it solves."""
