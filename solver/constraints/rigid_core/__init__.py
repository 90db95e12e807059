# SPDX-License-Identifier: GPL-3.0-or-later
"""A rigid core with a soft skin: all core nodes of a body move as one rigid body, the others follow dynamically.

The velocities of a core's nodes are v_i = V + ω × (x_i − c), so in the system A v = b of a step they leave six unknowns
for 3 k: with v = P u it is PᵀA P u = Pᵀb, which is solved by what solves any other (`reduced_solve.py`). At the end of
the step the core is turned as what it is, a rigid body (`rotation_update.py`).

Source: Müller, Dorsey, McMillan, Jagnow, Cutler (2002), sections 4.3 and 4.4; how it is solved is our own.
"""

from .core_selection import find_core, whole_core
from .core_validation import check_cores
from .reduced_solve import LinearSystem, effective_forces, nodes_with_cores, nodes_with_hinges, solve_with_cores
from .rigid_body_batch import batch_numbers, rigid_body_batch
from .rotation_update import rigid_velocities, rotate_cores

__all__ = [
    "LinearSystem",
    "effective_forces",
    "batch_numbers",
    "check_cores",
    "find_core",
    "nodes_with_cores",
    "nodes_with_hinges",
    "rigid_body_batch",
    "rigid_velocities",
    "solve_with_cores",
    "rotate_cores",
    "whole_core",
]
