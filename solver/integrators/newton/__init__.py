# SPDX-License-Identifier: GPL-3.0-or-later
"""Newton's method for one step of bodies whose forces are not linear: flesh, Green's strain, hierarchical bodies."""
