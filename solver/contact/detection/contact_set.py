# SPDX-License-Identifier: GPL-3.0-or-later
"""The contacts of one step: which point touches what, in which plane, and how strongly the contact acts.

All contacts share these types: those of points with rigid colliders, those of points and edges with surfaces. Kernels
take their arrays as `ContactArrays` and `ContactStateArrays`.
"""

from __future__ import annotations

import functools
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from ...constraints.tet_pair_springs import MAX_TETS_PER_CONTACT, PairTets
from ...runtime.arrays import Bools, Floats, Indices
from ...runtime.kernel_argument_tuple import kernel_tuple
from .contact_binding import AttachedContacts

Int64s = npt.NDArray[np.int64]
Int8s = npt.NDArray[np.int8]

PLANE_FIELDS = ("id", "normal", "gap", "carried", "side")


class ContactArrays(NamedTuple):
    """The arrays of a `ContactSet`, which has their meaning, as kernels take them."""

    id: Int64s
    normal: Floats
    gap: Floats
    carried: Floats
    side: Int8s


@dataclass
class ContactSet:
    """The planes of k contacts. `colliders/collider_narrow_phase.py` has the formula of the gap.

    Attributes:
        id: Rising, (k,) int64. With rigid colliders: collider · (number of points) + point. With surfaces: the id of
            the search, plus (number of rigid colliders) · (number of points); so these come last.
        normal: n at the end of the step, away from the other side, (k, 3).
        gap: Distance of the point when the other side carries it along [m], (k,).
        carried: c, the position to which a collider carries the point; between tets p − q at the start [m], (k, 3).
        side: Side of an open sheet on which the point is, 1 or −1, (k,) int8.
        triangle, place: The triangle on the other side, −1 for rigid colliders, and the barycentric weights of q in it,
            (k,) and (k, 3); None where the scene has no surfaces.
    """

    id: Int64s
    normal: Floats
    gap: Floats
    carried: Floats
    side: Int8s
    triangle: Indices | None = None
    place: Floats | None = None

    def __len__(self) -> int:
        return len(self.id)

    @functools.cached_property
    def arrays(self) -> ContactArrays:
        """The planes as kernels take them; a field is never replaced, so they stay the same."""
        return ContactArrays(self.id, self.normal, self.gap, self.carried, self.side)

    def select(self, which: npt.NDArray) -> ContactSet:
        """Returns some of the contacts, by mask or index."""
        id, normal, gap = self.id[which], self.normal[which], self.gap[which]
        if self.triangle is None or self.place is None:
            return ContactSet(id, normal, gap, self.carried[which], self.side[which])
        on_surface = self.triangle[which], self.place[which]
        return ContactSet(id, normal, gap, self.carried[which], self.side[which], *on_surface)

    @staticmethod
    def concatenate(groups: list[ContactSet]) -> ContactSet:
        """Returns the contacts of all groups, in order."""
        with_surfaces = any(group.triangle is not None for group in groups)
        groups = [group for group in groups if len(group)] or groups[-1:] or [_no_contacts()]
        if with_surfaces:
            groups = [group if group.triangle is not None else _with_empty_triangles(group) for group in groups]
        if len(groups) == 1:
            return groups[0]
        names = (*PLANE_FIELDS, "triangle", "place") if with_surfaces else PLANE_FIELDS
        return ContactSet(*(np.concatenate([getattr(group, name) for group in groups]) for name in names))


