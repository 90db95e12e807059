# SPDX-License-Identifier: GPL-3.0-or-later
"""The arrays of rigid cores in a cache."""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np

from ..mechanics.rigid_core import RigidCore
from ..runtime.arrays import Indices


def core_arrays(cores: Iterable[RigidCore], tets: slice) -> dict[str, Indices]:
    """Returns what a cache keeps of the core of a body: `core_tets`, in its own numbers; nothing where it has none.

    Args:
        cores: Of all bodies.
        tets: Those of the body.
    """
    for core in cores:
        if tets.start <= core.tets[0] < tets.stop:
            return {"core_tets": core.tets - np.int32(tets.start)}
    return {}
