# SPDX-License-Identifier: GPL-3.0-or-later
"""A rigid core with a soft skin: all core nodes of a body move as one rigid body, the others follow dynamically.

The velocities of a core's nodes are v_i = V + ω × (x_i − c), so in the system A v = b of a step they leave six unknowns
for 3 k: with v = P u it is PᵀA P u = Pᵀb, which is solved by what solves any other (`solve.py`). At the end of the step
the core is turned as what it is, a rigid body (`turn.py`).

Source: Müller, Dorsey, McMillan, Jagnow, Cutler (2002), sections 4.3 and 4.4; how it is solved is our own.
"""

from .checks import check_cores
from .find import find_core
from .solve import LinearSystem, as_felt, of_cores, of_hinged, solve_with_cores
from .turn import rigid_again, turn_cores

__all__ = [
    "LinearSystem",
    "as_felt",
    "check_cores",
    "find_core",
    "of_cores",
    "of_hinged",
    "rigid_again",
    "solve_with_cores",
    "turn_cores",
]
