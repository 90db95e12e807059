# SPDX-License-Identifier: GPL-3.0-or-later
"""How small the motion of bodies is beside all that stands on the right-hand side of a step.

There, stiff springs and stiff tets have what they would pull with at the start of the step, or along the way to where
the step is linearised: that may be a million times what moves a small stiff body, and cancels against the left-hand
side. A residual of that much would leave nothing of the motion.
"""

from __future__ import annotations

import numpy as np

from ...mechanics.model import Model
from ...runtime.arrays import Floats

MIN_MOTION_SHARE = 1.0e-6  # below which round-off is all that is left


def motion_share(model: Model, v: Floats, gravity: Floats, dt: float, b: Floats) -> float:
    """Returns (‖M v‖ + ‖Δt M g‖) / ‖b‖ of the island where that is smallest, `MIN_MOTION_SHARE` to 1.

    Args:
        model: The bodies.
        v: Velocities at the start of the step [m/s], (n, 3).
        gravity: g [m/s²], (3,).
        dt: Δt [s].
        b: Right-hand side [N s], (n, 3).
    """
    first: np.ndarray = np.asarray(model.pattern.island_start, np.int64)[:-1]
    moving = np.sqrt(np.add.reduceat(np.square(model.mass[:, None] * v).sum(axis=1), first))
    falling = np.sqrt(np.add.reduceat(np.square(dt * model.mass * model.gravity_scale), first)) * np.linalg.norm(
        gravity
    )
    whole = np.sqrt(np.add.reduceat(np.square(b).sum(axis=1), first))
    # without weight, what comes to rest is at rest soon enough
    share = np.where(moving + falling > 0.0, (moving + falling) / np.maximum(whole, np.finfo(float).tiny), 1.0)
    return float(np.clip(share.min(initial=1.0), MIN_MOTION_SHARE, 1.0))
