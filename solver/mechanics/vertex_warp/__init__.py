# SPDX-License-Identifier: GPL-3.0-or-later
"""Warped stiffness with a rotation per vertex: the matrix at rest, turned row by row.

With the matrix K of the bodies at rest and a rotation R_i per node, node i feels

    f_i = −R_i Σ_j k_ij (R_iᵀ x_j − X_j),    and the step's matrix has the blocks R_i k_ij R_iᵀ,

which are not symmetric: two nodes do not push each other alike. What that leaves of force and torque on a body as a
whole, the ghost force, is taken out after every solve (`ghost_force.py`).

Source: Müller, Dorsey, McMillan, Jagnow and Cutler 2002, section 3, equations (12) and (14) to (16).
"""

from .ghost_force import MomentumBalance, ghost_impulse, is_unsymmetric, momentum_balance
from .rest_stiffness import UnrotatedShape
from .warped_bodies import LaggedRotations, WarpedSystem, add_warped, is_any_warped, is_warped

__all__ = [
    "LaggedRotations",
    "MomentumBalance",
    "UnrotatedShape",
    "WarpedSystem",
    "add_warped",
    "momentum_balance",
    "ghost_impulse",
    "is_any_warped",
    "is_unsymmetric",
    "is_warped",
]
