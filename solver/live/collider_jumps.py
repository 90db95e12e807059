# SPDX-License-Identifier: GPL-3.0-or-later
"""Tells a collider that is put elsewhere during a live run from one that moves.

A hand, a gizmo or an undo may put a collider elsewhere between two looks. As a motion within one step it would hit what
lies on its way with hundreds of metres a second. So whatever moves by more than its own size within a step teleports,
as at a cut in a bake (`contact/colliders/teleports.py`): it has no velocity, and what it comes to lie in is let out.

A collider in a hand may press a body against another without limit, as a grab may pull. So while it moves and shortly
after, steps are halved as rarely as with a grab, and none ends the run.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import ClassVar

import numpy as np

from ..constraints.force import Force
from ..contact.colliders.deforming_collider import DeformingCollider
from ..contact.colliders.rigid_colliders import BuiltCollider
from ..runtime.arrays import Floats


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
    """The colliders of a run, by the names of their tracks."""

    def __init__(self, rigid: Iterable[BuiltCollider], deforming: Iterable[DeformingCollider]) -> None:
        self._rigid = {f"collider.{each.key}.matrix": each for each in rigid}
        self._sizes = {f"collider.{each.key}.vertices": each.size for each in deforming}

    def has(self, track: str) -> bool:
        """Whether a track is that of a collider."""
        return track in self._rigid or track in self._sizes

    def is_jump(self, track: str, before: Floats, after: Floats) -> bool:
        """Returns whether a value of a track lies further from the one before than the collider is large."""
        rigid = self._rigid.get(track)
        if rigid is not None:
            return rigid.displacement(before, after) > rigid.size
        size = self._sizes.get(track)
        return size is not None and float(np.sqrt(((after - before) ** 2).sum(axis=1).mean())) > size

    def check(self, track: str, value: Floats, time: float) -> None:
        """Makes sure that a collider can be where a value of its track says at a time [s].

        Raises:
            BadInput: It changes its scale or shear, which only a collider that deforms may do.
        """
        rigid = self._rigid.get(track)
        if rigid is not None:
            rigid.rigid_pose(value, time)
