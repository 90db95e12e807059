# SPDX-License-Identifier: GPL-3.0-or-later
"""Breaks a body into about as many pieces as an artist asks for, where a hit breaks it at all.

Whether it falls apart is decided by its material. Into how many pieces is then found by trial: the same hits on the
same body with its breaking stress and toughness times a factor, which is doubled or halved until there are too few
pieces or too many, and then halved in its logarithm. The trial with the nearest number of pieces is what happens.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from .break_body import Breakage, break_body
from .brittle_body import BrittleBody
from .crack_progress import OnStressSolve
from .cracked_mesh import CrackedMesh
from .hit import Hit
from .rigid_mass import RigidMotion

MAX_DOUBLINGS = 5  # of the factor, or halvings
BISECTIONS = 4
CLOSE_ENOUGH = 0.1  # of the wanted number, by which no other trial is made


def break_into(
    body: BrittleBody,
    hits: Sequence[Hit],
    motion: RigidMotion,
    cracked: CrackedMesh,
    wanted: int,
    on_solve: OnStressSolve = lambda solves, pieces: None,
) -> Breakage:
    """Returns what becomes of a body under hits; see `break_body`.

    Args:
        body: While it was whole, where it is now.
        hits: What hits it.
        motion: How it moves before they do.
        cracked: Cracks that it has.
        wanted: About how many pieces, dust not counted; 0: as many as come of it.
        on_solve: Called before every stress solve.
    """
    found = break_body(body, hits, motion, cracked, on_solve)
    if not wanted or count_without_dust(body, found) < 2:
        return found
    trials = _Trials(body, hits, motion, cracked, max(wanted, 2), found, on_solve)
    log_step = math.log(2.0) if trials.has_too_many(found) else -math.log(2.0)
    near, far = 0.0, 0.0
    for number in range(1, MAX_DOUBLINGS + 1):
        if trials.is_done:
            return trials.best
        near, far = far, number * log_step
        if trials.has_too_many(trials.at(far)) != (log_step > 0.0):
            break
    for _ in range(BISECTIONS):
        if trials.is_done:
            break
        middle = 0.5 * (near + far)
        if trials.has_too_many(trials.at(middle)) == (log_step > 0.0):
            near = middle
        else:
            far = middle
    return trials.best


def count_without_dust(body: BrittleBody, breakage: Breakage) -> int:
    """Returns into how many pieces a body has fallen, dust not counted."""
    return sum(not body.is_dust(piece.tets) for piece in breakage.pieces)


class _Trials:
    """Breaks a body with other strengths, and keeps what came nearest to the wanted number of pieces."""

    def __init__(
        self,
        body: BrittleBody,
        hits: Sequence[Hit],
        motion: RigidMotion,
        cracked: CrackedMesh,
        wanted: int,
        found: Breakage,
        on_solve: OnStressSolve,
    ) -> None:
        """Begins with what comes of the material itself."""
        self.body, self.hits, self.motion, self.cracked, self.wanted = body, hits, motion, cracked, wanted
        self.best, self.on_solve = found, on_solve

    @property
    def is_done(self) -> bool:
        """Whether the best trial is near enough."""
        return self._off(self.best) <= CLOSE_ENOUGH * self.wanted

    def has_too_many(self, breakage: Breakage) -> bool:
        """Whether there are more pieces than wanted."""
        return count_without_dust(self.body, breakage) > self.wanted

    def at(self, logarithm: float) -> Breakage:
        """Returns what comes of a material that is stronger by the factor of a logarithm."""
        material, factor = self.body.material, math.exp(logarithm)
        other = replace(
            material, breaking_stress=factor * material.breaking_stress, toughness=factor * material.toughness
        )
        body = replace(self.body, material=other)
        made = break_body(body, self.hits, self.motion, CrackedMesh(body, self.cracked.is_parted), self.on_solve)
        if count_without_dust(self.body, made) > 1 and self._off(made) < self._off(self.best):
            self.best = made
        return made

    def _off(self, breakage: Breakage) -> float:
        return float(np.abs(count_without_dust(self.body, breakage) - self.wanted))
