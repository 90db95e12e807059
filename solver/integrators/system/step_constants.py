# SPDX-License-Identifier: GPL-3.0-or-later
"""What all steps agree on."""

from __future__ import annotations

from ...mechanics.state_fields import VELOCITY_CHANGE as VELOCITY_CHANGE

# Where momentum and forces cancel, in a body at rest, the residual is not compared with what is left of their sum
# but with this share of what it is summed from: nothing is gained by solving for what is next to nothing.
NORM_FLOOR_SHARE = 1.0e-3

# Residual that bodies linearised once may leave: stable bars leave 0.3 at most, unstable ones 10 and more.
MAX_LINEARISATION_RESIDUAL = 1.0
