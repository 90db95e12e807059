# SPDX-License-Identifier: GPL-3.0-or-later
"""Lets cracks go on within a step, as far as the stress carries them.

A crack that has advanced by a tet takes the load to its new tip. A step sees that only at its end, so by itself a crack
goes on by one tet a step, and a hit is over before what it hits has cracked through. So a step in which nodes split is
taken back and taken again from its start with these cracks there; the stress at its end shows whether they go on. New
cracks begin in the first pass alone: all that was overloaded has less load once the first cracks are there.

Source: Müller, McMillan, Dorsey and Jagnow (2001) solve again between the advances of a crack in this way, statically.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace

from ..contact.contact_step import ContactStep
from ..integrators.step_report import StepReport
from ..mechanics.state import State
from ..mechanics.state_fields import DAMAGE_FIELD, LARGEST_STRESS_FIELD
from .current_model import current_model
from .features.feature import FeatureStep
from .simulated_scene import SimulatedScene
from .tet_face_separation import separate_faces

KEPT_FIELDS = (DAMAGE_FIELD, LARGEST_STRESS_FIELD)  # the load that made a crack advance was there


@dataclass(frozen=True, eq=False)
class StepStart:
    """A simulation where a step begins.

    Attributes:
        state: A copy.
        contacts: Of the step before.
    """

    state: State
    contacts: ContactStep | None

    def return_with_cracks(self, simulation: SimulatedScene, step: FeatureStep) -> FeatureStep:
        """Takes a simulation back, but for the faces that have parted since, and returns the step from there."""
        assert step.is_parted is not None
        state = simulation.state
        fields = self.state.fields | {name: state.fields[name] for name in KEPT_FIELDS}
        state.x, state.v, state.time, state.fields = self.state.x, self.state.v, self.state.time, fields
        simulation.contacts = self.contacts
        separate_faces(simulation, step.is_parted)
        again = simulation.feature_step(step.begin, step.end)
        again.model = current_model(simulation.built, state)
        again.crack_advances = step.crack_advances + 1
        return again


def move_while_cracks_advance(
    simulation: SimulatedScene, step: FeatureStep, move: Callable[[FeatureStep], StepReport]
) -> tuple[StepReport, FeatureStep]:
    """Moves bodies on by `move`, again from the start of the step each time that their cracks have advanced.

    Returns:
        How all that went, and the step as it was taken the last time.
    """
    fracture = simulation.built.fracture
    most = max((body.crack_advances for body in fracture.bodies), default=1) if fracture else 1
    iterations, solves = 0, 0
    while True:
        is_last = step.crack_advances + 1 >= most
        start = None if is_last else StepStart(simulation.state.copy(), simulation.contacts)
        report = move(step)
        iterations, solves = iterations + report.iterations, solves + report.solves
        if start is None or step.is_parted is None:
            return replace(report, iterations=iterations, solves=solves), step
        step = start.return_with_cracks(simulation, step)
