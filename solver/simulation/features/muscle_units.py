# SPDX-License-Identifier: GPL-3.0-or-later
"""The contractile units of muscles: which tet belongs to which head, and how active each is.

Unit 0 of a muscle is what no head has; the heads follow in their order.
"""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from ...mesh.tet_mesh import TetMesh
from ...mesh.tet_paint_values import extrapolate_to_tets
from ...runtime.arrays import Floats
from ...runtime.errors import BadInput
from ...scene.activation.unit_activations import activation_track, head_track, strength_track, unit_activations
from ...scene.animated_material import track_value, value_at
from ...scene.muscle import Muscle
from ...scene.scene import Body
from ...scene.settings.activation_settings import HEAD_ACTIVATION, MUSCLE_STRENGTH
from ...scene.settings.muscle_settings import ACTIVATION
from ...scene.settings.setting import Setting
from ...scene.tracks import TrackReader


def unit_count(muscle: Muscle) -> int:
    """Returns how many contractile units a muscle has."""
    return 1 + len(muscle.heads)


def units_of_tets(body: Body, muscle: Muscle, mesh: TetMesh) -> npt.NDArray[np.int32]:
    """Returns the unit of each tet: the head with the largest weight there, of equal ones the first, or 0, (m,).

    Raises:
        BadInput: A head is not painted, or no tet belongs to it.
    """
    if not muscle.heads:
        return np.zeros(len(mesh.tets), np.int32)
    for number, head in enumerate(muscle.heads, 1):
        if not len(head.weights):
            raise BadInput("muscle-head-unpainted", name=body.name, number=number)
    weights = np.array(extrapolate_to_tets(body, mesh, *(head.weights for head in muscle.heads)))
    units = np.where(weights.max(axis=0) > 0.0, 1 + weights.argmax(axis=0), 0).astype(np.int32)
    for number in range(1, unit_count(muscle)):
        if not (units == number).any():
            raise BadInput("muscle-head-empty", name=body.name, number=number)
    return units


def has_activation_track(body: Body, muscle: Muscle, tracks: TrackReader) -> bool:
    """Whether the activation of any unit of a muscle changes over time."""
    own = [activation_track(body.key), strength_track(body.key)]
    return any(map(tracks.has, [*own, *(head_track(body.key, number) for number in range(len(muscle.heads)))]))


def constant_activations(muscle: Muscle) -> Floats:
    """Returns the activation of every unit of a muscle without tracks, (u,)."""
    return unit_activations(
        muscle.activation, np.array([head.activation for head in muscle.heads], np.float64), muscle.strength
    )


def activations_at(body: Body, muscle: Muscle, tracks: TrackReader, time: float) -> Floats:
    """Returns the activation of every unit of a muscle at a time [s], (u,); raises as `value_at`."""

    def value(setting: Setting, constant: float) -> float:
        has_track = tracks.has(f"body.{body.key}.{setting.name}")
        return value_at(body, setting, tracks, time) if has_track else constant

    heads = [head.activation for head in muscle.heads]
    for number in range(len(heads)):
        track = head_track(body.key, number)
        if tracks.has(track):
            heads[number] = track_value(body, HEAD_ACTIVATION, tracks, track, time)
    activation, strength = value(ACTIVATION, muscle.activation), value(MUSCLE_STRENGTH, muscle.strength)
    return unit_activations(activation, np.array(heads, np.float64), strength)
