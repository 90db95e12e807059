# SPDX-License-Identifier: GPL-3.0-or-later
"""The strain of tets whose strain–displacement matrix B is that of the present shape.

NPF05 takes the same B for strain and force, f = −V R Bᵀ E B u with the displacement u = Rᵀ x − X in the tet's own axes,
so that f = −K u and K has no negative eigenvalue. Of a tet with F its strain is

    ε = B u = J I − sym(adj(RᵀF)),    adj(A) = det(A) A⁻¹,

which is sym(RᵀF) − I while it is small. With that strain in the force, tets that are inverted or stretched to a
multiple run away: of 216 single ones, let go in random shapes, 43 were lost; with this one none. What measures strain
as sym(RᵀF) − I is given tets of the gradient

    G = R (I + ε) = R (I + J I − adj(RᵀF)),

whose symmetric part in R is the same.

Source: Nesme, Payan and Faure 2005, (1) and section 3.1.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from ..arrays import Bools, Floats
from ..model import Model
from .frames import frames_of_body, has_present_gradients


def strained_gradient(F: Floats, R: Floats) -> Floats:
    """Returns G of tets with the deformation gradients F and rotations R, (k, 3, 3) each."""
    a, b, c = F[:, :, 0], F[:, :, 1], F[:, :, 2]
    adjugate = np.stack([np.cross(b, c), np.cross(c, a), np.cross(a, b)], axis=1)
    J = np.einsum("ti,ti->t", a, adjugate[:, 0])
    return (1.0 + J)[:, None, None] * R - R @ adjugate @ R


def as_strained(model: Model, x: Floats) -> tuple[Model, Floats]:
    """Returns a model and node positions [m] of which sym(RᵀF) − I is the strain that every tet has by its method.

    Tets with present gradients get four nodes of their own behind all others; where there are none, all is as given.
    """
    own = [
        body.tets for body, method in zip(model.bodies, model.methods, strict=False) if has_present_gradients(method)
    ]
    if not own:
        return model, x
    tets, Dm_inverse = model.tets.copy(), model.Dm_inverse.copy()
    added: list[Floats] = []
    for t in own:
        edges = x[model.tets[t, 1:]] - x[model.tets[t, :1]]
        G = strained_gradient(np.einsum("tai,taj->tij", edges, Dm_inverse[t]), frames_of_body(model, t, x))
        first = len(x) + 4 * sum(len(each) for each in added)
        tets[t] = np.arange(first, first + 4 * len(G)).reshape(-1, 4)
        Dm_inverse[t] = np.eye(3)
        added.append(np.concatenate([np.zeros((len(G), 1, 3)), np.swapaxes(G, 1, 2)], axis=1))
    moved = np.concatenate([x, *(each.reshape(-1, 3) for each in added)])
    return replace(model, tets=tets, Dm_inverse=Dm_inverse), moved


def at_their_nodes(model: Model, strained: Model, of_node: Bools) -> Bools:
    """Returns what is known of the nodes, (n,), for those of `as_strained`, whose added ones are copies."""
    if strained is model or not len(of_node):
        return of_node
    added = int(strained.tets.max()) + 1 - model.node_count
    copies = np.empty(max(added, 0), of_node.dtype)
    is_added = strained.tets >= model.node_count
    copies[strained.tets[is_added] - model.node_count] = of_node[model.tets[is_added]]
    return np.concatenate([of_node, copies])
