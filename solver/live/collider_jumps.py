# SPDX-License-Identifier: GPL-3.0-or-later
"""Tells a collider that is put elsewhere during a live run from one that moves, and bounds the speed of the latter.

A hand, a gizmo or an undo may put a collider elsewhere between two looks. As a motion within one step it would hit what
lies on its way with hundreds of metres a second. So whatever moves by more than its own size within a step teleports,
as at a cut in a bake (`contact/colliders/teleports.py`): it has no velocity, and what it comes to lie in is let out.

What moves by less may carry something, which a teleport would leave behind or below, and Escape puts back in one look
what was dragged for seconds. So it goes there at most with the speed of what has fallen by half the size L of the
largest body, √(g L), as which it throws up what lies on it by half that size.

A collider in a hand may press a body against another without limit, as a grab may pull. So while it moves and shortly
after, steps are halved as rarely as with a grab, and none ends the run.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable
from typing import ClassVar

import numpy as np

from ..constraints.force import Force
from ..contact.colliders.deforming_collider import DeformingCollider
from ..contact.colliders.rigid_colliders import BuiltCollider
from ..runtime.arrays import Floats

STANDARD_GRAVITY = 9.80665  # [m/s²], whatever that of the scene is: it says how fast a hand is


class ColliderHands(Force):
    """Says that somebody moves colliders; it pulls at nothing itself.

    Attributes:
        until: Time up to which it does [s].
    """

    kind: ClassVar[str] = "moved collider"

    def __init__(self, now: Callable[[], float]) -> None:
        """Takes what returns the present time of the simulation [s]."""
        self.until, self._now = -np.inf, now

    @property
    def may_squeeze(self) -> bool:
        """Whether a collider has moved a moment ago."""
        return self._now() < self.until


class ColliderJumps:
    """The colliders of a run, by the names of their tracks.

    Attributes:
        max_speed: That of a collider that does not jump [m/s].
    """

    def __init__(
        self, rigid: Iterable[BuiltCollider], deforming: Iterable[DeformingCollider], largest_body: float
    ) -> None:
        """Takes colliders and the size of the largest body [m]."""
        self._rigid = {f"collider.{each.key}.matrix": each for each in rigid}
        self._sizes = {f"collider.{each.key}.vertices": each.size for each in deforming}
        self.max_speed = math.sqrt(STANDARD_GRAVITY * largest_body)

    def has(self, track: str) -> bool:
        """Whether a track is that of a collider."""
        return track in self._rigid or track in self._sizes

    def is_jump(self, track: str, before: Floats, after: Floats) -> bool:
        """Returns whether a value of a track lies further from the one before than the collider is large."""
        rigid = self._rigid.get(track)
        size = self._sizes[track] if rigid is None else rigid.size
        return self._distance(track, before, after) > size

    def seconds(self, track: str, before: Floats, after: Floats) -> float:
        """Returns how long a collider needs at least from one value of its track to another without a jump [s]."""
        return self._distance(track, before, after) / self.max_speed

    def _distance(self, track: str, before: Floats, after: Floats) -> float:
        rigid = self._rigid.get(track)
        if rigid is not None:
            return rigid.displacement(before, after)
        return float(np.sqrt(((after - before) ** 2).sum(axis=1).mean()))

    def check(self, track: str, value: Floats, time: float) -> None:
        """Makes sure that a collider can be where a value of its track says at a time [s].

        Raises:
            BadInput: It changes its scale or shear, which only a collider that deforms may do.
        """
        rigid = self._rigid.get(track)
        if rigid is not None:
            rigid.rigid_pose(value, time)
