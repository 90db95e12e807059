# SPDX-License-Identifier: GPL-3.0-or-later
"""Whether flesh is asked for the very pose that it was asked for in the sample before.

Then it stays where it is, and what was told of it holds on: a solve that spent its tries would spend them again, and
one that came to rest might find another rest. What was asked is kept as a digest, so a resumed bake does the same.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterable
from typing import NamedTuple

import numpy as np

from ...mechanics.state import State
from ...mechanics.state_fields import FAILED_BODIES_FIELD, INPUT_DIGEST_FIELD, PENALTY_FIELD, RESULT_FIELD
from ...runtime.arrays import Bools, Floats
from .pose_equilibrium import PoseEquilibrium


class PoseResult(NamedTuple):
    """What the state keeps of a `PoseEquilibrium`, whose attributes these are."""

    residual: float
    converged: bool
    inverted_tets: int
    contacts: int
    max_depth: float
    residuals: tuple[float, ...]

    @staticmethod
    def of(found: PoseEquilibrium) -> PoseResult:
        """Returns the result of a solve."""
        return PoseResult(*(getattr(found, name) for name in PoseResult._fields))

    def pack(self) -> Floats:
        """Returns all numbers in order, (5 + b,) for b bodies."""
        *numbers, residuals = self
        return np.array([*numbers, *residuals], np.float64)

    @staticmethod
    def unpack(packed: Floats, body_count: int) -> PoseResult | None:
        """Returns the result of as many bodies from its numbers; None: these are of another number of bodies."""
        number_count = len(PoseResult._fields) - 1
        if len(packed) != number_count + body_count:
            return None
        residual, converged, inverted_tets, contacts, max_depth = packed[:number_count].tolist()
        residuals = tuple(packed[number_count:].tolist())
        return PoseResult(residual, bool(converged), int(inverted_tets), int(contacts), max_depth, residuals)


def input_digest(asked: Iterable[np.ndarray], x: Floats, is_lost: Bools) -> np.ndarray:
    """Returns the SHA-256 of all that decides a pose: what is asked, node positions x [m], bodies lost, (32,)."""
    digest = hashlib.sha256()
    for values in (*asked, x, is_lost):
        digest.update(f"{values.dtype.str}{values.shape}".encode())
        digest.update(np.ascontiguousarray(values).data.cast("B") if values.size else b"")
    return np.frombuffer(digest.digest(), np.uint8).copy()


def reuse_equilibrium(state: State, asked: Iterable[np.ndarray], x: Floats, may_go_on: bool) -> PoseEquilibrium | None:
    """Returns how flesh at x [m], (n, 3), rests as it did, with no new iterations; None where it has to be found.

    Args:
        state: What `store_equilibrium` wrote is read.
        asked: All that decides about the pose.
        x: Where it is since the sample before.
        may_go_on: Whether a solve that did not arrive goes on even so.
    """
    packed, is_lost = state.fields.get(RESULT_FIELD), state.fields.get(FAILED_BODIES_FIELD)
    if INPUT_DIGEST_FIELD not in state.fields or packed is None or is_lost is None:
        return None
    result = PoseResult.unpack(packed, len(is_lost))
    if result is None or (may_go_on and not result.converged):
        return None
    if not np.array_equal(state.fields[INPUT_DIGEST_FIELD], input_digest(asked, x, is_lost)):
        return None
    return PoseEquilibrium(
        x=x,
        is_failed=is_lost,
        newton_iterations=0,
        cg_iterations=0,
        next_penalty_factor=next_penalty_factor(state),
        **result._asdict(),
    )


def next_penalty_factor(state: State) -> float:
    """Returns the factor on the contact penalty with which the next solve begins."""
    return float(state.fields[PENALTY_FIELD][0]) if PENALTY_FIELD in state.fields else 1.0


def store_equilibrium(state: State, asked: Iterable[np.ndarray], found: PoseEquilibrium) -> None:
    """Keeps in the state what was asked of flesh, where it came to rest, and what is told of that."""
    state.fields[INPUT_DIGEST_FIELD] = input_digest(asked, found.x, found.is_failed)
    state.fields[RESULT_FIELD] = PoseResult.of(found).pack()
    state.fields[FAILED_BODIES_FIELD] = found.is_failed
    if found.next_penalty_factor > 1.0:
        state.fields[PENALTY_FIELD] = np.array([found.next_penalty_factor])
    else:
        state.fields.pop(PENALTY_FIELD, None)
