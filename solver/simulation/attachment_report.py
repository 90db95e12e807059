# SPDX-License-Identifier: GPL-3.0-or-later
"""What the attachments of a simulation carry between two steps, for the report of a frame."""

from __future__ import annotations

from ..constraints.force import ForceStep
from .current_model import current_model
from .simulated_scene import SimulatedScene


def attachment_report(simulation: SimulatedScene) -> dict[str, dict[str, list[float]]]:
    """Returns what springs and sliding rows carry now, without their damping.

    Returns:
        Numbers as `AttachmentLoad.to_list` has them, by key of the body and by number of the attachment.
    """
    state = simulation.state
    step = ForceStep(current_model(simulation.built, state), state, simulation.tracks, state.time, state.time)
    found: dict[str, dict[str, list[float]]] = {}
    for force in simulation.built.forces:
        for (key, number), load in force.attachment_loads(step).items():
            found.setdefault(key, {})[str(number)] = load.to_list()
    return found
