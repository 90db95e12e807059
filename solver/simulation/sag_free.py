# SPDX-License-Identifier: GPL-3.0-or-later
"""Gravity Already in Shape: the first frame is in balance, since the shape was made with its sag.

Let u be how far the body would sag if it were made without: K u = f_gravity, with the stiffness K of the first
frame and of all that bears the body there: held nodes, pin springs, and the contacts that touch. Then tets under the
stress of the strain sym(∇u) push back with just f_gravity where they are; `solver/mechanics/prestress.py` gives it to
them. Springs and contacts get the share that they bear: their targets are shifted by −u, and the gaps of contacts so
that they push at once.

Only contacts that push count, and sticking ones bear no more than Coulomb's μ N; both are found by solving again.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from ..constraints.pins import BodyPins
from ..constraints.point_forces import PointForces
from ..contact.initial.support_contacts import MAX_SLIDING_FORCE_CHANGE, SupportContacts
from ..linalg.block_system import BlockSystem, StoppingCriteria
from ..linalg.pcg import solve
from ..linalg.point_stiffness_assembly import add_point_terms
from ..mechanics.elements.corotational_element import compute_corotational_records
from ..mechanics.elements.edge_assembly import assemble
from ..mechanics.elements.record_layout import UNDAMPED_LENGTH, element_arrays
from ..mechanics.model import Model
from ..mechanics.prestress import with_prestress
from ..mechanics.state import State
from ..runtime.arrays import Bools, Floats

RESIDUAL_TOLERANCE = 1.0e-11  # relative residual: what is left over is what moves in the first frames
MAX_ITERATIONS = 20_000
MAX_SUPPORT_SOLVES = 100  # solves to find which contacts bear
# smallest over largest stiffness against moving as a whole, below which a body is free
MIN_SUPPORT_STIFFNESS_RATIO = 1.0e-10


@dataclass(frozen=True)
class SagFreeModel:
    """What keeps the first frame still.

    Attributes:
        model: All bodies, under stress at rest.
        pins: With shifted springs.
        free_bodies: Which of the bodies nothing holds; they fall.
    """

    model: Model
    pins: tuple[BodyPins, ...]
    free_bodies: tuple[int, ...]


def make_sag_free(
    model: Model,
    state: State,
    pins: tuple[BodyPins, ...],
    pin_stiffness: list[float],
    bearings: SupportContacts,
    wanted: list[int],
    gravity: Floats,
    dt: float,
) -> SagFreeModel:
    """Gives the bodies `wanted` the strain that bears gravity [m/s²], (3,), at their first frame.

    Args:
        model: All bodies.
        state: The first frame; what contacts bear is written into its memory.
        pins: Of the bodies, with their stiffness at the first frame `pin_stiffness` [1/s²].
        bearings: Contacts of the bodies wanted.
        wanted: Which bodies of the model.
        gravity: At the first frame.
        dt: Length of a step [s], which the stiffness of contacts and pivots depends on.
    """
    is_free = np.zeros(model.node_count, bool)
    for number in wanted:
        is_free[model.bodies[number].nodes] = True
    springs = []
    for pin, stiffness in zip(pins, pin_stiffness, strict=True):
        if stiffness > 0.0:
            is_free[pin.fixed_nodes] = False
            springs.append(pin.spring_forces(state, model, pin.rest, stiffness, dt))
    springs_held = PointForces.concatenate(PointForces(), *springs)
    has_fixed_nodes = [not is_free[body.nodes].all() for body in model.bodies]

    free: set[int] = set()
    u = np.zeros_like(model.X)
    for _ in range(MAX_SUPPORT_SOLVES):
        contacts = bearings.springs()
        together = PointForces.concatenate(springs_held, contacts)
        for number in wanted:
            if not has_fixed_nodes[number] and number not in free and not _is_supported(model, number, together):
                free.add(number)
                is_free[model.bodies[number].nodes] = False
        _sag_displacements(model, is_free, together, gravity, u)
        if not bearings.update(contacts.positions(u, model.tets)):
            break
    if bearings.force_change > MAX_SLIDING_FORCE_CHANGE:  # contacts that never come to rest bear nothing for long
        free |= {number for number in wanted if not has_fixed_nodes[number]}
    for number in free:
        u[model.bodies[number].nodes] = 0.0

    bearings.remember(state, contacts.positions(u, model.tets))
    shifted = tuple(pin.with_sag(model, u) for pin in pins)
    return SagFreeModel(with_prestress(model, linear_strain(model, u)), shifted, tuple(sorted(free)))


def linear_strain(model: Model, u: Floats) -> Floats:
    """Returns sym(∇u) of node displacements u [m] as xx, yy, zz, xy, yz, zx, (m, 6)."""
    corners = u[model.tets]
    gradient = np.einsum("tai,taj->tij", corners[:, 1:] - corners[:, :1], model.Dm_inverse)
    e = 0.5 * (gradient + np.swapaxes(gradient, 1, 2))
    return np.ascontiguousarray(
        np.stack([e[:, 0, 0], e[:, 1, 1], e[:, 2, 2], e[:, 0, 1], e[:, 1, 2], e[:, 2, 0]], axis=1)
    )


def _sag_displacements(model: Model, is_free: Bools, points: PointForces, gravity: Floats, u: Floats) -> None:
    """Solves K u = f_gravity for u [m], (n, 3), from what it holds; zero at nodes that are not free."""
    pattern = model.pattern
    records = np.empty((model.tet_count, UNDAMPED_LENGTH))
    values, force = np.empty((pattern.block_count, 9)), np.empty((model.node_count, 3))
    u[~is_free] = 0.0
    if not is_free.any():
        return
    elements = element_arrays(model)._replace(lam=model.lam, initial_strain=np.zeros((0, 6)))
    compute_corotational_records(model.X, elements, records)
    assemble(1.0, 0.0, np.zeros(model.node_count), pattern, records, values, force)
    b = (model.mass * model.gravity_scale)[:, None] * gravity
    none = np.zeros_like(points.stiffness)
    add_point_terms(
        1.0, points.tet, points.weights, points.stiffness, none, np.zeros((len(points), 3)), model.tets,
        pattern.corner_block, values, b,
    )  # fmt: skip
    solve(BlockSystem(pattern, values, b, is_free), u, StoppingCriteria(RESIDUAL_TOLERANCE, MAX_ITERATIONS))


def _is_supported(model: Model, number: int, points: PointForces) -> bool:
    """Whether points keep a body from moving and turning as a whole."""
    nodes = model.bodies[number].nodes
    mine = np.flatnonzero((model.tets[points.tet, 0] >= nodes.start) & (model.tets[points.tet, 0] < nodes.stop))
    if not len(mine):
        return False
    X = model.X[nodes]
    middle, size = X.mean(axis=0), np.ptp(X, axis=0).max()
    x, y, z = ((points.positions(model.X, model.tets)[mine] - middle) / size).T
    o = np.zeros_like(x)
    turning = np.stack([np.stack([o, z, -y]), np.stack([-z, o, x]), np.stack([y, -x, o])]).transpose(2, 0, 1)
    motion = np.concatenate([np.broadcast_to(np.eye(3), turning.shape), turning], axis=2)
    bearing = np.einsum("kia,kij,kjb->ab", motion, points.stiffness[mine], motion)
    sizes = np.linalg.eigvalsh(bearing)
    return bool(sizes[0] > MIN_SUPPORT_STIFFNESS_RATIO * sizes[-1] and sizes[-1] > 0.0)
