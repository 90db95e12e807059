# SPDX-License-Identifier: GPL-3.0-or-later
"""Places of a body that a hand can take: its render vertices, and nodes on its cracks.

The inside of a torn piece has no render vertices, and the nearest one may be on the other piece. Vertices of the torn
mesh do not count, since the clock decides when it is cut, and a run has to repeat to the bit.
"""

from __future__ import annotations

import numpy as np

from ..mesh.embedding import Binding
from ..runtime.arrays import Floats, Indices
from ..simulation.simulation import Simulation


def places_of(simulation: Simulation, number: int) -> tuple[Binding, Floats]:
    """Returns places of the body of a number, in tets of the model, and where they are now [m], (k, 3)."""
    built = simulation.built
    body = built.bodies[number]
    first = np.int32(body.range.tets.start)
    vertices = Binding(body.binding.tet + first, body.binding.weights)
    here: Floats = simulation.positions()[body.key]
    if built.unbroken is None:
        return vertices, here
    tets = built.model.tets
    on_cracks = crack_nodes(body.mesh.tets, tets[body.range.tets])
    tet = on_cracks.tet + first
    inside = np.einsum("ka,kai->ki", on_cracks.weights, simulation.state.x[tets[tet]])
    both = Binding(np.concatenate([vertices.tet, tet]), np.concatenate([vertices.weights, on_cracks.weights]))
    return both, np.concatenate([here, inside])


def crack_nodes(whole: Indices, tets: Indices) -> Binding:
    """Returns the nodes of which cracks have made several, each as a point of one of its tets.

    Args:
        whole: Nodes of the tets before anything broke, (m, 4).
        tets: Nodes of the same tets now, (m, 4).
    """
    _, corner = np.unique(tets, return_index=True)
    before = whole.ravel()[corner]
    corner = corner[np.bincount(before)[before] > 1]
    tet, of_tet = np.divmod(corner, 4)
    weights = np.zeros((len(corner), 4))
    weights[np.arange(len(corner), dtype=np.int64), of_tet] = 1.0
    return Binding(tet.astype(np.int32), weights)