@dataclass
class ContactState:
    """How each contact of a `ContactSet` acts, k of them.

    Attributes:
        is_active: Whether it pushes, (k,).
        attachment: The tets and weights of the point and of the place on the other side.
        size: Edge length of the tets, of the smaller ones of two bodies [m], (k,).
        k: Normal and sticking stiffness [N/m], (k,).
        mu: Coefficient of friction, (k,).
        shear: s0, the shear at the start of the step [m], (k, 3).
        kappa: κ, the stiffness against shear [N/m], (k,).
        sliding_friction: Friction along s0 that replaces κ's there in the first solve; 0: none [N], (k,).
        shift: Gap at which it begins to push [m], (k,).
        start_shift: The shift without what lifts the contact in this step alone [m], (k,).
        compliance: Share of 1 / k of the springs of surface detail [m/N], (k,).
        yield_force: Largest normal force, above which surface detail is dented [N], (k,).
        yields: Whether it pushes with just that force, (k,).
        lift: Gap that it keeps while it lasts [m], (k,): bodies in balance at the first frame need not quite touch.
            Below zero, with a shift as low, it is a depth from which a contact gently resolves an initial overlap.
    """

    is_active: Bools
    attachment: PairTets
    size: Floats
    k: Floats
    mu: Floats
    shear: Floats
    kappa: Floats
    sliding_friction: Floats
    shift: Floats
    start_shift: Floats
    lift: Floats
    compliance: Floats
    yield_force: Floats
    yields: Bools

    @staticmethod
    def allocate(count: int) -> ContactState:
        """Returns arrays for `count` active contacts, zero otherwise, to be filled."""
        numbers, weights = np.zeros((9, count)), np.zeros((count, 4 * MAX_TETS_PER_CONTACT))
        tet, shear = np.zeros((count, MAX_TETS_PER_CONTACT), np.int32), np.zeros((count, 3))
        size, k, mu, kappa, friction, shift, start_shift, lift, compliance = numbers
        attachment = PairTets(tet, weights)
        active, limit, yields = np.ones(count, bool), np.full(count, np.inf), np.zeros(count, bool)
        memory = shear, kappa, friction, shift, start_shift, lift
        return ContactState(active, attachment, size, k, mu, *memory, compliance, limit, yields)

    @property
    def arrays(self) -> tuple[Any, ...]:
        """The `ContactStateArrays`, as kernels take the state."""
        return ContactStateArrays(*vars(self).values())

    def attach(self, attached: AttachedContacts, which: Int64s) -> None:
        """Sets the attachment of some contacts, and the values that it determines."""
        self.attachment.tet[which], self.attachment.weights[which] = attached.attachment
        self.size[which], self.k[which], self.mu[which] = attached.size, attached.k, attached.mu
        self.compliance[which], self.yield_force[which] = attached.compliance, attached.yield_force

    def act(self, which: Bools, pushes: Bools, kappa: Floats) -> None:
        """Sets for some contacts whether they push, and their friction κ, (k,) each."""
        self.is_active[which], self.kappa[which], self.sliding_friction[which] = pushes[which], kappa[which], 0.0

    def insert(self, others: ContactState, order: np.ndarray) -> None:
        """Adds other contacts, and then sorts all of them in an order, (k,)."""

        def joined(own: Any, other: Any) -> Any:
            return np.concatenate([own, other])[order]

        for name, values in vars(others).items():
            own = getattr(self, name)
            if isinstance(values, PairTets):
                setattr(self, name, PairTets(*map(joined, own, values)))
            else:
                setattr(self, name, joined(own, values))


ContactStateArrays = kernel_tuple("ContactStateArrays", ContactState)


def no_surface_contacts() -> ContactSet:
    """Returns no contacts of a scene with surfaces."""
    return _with_empty_triangles(_no_contacts())


def _no_contacts() -> ContactSet:
    return ContactSet(np.zeros(0, np.int64), np.zeros((0, 3)), np.zeros(0), np.zeros((0, 3)), np.zeros(0, np.int8))


def _with_empty_triangles(contacts: ContactSet) -> ContactSet:
    of, count = contacts, len(contacts)
    triangle, place = np.full(count, -1, np.int32), np.zeros((count, 3))
    return ContactSet(of.id, of.normal, of.gap, of.carried, of.side, triangle, place)


def ids_among(ids: Int64s, known: Int64s) -> Bools:
    """Returns which ids are among known ones, rising, (k,): a third of the time of `np.isin`, which sorts both."""
    if not len(known):
        return np.zeros(len(ids), bool)
    return known[np.minimum(np.searchsorted(known, ids), len(known) - 1)] == ids
