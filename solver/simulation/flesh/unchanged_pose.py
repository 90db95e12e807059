# SPDX-License-Identifier: GPL-3.0-or-later
"""Whether flesh is asked for the very pose that it was asked for in the sample before.

Then it stays where it is, and what was told of it holds on: a solve that spent its tries would spend them again, and
one that came to rest might find another rest. What was asked is kept as a digest, so a resumed bake does the same.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterable

import numpy as np

from ...mechanics.state import State
from ...mechanics.state_fields import FAILED_BODIES_FIELD, INPUT_DIGEST_FIELD, RESULT_FIELD
from ...runtime.arrays import Bools, Floats
from .pose_equilibrium import PoseEquilibrium


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
    told, is_lost = state.fields.get(RESULT_FIELD), state.fields.get(FAILED_BODIES_FIELD)
    if INPUT_DIGEST_FIELD not in state.fields or told is None or is_lost is None or len(told) != 5 + len(is_lost):
        return None
    converged = bool(told[1])
    if (may_go_on and not converged) or not np.array_equal(
        state.fields[INPUT_DIGEST_FIELD], input_digest(asked, x, is_lost)
    ):
        return None
    return PoseEquilibrium(
        x=x,
        residual=float(told[0]),
        residuals=tuple(told[5:].tolist()),
        converged=converged,
        is_failed=is_lost,
        inverted_tets=int(told[2]),
        newton_iterations=0,
        cg_iterations=0,
        contacts=int(told[3]),
        max_depth=float(told[4]),
    )


def store_equilibrium(state: State, asked: Iterable[np.ndarray], found: PoseEquilibrium) -> None:
    """Keeps in the state what was asked of flesh, where it came to rest, and what is told of that."""
    numbers = (found.residual, found.converged, found.inverted_tets, found.contacts, found.max_depth)
    state.fields[INPUT_DIGEST_FIELD] = input_digest(asked, found.x, found.is_failed)
    state.fields[RESULT_FIELD] = np.array([*numbers, *found.residuals], np.float64)
    state.fields[FAILED_BODIES_FIELD] = found.is_failed
