# SPDX-License-Identifier: GPL-3.0-or-later
"""Linear tetrahedra: rotations, strain, stress, forces, stiffness and assembly."""
