# SPDX-License-Identifier: GPL-3.0-or-later
"""A scene at one moment of its simulation: what is asked for, what was built of it, and where it is."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from ..contact.contact_loads import ContactLoads
from ..contact.contact_step import ContactStep
from ..contact.sleeping_contacts import all_contact_loads
from ..integrators.solver_context import SolverContext
from ..linalg.multigrid.hierarchy_reuse import ReusedHierarchy
from ..mechanics.state import State
from ..runtime.arrays import Bools, Floats
from ..scene.scene import Scene
from ..scene.time_scale import mean_speed
from ..scene.tracks import TrackReader
from .assembled_scene import AssembledScene
from .features.feature import FeatureStep

if TYPE_CHECKING:  # few scenes have brittle bodies
    from .brittle.step_contacts import PartContacts


@dataclass(frozen=True, eq=False)
class ExactContactResult:
    """What Exact contact did in a step.

    Attributes:
        loads: What contacts pressed with.
        let_in: Places at which colliders were let into bodies [m], (k, 3).
    """

    loads: ContactLoads
    let_in: Floats


@dataclass
class SimulatedScene:
    """What steps and frames move on (`advance_frame.py`, `step_halving.py`).

    Attributes:
        scene: What is asked for.
        tracks: Its animated inputs.
        built: What is constant during a step; a new one takes its place where a body breaks.
        state: Where it is; with `built` it holds all that the next step reads.
        contacts: Of the last step; no step reads them.
        exact_contact: The same of Exact contact.
        held_nodes: Those that something held in the last step, (n,), None: none; nor does one read these.
        part_contacts: Of the parts of the present step, where the scene has brittle bodies; empty between steps.
        solver_context: Work arrays and results that its steps reuse.
    """

    scene: Scene
    tracks: TrackReader
    built: AssembledScene
    state: State
    contacts: ContactStep | None = None
    exact_contact: ExactContactResult | None = None
    held_nodes: Bools | None = None
    part_contacts: list[PartContacts] = field(default_factory=list)
    solver_context: SolverContext = field(default_factory=lambda: SolverContext(ReusedHierarchy()))

    def feature_step(self, begin: float, end: float) -> FeatureStep:
        """Returns a step from one time to another [s] as features see it, before it is taken."""
        built = self.built
        return FeatureStep(
            scene=self.scene,
            tracks=self.tracks,
            built_model=built.model,
            unbroken_model=(built.unbroken or built).model,
            state=self.state,
            begin=begin,
            end=end,
            speed=self.mean_speed(begin, end),
            resting_bodies=built.resting_bodies,
            model=built.model,
        )

    def mean_speed(self, begin: float, end: float) -> float:
        """Returns the simulated time that passes from one time to another [s], over that time."""
        return mean_speed(self.scene.settings, self.tracks, begin, end)

    def contact_loads(self) -> ContactLoads:
        """Returns what contacts pressed with in the last step."""
        if self.exact_contact is not None:
            return self.exact_contact.loads
        return all_contact_loads(self.contacts, self.state) if self.contacts else ContactLoads()
