# SPDX-License-Identifier: GPL-3.0-or-later
"""The drag of moving air on strings, which are cylinders.

Air that moves with u relative to a string of the direction t and the diameter d drags it, per length, with

    f = ⅓ ρ C d ‖w‖ w,    w = (I − t tᵀ) u,

which is the pressure of `aerodynamic_pressure.py` on the windward half of its surface: two thirds of that on a plate as
wide as the string. What blows along it does nothing. Each end of a string bears half of its length, with the air and
the velocity there. The force falls with the velocity of the end by

    D = M½ (−∂u/∂v) M½,    M = ∂f/∂u = k (‖w‖ (I − t tᵀ) + w wᵀ / ‖w‖),

M (−∂u/∂v) made symmetric, and that itself where ∂u/∂v is a multiple of I.

Source: the pressure of Newton's impact theory, as in Anderson, Hypersonic and High-Temperature Gas Dynamics, 3.2.
"""

from __future__ import annotations

import numpy as np

from ..runtime.arrays import Floats

DRAG_SHARE = 2.0 / 3.0  # ∫ cos³θ dθ / 2 from −π/2 to π/2


def strand_forces(
    ends: Floats, air: Floats, slowing: Floats, diameter: Floats, pressure_factor: float
) -> tuple[Floats, Floats]:
    """Returns f of the ends of strands [N], (s, 2, 3), and D = −∂f/∂v at them [N s/m], (s, 2, 3, 3).

    Args:
        ends: Positions of both ends of each strand [m], (s, 2, 3).
        air: u at them [m/s], (s, 2, 3).
        slowing: −∂u/∂v of them, (s, 2, 3, 3).
        diameter: Of each strand [m], (s,).
        pressure_factor: ρ C [kg/m³].
    """
    along = ends[:, 1] - ends[:, 0]
    length = np.linalg.norm(along, axis=1)
    t = along / np.maximum(length, np.finfo(float).tiny)[:, None]
    across = (np.eye(3) - t[:, :, None] * t[:, None])[:, None]
    w = np.einsum("scij,scj->sci", np.broadcast_to(across, slowing.shape), air)
    speed = np.linalg.norm(w, axis=2)
    k = (0.5 * DRAG_SHARE * pressure_factor * diameter * 0.5 * length)[:, None]
    force = (k * speed)[:, :, None] * w
    unit = w / np.maximum(speed, np.finfo(float).tiny)[:, :, None]
    root = across + (np.sqrt(2.0) - 1.0) * unit[..., :, None] * unit[..., None, :]
    return force, (k * speed)[:, :, None, None] * (root @ slowing @ root)
