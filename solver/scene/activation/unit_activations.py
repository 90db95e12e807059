# SPDX-License-Identifier: GPL-3.0-or-later
"""The activations of the contractile units of a muscle: of what no head has, and of its heads, in their order."""

from __future__ import annotations

import numpy as np

from ...runtime.arrays import Floats
from ..settings.activation_settings import HEAD_ACTIVATION, MUSCLE_STRENGTH
from ..settings.muscle_settings import ACTIVATION


def activation_track(key: str) -> str:
    """Returns the name of the track with the activation of a muscle, by the key of its body."""
    return f"body.{key}.{ACTIVATION.name}"


def strength_track(key: str) -> str:
    """Returns the name of the track with the strength of a muscle, by the key of its body."""
    return f"body.{key}.{MUSCLE_STRENGTH.name}"


def head_track(key: str, number: int) -> str:
    """Returns the name of the track with the activation of a head, which are numbered from 0."""
    return f"body.{key}.head.{number}.{HEAD_ACTIVATION.name}"


def unit_activations(activation: float, heads: Floats, strength: float) -> Floats:
    """Returns the activation of every unit, strength · min(activation + that of the head, 1), (1 + heads,)."""
    return strength * np.minimum(activation + np.concatenate([[0.0], heads]), 1.0)
