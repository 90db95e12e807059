# SPDX-License-Identifier: GPL-3.0-or-later
"""Whether an attempt at a step is accepted, taken again with rotations that follow, or halved.

A solve sees the turns and the planes of contacts as straight lines. Where bodies hit each other so hard that they go
half their way through each other in a step, or turn far in it while they touch something, that is not what happens:
contacts do not become content, or energy comes from nothing.

Where only colliders are touched, most steps need no rotations that follow. They are solved with the rotations of their
start; those that go wrong so are taken again with rotations that follow, and the energy of the bodies weighed. Between
bodies rotations always follow. Where energy comes from nothing even so, turns of solves as a whole are made as
rotations.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from enum import Enum, auto

import numpy as np

from ..integrators.step_report import StepReport
from ..integrators.system.relinearised_step import elastic_energies
from ..mechanics.kinetic_energy import kinetic_energies
from ..runtime.arrays import Floats
from .contact_energy_removal import EnergyGain, energy_gain_in_step
from .step_attempt import StepAttempt

MAX_CONTACT_HALVINGS = 3  # of a step whose contacts between bodies are not content
MAX_HALVINGS_IN_PIECES = 2  # the same among pieces of broken bodies, of which many steps would go on to the last
MAX_JOINT_HALVINGS = 3  # of a step whose joints have not settled
# residual over what moves bodies from which a step is asked for energy out of nothing, or halved
ENERGY_CHECK_RESIDUAL = 0.01


class Verdict(Enum):
    """What becomes of an attempt at a step."""

    ACCEPT = auto()
    TURN_SOLVES = auto()  # take it again, with turns of solves as rotations
    HALVE = auto()  # take it again in two halves


@dataclass(frozen=True, eq=False)
class EnergyVerdict:
    """What becomes of an attempt by the energy that came from nothing in it.

    Attributes:
        verdict: What becomes of it.
        gain: The energy that groups of bodies gained; None: it was not weighed.
        excess: What of it cannot be taken from the motion within each group [J], (groups,), or (0,).
    """

    verdict: Verdict
    gain: EnergyGain | None = None
    excess: Floats = field(default_factory=lambda: np.zeros(0))

    @property
    def has_excess(self) -> bool:
        """Whether some group keeps energy from nothing."""
        return bool(self.excess.any())


def contact_verdict(attempt: StepAttempt, report: StepReport) -> Verdict:
    """Returns what becomes of an attempt by its contacts and by how far bodies turned."""
    contacts = attempt.contacts
    if contacts is None or not attempt.may_repeat:
        return Verdict.ACCEPT
    if attempt.may_relinearise:
        return Verdict.TURN_SOLVES if _start_rotations_failed(attempt) else Verdict.ACCEPT
    part, has_surfaces = attempt.part, attempt.has_surfaces
    # between bodies: what is so stiff that round-off hides its motion is solved better in shorter steps
    is_rough = (
        attempt.turns_solves and has_surfaces and not report.converged and report.residual > ENERGY_CHECK_RESIDUAL
    )
    if (report.rotates_far or is_rough) and part.may_halve:
        return Verdict.HALVE
    has_diverged = attempt.diverged_islands()
    if part.halvings >= MAX_HALVINGS_IN_PIECES:
        has_diverged &= ~contacts.islands_with_pieces()
    may_halve = part.halvings < MAX_CONTACT_HALVINGS if has_surfaces else part.may_halve
    return Verdict.HALVE if may_halve and has_diverged.any() else Verdict.ACCEPT


def joint_verdict(attempt: StepAttempt) -> Verdict:
    """Returns what becomes of an attempt by its joints: where bodies turn far in a step, these may not settle."""
    joints, part = attempt.bounds.joints, attempt.part
    if joints is None or joints.is_settled or attempt.dynamics is not None:
        return Verdict.ACCEPT
    return Verdict.HALVE if part.may_halve and part.halvings < MAX_JOINT_HALVINGS else Verdict.ACCEPT


def energy_verdict(attempt: StepAttempt, report: StepReport) -> EnergyVerdict:
    """Returns what becomes of an attempt by the energy from nothing; the state has to remember contacts by then."""
    if attempt.contacts is None:
        return EnergyVerdict(Verdict.ACCEPT)
    gain = None
    if report.stored:
        gain = _energy_gain(attempt, report.stored)
    elif _may_have_gained(attempt, report):
        model, workspace = attempt.model, attempt.context.workspace(attempt.model)
        stored = (
            elastic_energies(model, attempt.before.x, workspace),
            elastic_energies(model, attempt.state.x, workspace),
        )
        rough = _energy_gain(attempt, stored)
        if rough and (rough.energy > rough.tolerance).any():
            return EnergyVerdict(Verdict.TURN_SOLVES)
    excess = np.zeros(0)
    if gain and attempt.may_repeat:
        # among pieces and rigid bodies some step always keeps a little, which shorter parts do not change
        tolerated = attempt.tolerates_energy_gains
        of_whole_bodies = gain.without(attempt.contacts.islands_with_pieces()) if tolerated else gain
        excess = of_whole_bodies.left(attempt.model, attempt.state)
    if excess.any() and attempt.may_turn_solves:
        return EnergyVerdict(Verdict.TURN_SOLVES)
    may_halve = attempt.part.may_halve and (attempt.turns_solves or not attempt.has_surfaces)
    if excess.any() and may_halve:
        return EnergyVerdict(Verdict.HALVE)
    return EnergyVerdict(Verdict.ACCEPT, gain, excess)


def _energy_gain(attempt: StepAttempt, stored: tuple[Floats, Floats]) -> EnergyGain | None:
    """Returns what energy groups of bodies gained, given that elastic energy of islands at begin and end [J], (k,)."""
    assert attempt.contacts is not None
    return energy_gain_in_step(
        attempt.contacts,
        attempt.model,
        attempt.gravity,
        attempt.before,
        attempt.state,
        stored,
        attempt.bounds,
        attempt.linear_forces(is_end=True),
    )


def _may_have_gained(attempt: StepAttempt, report: StepReport) -> bool:
    """Whether a step with the rotations of its start left so much residual that its energy has to be weighed."""
    return (
        attempt.may_repeat
        and attempt.may_relinearise
        and report.motion_residual > ENERGY_CHECK_RESIDUAL
        and not attempt.model.methods
    )


def _start_rotations_failed(attempt: StepAttempt) -> bool:
    """Whether a step with the rotations of its start has gone wrong, at contacts or by what turned."""
    state = attempt.state
    if attempt.diverged_islands().any():
        return True
    # what was at rest is judged by the motion that it has got
    motion_energy = np.maximum(attempt.motion_energy, kinetic_energies(attempt.model, state.v))
    return bool((attempt.straight_line_turn_energy(state.x) > attempt.max_turn_energy_ratio * motion_energy).any())
