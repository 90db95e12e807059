# SPDX-License-Identifier: GPL-3.0-or-later
"""How a step of Exact contact is solved, and how it went."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Protocol

from ...contact.exact.conservative_advancement import SafeDistance
from ...contact.exact.contact_potential import ContactBarrier
from ...contact.exact.excluded_features import ExcludedFeatures
from ...contact.exact.friction import PairForces, RememberedShear
from ...contact.exact.pair_search import PairSearch
from ...runtime.arrays import Floats
from .bound_surfaces import BoundSurfaces


class YieldingSurfaces(Protocol):
    """What of surfaces moves in the material where pairs push it too hard."""

    def yielded(self, bound: BoundSurfaces, search: PairSearch, x: Floats, collider: Floats) -> BoundSurfaces | None:
        """Returns the surfaces after what is pushed too hard has given way; None: nothing is.

        Args:
            bound: The surfaces before.
            search: Of pairs of these.
            x: Nodes [m], (n, 3).
            collider: Vertices of colliders [m], (v, 3).
        """


@dataclass(frozen=True)
class ExactContactOptions:
    """How a step is solved.

    Attributes:
        barrier: What pushes surfaces apart.
        safe: How close they may come.
        tolerance: Motion of an iteration from which on the step has converged [m].
        max_iterations: Iterations at most, but for those that bring bodies on by a good part of the gap.
        max_under_way: How many of these do not count at most: what slides or turns on what is near goes on by about the
            gap in an iteration, however far it has to go in the step.
        max_lags: How often the forces of friction are taken anew at most.
        yielding: What of surfaces gives way once a step has converged, which then goes on; None: nothing does.
        max_yields: How often it does at most; each time a step may take as many iterations again.
    """

    barrier: ContactBarrier
    safe: SafeDistance
    tolerance: float
    max_iterations: int = 100
    max_under_way: int = 400
    max_lags: int = 4
    yielding: YieldingSurfaces | None = None
    max_yields: int = 40


@dataclass(frozen=True)
class ExactContactReport:
    """How a step went.

    Attributes:
        iterations: Newton iterations.
        linear_iterations: Of conjugate gradients, in all of them.
        residual: Relative, of the last linear solve.
        converged: Whether the last motion was within the tolerance, and colliders arrived.
        pairs: Pairs within the gap at the end.
        lags: How often the forces of friction were taken anew.
        shear: What pairs remember.
        excluded: What is not kept apart in the next step.
        let_in: How many features the step excluded, since colliders had no other way.
        forces: What pairs push with at the end.
    """

    iterations: int
    linear_iterations: int
    residual: float
    converged: bool
    pairs: int
    lags: int
    shear: RememberedShear
    excluded: ExcludedFeatures
    let_in: int
    forces: PairForces
