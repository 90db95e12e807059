# SPDX-License-Identifier: GPL-3.0-or-later
"""What is constant while rest shapes and moduli are: the matrix at rest, and the edges there."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from ...linalg.block_pattern import BlockPattern, UInt32s
from ...runtime.arrays import Floats
from ...runtime.frozen_memo import derived_from
from ...scene.formulation import EDGES, SPRINGS, FormulationSettings
from ..elements.edge_assembly import assemble
from ..elements.linear_element import compute_linear_records
from ..elements.record_layout import UNDAMPED_LENGTH, ElementArrays
from ..model import BodyRange, Model
from .spring_network import add_springs
from .vertex_rotations import chosen_edges

_PAIRS = [(a, b) for a in range(4) for b in range(4) if a != b]


@dataclass(frozen=True, eq=False)
class RestStiffness:
    """Of the bodies whose stiffness is warped; the rows of others mean nothing.

    Attributes:
        K: Blocks of the stiffness [N/m], (b, 9).
        push: Forces on the nodes with all of them in one place, Σ_j k_ij X_j [N], (n, 3); with what an initial strain
            makes of it.
        edges: From the node of a block's row to that of its column [m], (b, 3): where tets do not fit together, such
            as after plastic flow, their mean.
        selected_edges: Three of them per node, as blocks, (n, 3), or (0, 3) where no body asks for edge frames.
    """

    K: Floats
    push: Floats
    edges: Floats
    selected_edges: UInt32s


@dataclass(frozen=True, eq=False)
class UnrotatedShape:
    """What has made the shapes in which nodes are not turned from those in `Model.X`.

    Under stress at rest a body is not turned as it lies in `Model.X`, although its tets by themselves would be shaped
    otherwise. What has flowed, or follows an animated shape at rest, is not turned in its new shape.

    Attributes:
        Fp_inverse: Fp⁻¹ of the multiplicative law, (m, 3, 3); None: nothing has flowed by it.
        strain: Strain that has flowed by the additive law, as part of the model's `initial_strain`, (m, 6); None.
        reshaped: Keys of the bodies that follow an animated shape.
    """

    Fp_inverse: Floats | None = None
    strain: Floats | None = None
    reshaped: tuple[str, ...] = ()

    def edge_matrices(self, model: Model, Dm: Floats) -> Floats:
        """Returns the edge matrices of tets that are not turned [m], (m, 3, 3), from those of their present rest."""
        x = model.X[model.tets]
        seen = np.ascontiguousarray(np.swapaxes(x[:, 1:] - x[:, :1], 1, 2))
        if self.Fp_inverse is not None:
            seen = np.linalg.solve(self.Fp_inverse, seen)
        for body in model.bodies:
            if body.key in self.reshaped:
                seen[body.tets] = Dm[body.tets]
        if self.strain is not None:
            seen += self.strain[:, [0, 3, 5, 3, 1, 4, 5, 4, 2]].reshape(-1, 3, 3) @ seen
        return seen


AS_BUILT = UnrotatedShape()


def rest_stiffness(
    model: Model, bodies: list[tuple[BodyRange, FormulationSettings]], unturned: UnrotatedShape = AS_BUILT
) -> RestStiffness:
    """Returns what holds at rest, made anew only where something has changed.

    Args:
        model: All bodies.
        bodies: Those whose stiffness is warped.
        unturned: In which shapes these are not turned. What has flowed by the multiplicative law, and other shapes at
            rest, come with another `Dm_inverse`.
    """
    inputs = (model.Dm_inverse, model.volume, model.mu, model.lam, model.methods)
    # flow writes to these where they are
    strains = (model.initial_strain, np.zeros(0) if unturned.strain is None else unturned.strain)
    return derived_from(
        model.pattern,
        "rest_stiffness",
        lambda: _make_rest_stiffness(model, bodies, unturned),
        inputs=inputs,
        values=strains,
    )


def _make_rest_stiffness(
    model: Model, bodies: list[tuple[BodyRange, FormulationSettings]], unturned: UnrotatedShape
) -> RestStiffness:
    pattern, strain = model.pattern, model.initial_strain
    K, push = np.zeros((pattern.block_count, 9)), np.zeros((model.node_count, 3))
    Dm = _edge_matrices(model.Dm_inverse)
    for body, method in bodies:
        t, own = body.tets, strain[body.tets] if len(strain) else strain
        if method.network == SPRINGS:
            mu, lam = model.mu[t], model.lam[t]
            # where what is molten has no shear modulus, λ is all that it has
            youngs = mu * (3.0 * lam + 2.0 * mu) / np.maximum(lam + mu, np.finfo(float).tiny)
            for core in model.cores:  # rigid
                youngs[core.tets[(core.tets >= t.start) & (core.tets < t.stop)] - t.start] = 0.0
            add_springs(pattern, t, model.tets[t], Dm[t], own, youngs * model.volume[t], K, push)
        else:
            _add_tets(model, body, own, K, push)
    seen = unturned.edge_matrices(model, Dm)
    edges = _mean_edges(pattern, bodies, seen)
    uses_frames = any(method.rotation_field == EDGES for _, method in bodies)
    chosen = chosen_edges(pattern, seen) if uses_frames else np.zeros((0, 3), np.uint32)
    return RestStiffness(K, push, edges, chosen)


def _add_tets(model: Model, body: BodyRange, strain: Floats, K: Floats, push: Floats) -> None:
    """Writes the rows of a body: what linear tets feel with all nodes in one place, and their blocks."""
    t = body.tets
    records = np.zeros((model.tet_count, UNDAMPED_LENGTH))
    elements = ElementArrays(
        model.tets[t],
        model.Dm_inverse[t],
        model.volume[t],
        model.mu[t],
        model.lam[t],
        np.zeros(t.stop - t.start),
        strain,
    )
    compute_linear_records(np.zeros((model.node_count, 3)), elements, records[t])
    for core in model.cores:  # rigid
        records[core.tets] = 0.0
    assemble(1.0, 0.0, np.zeros(model.node_count), model.pattern, records, K, push, body.nodes)


def _edge_matrices(Dm_inverse: Floats) -> Floats:
    """Returns Dm [m], (m, 3, 3), of Dm⁻¹ by its cofactors."""
    g, h, i = Dm_inverse[:, 0], Dm_inverse[:, 1], Dm_inverse[:, 2]
    columns = np.stack([np.cross(h, i), np.cross(i, g), np.cross(g, h)], axis=2)
    return columns / np.einsum("mi,mi->m", g, columns[:, :, 0])[:, None, None]


def _mean_edges(pattern: BlockPattern, bodies: list[tuple[BodyRange, FormulationSettings]], Dm: Floats) -> Floats:
    """Returns per block the mean over tets of the edge that they have there [m], (b, 3), zero on the diagonal."""
    which = np.concatenate([np.arange(body.tets.start, body.tets.stop, dtype=np.int64) for body, _ in bodies])
    blocks = pattern.corner_block.reshape(-1, 4, 4)[which]
    corners = np.concatenate([np.zeros((len(which), 1, 3)), np.swapaxes(Dm[which], 1, 2)], axis=1)
    places = np.concatenate([blocks[:, a, b] for a, b in _PAIRS])
    along = np.concatenate([corners[:, b] - corners[:, a] for a, b in _PAIRS])
    count = np.maximum(np.bincount(places, minlength=pattern.block_count), 1)
    sums = [np.bincount(places, along[:, axis], minlength=pattern.block_count) / count for axis in range(3)]
    return np.ascontiguousarray(np.stack(sums, axis=1))
