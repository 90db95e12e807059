# SPDX-License-Identifier: GPL-3.0-or-later
"""A step of implicit Euler by Newton's method in which no surfaces ever intersect."""
