# SPDX-License-Identifier: GPL-3.0-or-later
"""Fast transforms between nodal values and hierarchical ones: one sweep over the middles of edges each.

In the hierarchical basis a node in the middle of an edge has what its value differs by from the mean of its parents'.
With x = S h, S takes hierarchical values to nodal ones, and Sᵀ forces on nodes to forces on hierarchical values.

Source: Yserentant 1986, On the multi-level splitting of finite element spaces, section 3.
"""

from __future__ import annotations

from ...runtime.jit import kernel
from ...runtime.simd.vec3 import vec3_axpy, vec3_load, vec3_store


@kernel()
def to_nodal(first, parents, values):
    """Puts S h in the place of h, (n, 3); the node of row k of `parents` is first + k."""
    for k in range(len(parents)):
        i, p, q = 3 * (first + k), 3 * parents[k, 0], 3 * parents[k, 1]
        vec3_store(
            values, i, vec3_axpy(vec3_axpy(vec3_load(values, i), 0.5, vec3_load(values, p)), 0.5, vec3_load(values, q))
        )


@kernel()
def to_hierarchical(first, parents, values):
    """Puts S⁻¹ x in the place of x, (n, 3)."""
    for k in range(len(parents) - 1, -1, -1):
        i, p, q = 3 * (first + k), 3 * parents[k, 0], 3 * parents[k, 1]
        vec3_store(
            values,
            i,
            vec3_axpy(vec3_axpy(vec3_load(values, i), -0.5, vec3_load(values, p)), -0.5, vec3_load(values, q)),
        )


@kernel()
def gather_forces(first, parents, values):
    """Puts Sᵀ f in the place of f, (n, 3)."""
    for k in range(len(parents) - 1, -1, -1):
        own, p, q = vec3_load(values, 3 * (first + k)), 3 * parents[k, 0], 3 * parents[k, 1]
        vec3_store(values, p, vec3_axpy(vec3_load(values, p), 0.5, own))
        vec3_store(values, q, vec3_axpy(vec3_load(values, q), 0.5, own))
