# SPDX-License-Identifier: GPL-3.0-or-later
"""Sheets: surfaces whose triangles resist stretching and whose edges resist bending."""
