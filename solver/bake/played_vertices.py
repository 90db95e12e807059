# SPDX-License-Identifier: GPL-3.0-or-later
"""The part of a body's surface that its object plays: what is inside of it or closes its holes is left out."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from ..mesh.embedding import Binding
from ..mesh.world_to_object import to_object_space
from ..runtime.arrays import Floats
from ..scene.scene import Body
from ..simulation.simulated_scene import SimulatedScene


def played_positions(simulation: SimulatedScene, key: str, world: Floats, time: float) -> npt.NDArray[np.float32]:
    """Returns what the object of a body plays of its surface vertices at `world` [m], (n, 3), in object space."""
    body = next(each for each in simulation.scene.bodies if each.key == key)
    return to_object_space(simulation.tracks, key, world[: body.played_count], time)


def played_binding(body: Body, binding: Binding) -> Binding:
    """Returns the binding of the vertices that the object of a body plays."""
    count = body.played_count
    return Binding(binding.tet[:count], binding.weights[:count]) if count < len(binding.tet) else binding
