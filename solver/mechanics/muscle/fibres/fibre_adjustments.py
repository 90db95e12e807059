# SPDX-License-Identifier: GPL-3.0-or-later
"""Corrections of fibre directions: blended towards painted ones, and turned by a pennation angle."""

from __future__ import annotations

import numpy as np

from ....runtime.arrays import Floats
from .direction_tensors import align

PARALLEL = 1.0e-6  # sine below which a fibre has no side on which to turn


def blend_directions(direction: Floats, painted: Floats, weight: Floats) -> Floats:
    """Returns directions turned towards painted ones, or the opposites of these where they are nearer, (k, 3).

    Args:
        direction: Unit vectors, (k, 3).
        painted: Of any length; zero where nothing is painted, (k, 3).
        weight: 0 for the former, 1 for the latter, (k,). The angle between them is divided in this ratio.
    """
    size = np.linalg.norm(painted, axis=1)
    is_painted = size > 0.0
    goal = align(painted / np.where(is_painted, size, 1.0)[:, None], direction)
    angle = np.arccos(np.clip(np.einsum("ki,ki->k", direction, goal), -1.0, 1.0))
    return rotate_towards(direction, goal, np.where(is_painted, weight * angle, 0.0))


def rotate_towards(direction: Floats, towards: Floats, angle: Floats) -> Floats:
    """Returns f cos α + n⊥ sin α, (k, 3), with the unit part n⊥ of a vector n across a unit direction f.

    Args:
        direction: f, (k, 3).
        towards: n, of any length, (k, 3). Where it is parallel to f or zero, f stays.
        angle: α [rad], (k,).
    """
    across = towards - np.einsum("ki,ki->k", towards, direction)[:, None] * direction
    size = np.linalg.norm(across, axis=1)
    can_turn = size > PARALLEL * np.linalg.norm(towards, axis=1)
    across /= np.where(can_turn, size, 1.0)[:, None]
    angle = np.where(can_turn, angle, 0.0)[:, None]
    return direction * np.cos(angle) + across * np.sin(angle)
