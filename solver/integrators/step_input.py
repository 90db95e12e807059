# SPDX-License-Identifier: GPL-3.0-or-later
"""What a time step starts from: bodies and state, external forces, callbacks for contacts, options, work arrays."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from ..constraints.external_forces import ExternalForces
from ..mechanics.model import Model
from ..mechanics.state import State
from ..runtime.arrays import Bools, Floats
from ..scene.scene import Settings
from .solver_context import StepWorkspace

if TYPE_CHECKING:
    from .dynamic_flesh_forces import DynamicFlesh

ContactUpdate = Callable[..., ExternalForces | None]
ContactLineSearch = Callable[[Floats, Floats, Floats, Floats], bool]
OnIteration = Callable[[int, float], None]


@dataclass(frozen=True, eq=False)
class ContactCallbacks:
    """What a step asks the contacts of its bodies.

    Attributes:
        update: Takes x⁺ [m] and v⁺ [m/s] of a solve, (n, 3) each, and returns the external forces of the next solve
            (contacts opened, closed or slid), or None when the contacts agree with the solve. A step that is
            relinearised also passes which islands have to be solved again, (k,), and one that turns rigid cores where
            the solve had them (`ChordEnds`). None: there are no contacts.
        line_search: Called before `update` after every solve but the first, with v⁺ of the solve before, v⁺ and x⁺,
            (n, 3) each, and dᵀ A d per island, (k,), for the difference d of the two velocities. It may shorten d by
            changing v⁺ and x⁺, and returns whether it did. Steps with flesh do not call it.
        substep_forces: Returns the external forces for flesh in Newmark substeps, which decide by themselves when a
            contact pushes. Set it where such flesh may touch other bodies; the other forces then are those for implicit
            Euler.
        take_motion: Takes, before `update`, the velocities along straight lines that a solve gave [m/s], and where
            nodes are after turns [m], (n, 3) each; None: nothing asks for them.
    """

    update: ContactUpdate | None = None
    line_search: ContactLineSearch | None = None
    substep_forces: Callable[[], ExternalForces] | None = None
    take_motion: Callable[[Floats, Floats], None] | None = None


NO_CONTACTS = ContactCallbacks()


@dataclass(frozen=True, eq=False)
class StepOptions:
    """How a step is solved.

    Attributes:
        max_solves: Most linear solves.
        flesh: Hyperelastic bodies, including those whose formulation is hyperelastic; None: the latter alone.
        relinearises: Whether rotations are updated between the solves of the step (`system/relinearised_step.py`); not
            with flesh.
        makes_rotations: Whether islands then rotate rigidly instead of along straight lines, and residuals are relative
            to the motion.
        may_abandon: Whether the step may end early, to be taken in shorter ones, when something stiff rotates far.
        on_iteration: Called with the number of solves and the residual before every solve of a step with flesh. An
            exception from it leaves the state unchanged.
    """

    max_solves: int = 8
    flesh: DynamicFlesh | None = None
    relinearises: bool = False
    makes_rotations: bool = False
    may_abandon: bool = False
    on_iteration: OnIteration = field(default=lambda solves, residual: None)


DEFAULT_OPTIONS = StepOptions()


@dataclass(frozen=True, eq=False)
class StepInput:
    """One step of one scheme.

    Attributes:
        model: The bodies; BDF2 scales their masses and damping.
        state: Start of the step; the step changes it.
        external_forces: What acts in the first solve.
        dt: Δt [s].
        settings: `tolerance` and `max_iterations` count.
        workspace: Arrays that the step writes.
        contacts: Callbacks.
        options: How to solve.
        linearisation_point: Where forces and rotations are linearised [m], (n, 3); None: at the start of the step.
        straight_islands: Islands by BDF2, whose end is not rotated as if they had flown from x, (k,); None: none.
    """

    model: Model
    state: State
    external_forces: ExternalForces
    dt: float
    settings: Settings
    workspace: StepWorkspace
    contacts: ContactCallbacks = NO_CONTACTS
    options: StepOptions = DEFAULT_OPTIONS
    linearisation_point: Floats | None = None
    straight_islands: Bools | None = None
