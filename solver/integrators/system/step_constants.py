# SPDX-License-Identifier: GPL-3.0-or-later
"""What all steps agree on."""

from __future__ import annotations

# Where momentum and forces cancel, in a body at rest, the residual is not compared with what is left of their sum
# but with this share of what it is summed from: nothing is gained by solving for what is next to nothing.
NORM_FLOOR_SHARE = 1.0e-3

# Field of the state: v⁺ − v of the last step [m/s], (n, 3). The next change is likely to be like it; tried first, it
# saves a quarter of the iterations of a swinging beam.
VELOCITY_CHANGE = "node.velocity_change"

# Residual that bodies linearised once may leave: stable bars leave 0.3 at most, unstable ones 10 and more.
MAX_LINEARISATION_RESIDUAL = 1.0
