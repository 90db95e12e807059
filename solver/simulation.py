# SPDX-License-Identifier: GPL-3.0-or-later
"""A simulation at one moment: what is asked for, what was built of it, and where it is."""

from __future__ import annotations

from dataclasses import field

from .build import Built
from .contact.pressed import Pressed, pressed
from .contact.response import ContactStep
from .late_dataclass import dataclass
from .linear.multigrid.kept import KeptLevels
from .scene import Scene
from .state import State
from .tracks import TrackReader


@dataclass
class Simulation:
    """What `advance_frame` moves on.

    Attributes:
        scene: What is asked for.
        tracks: Its animated inputs.
        built: What is constant during a step; a new one takes its place where a body breaks.
        state: Where it is; with `built` it holds all that the next step reads.
        contacts: Of the last step; no step reads them.
        kept: What multigrid keeps from step to step of a frame.
    """

    scene: Scene
    tracks: TrackReader
    built: Built
    state: State
    contacts: ContactStep | None = None
    kept: KeptLevels = field(default_factory=KeptLevels)

    def copy(self) -> Simulation:
        """Returns a simulation that can be moved on without moving this one."""
        return Simulation(self.scene, self.tracks, self.built, self.state.copy(), self.contacts)

    def put_back(self, earlier: Simulation) -> None:
        """Takes what was built and the state from an earlier copy."""
        self.built, self.state, self.contacts = earlier.built, earlier.state, earlier.contacts

    def pressed(self) -> Pressed:
        """Returns what contacts pressed with in the last step."""
        return pressed(self.contacts) if self.contacts else Pressed()
