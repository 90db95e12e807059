# SPDX-License-Identifier: GPL-3.0-or-later
"""How the bends of hinges and their bending moments belong together: a plate of the Hellan-Herrmann-Johnson kind.

The moments per length μ, 2×2, are constant in each triangle, and μ_nn = n·μ n is the same on both sides of every edge;
without a neighbour it is zero. So one moment M = |e| μ_nn per hinge, the torque about its edge, says all. With the bend
φ = θ − θ₀ of each hinge and the flexibility s = D⁻¹ of the plate the energy is

    E(φ) = max_M  φ·M − ½ M·F M = ½ φ·M,   F M = φ,   M·F M = Σ A μ:s:μ of all triangles.

So Poisson's ratio acts, free edges bear no moment, and a sheet of any triangles bends as a plate: its moments are those
of Morley's triangle. F joins the three edges of each triangle, and is factorised once, since it is that of the sheet at
rest.

Sources: Arnold and Brezzi 1985, Mixed and nonconforming finite element methods (the method, and that it is Morley's);
Neunteufel and Schöberl 2019, The Hellan-Herrmann-Johnson method for nonlinear shells (dihedral angles as distributional
curvature).
"""

from __future__ import annotations

import functools
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import numpy as np
import numpy.typing as npt

from ...runtime.arrays import Bools, Floats, Indices, floats, indices

if TYPE_CHECKING:
    from scipy.sparse.linalg import SuperLU

DEFINITE_SHARE = 1.0e-12  # by which the diagonal of F is larger: more than round-off in triangles of hardly any area


@dataclass(frozen=True, eq=False)
class BendingFlexibility:
    """F of the hinges of a model.

    Attributes:
        start: Where the entries of each row begin, (h + 1,).
        column: Of each entry, (k,).
        parts: By which s₁₁, s₂₂, s₁₂ and s₃₃ enter its value, (k, 4).
        compliance: These of the plate at each hinge [1 / N m], in its material axes, (h, 4).
        bends: Which hinges do, (h,); the others bear no moment.
    """

    start: Indices
    column: Indices
    parts: Floats
    compliance: Floats
    bends: Bools

    @functools.cached_property
    def values(self) -> Floats:
        """Values of the entries [rad / N m], (k,)."""
        row = np.repeat(np.arange(len(self.bends), dtype=np.int64), np.diff(self.start))
        values = np.einsum("kp,kp->k", self.parts, self.compliance[row])
        values[row == self.column] *= 1.0 + DEFINITE_SHARE
        return floats(values)

    @functools.cached_property
    def _factors(self) -> SuperLU:
        from scipy.sparse import csr_matrix  # takes as long to load as a small bake, and few have sheets
        from scipy.sparse.linalg import splu

        count, own = len(self.bends), np.flatnonzero(self.bends)
        F = csr_matrix((self.values, self.column, self.start), shape=(count, count))[own][:, own]
        return splu(F.tocsc(), permc_spec="MMD_AT_PLUS_A", diag_pivot_thresh=0.0, options={"SymmetricMode": True})

    def moments(self, bent: Floats) -> Floats:
        """Returns M [N m], (h,), for φ, (h,)."""
        out = np.zeros(len(bent))
        if self.bends.any():
            out[self.bends] = self._factors.solve(bent[self.bends])
        return out

    def of_hinges(self, own: npt.NDArray[np.bool_]) -> BendingFlexibility:
        """Returns that of some hinges, which no entry joins to others."""
        if own.all():
            return self  # with its factors
        count = np.diff(self.start)
        entries = np.repeat(own, count)
        number = np.cumsum(own, dtype=np.int64) - 1
        column = indices(number[self.column[entries]])
        rest = self.parts[entries], self.compliance[own], self.bends[own]
        return BendingFlexibility(_starts(count[own]), column, *rest)

    def with_compliance(self, hinges: slice, compliance: Floats) -> BendingFlexibility:
        """Returns the same where some hinges are of a plate with other s, (4,)."""
        changed = self.compliance.copy()
        changed[hinges] = compliance
        return replace(self, compliance=changed)

    @staticmethod
    def concatenate(groups: Sequence[BendingFlexibility]) -> BendingFlexibility:
        """Returns that of all groups, in order; none of them joins hinges of others."""
        first = np.cumsum([0, *(len(each.compliance) for each in groups)], dtype=np.int64)[:-1]
        column = [each.column + np.int32(begin) for each, begin in zip(groups, first, strict=True)]
        rest = (np.concatenate([getattr(each, name) for each in groups]) for name in ("parts", "compliance", "bends"))
        start = _starts(np.concatenate([np.diff(each.start) for each in groups]))
        return BendingFlexibility(start, np.concatenate(column), *rest)


def rigid_hinges(count: int) -> BendingFlexibility:
    """Returns that of hinges that do not bend: of triangles without neighbours, and of strands."""
    none = np.zeros(count + 1, np.int32), np.zeros(0, np.int32), np.zeros((0, 4))
    return BendingFlexibility(*none, np.zeros((count, 4)), np.zeros(count, bool))


def make_bending_flexibility(
    corners: Floats, area: Floats, hinges: Indices, sides: npt.NDArray[np.int64], triangles: Indices, compliance: Floats
) -> BendingFlexibility:
    """Returns F of the hinges of a sheet.

    Args:
        corners: Of the triangles in their material axes [m], (t, 3, 2).
        area: Of these [m²], (t,).
        hinges: Nodes of the hinges, (h, 4).
        sides: The triangles of each, the second one −1 where it does not bend, (h, 2).
        triangles: Nodes of the triangles, (t, 3).
        compliance: s₁₁, s₂₂, s₁₂ and s₃₃ of the plate [1 / N m], (4,).
    """
    bends = np.flatnonzero(sides[:, 1] >= 0)
    hinge, of = np.concatenate([bends, bends]), np.concatenate([sides[bends, 0], sides[bends, 1]])
    opposite = np.concatenate([hinges[bends, 2], hinges[bends, 3]])
    edge = np.argmax(triangles[of] == opposite[:, None], axis=1)  # a side is opposite to its corner of that number
    # the first triangle goes round the hinge from node 0 to node 1; one that does so too on the other side is reversed
    first = np.argmax(triangles[of] == hinges[hinge, 0, None], axis=1)
    sign = np.where((first - edge) % 3 == 1, 1.0, -1.0)
    sign[len(bends) :] *= -1.0
    length = np.linalg.norm(np.roll(corners, -1, axis=1) - np.roll(corners, 1, axis=1), axis=2)
    shares = _moment_shares(corners)  # (t, 3, 3): μ₁₁, μ₂₂ and μ₁₂ of a moment 1 at each edge
    order = np.argsort(of, kind="stable")
    hinge, of, edge, sign = hinge[order], of[order], edge[order], sign[order]
    one, other = _pairs_of_runs(of)
    p, q = (shares[of[at], :, edge[at]] * (sign[at] / length[of[at], edge[at]])[:, None] for at in (one, other))
    parts = np.stack(
        [p[:, 0] * q[:, 0], p[:, 1] * q[:, 1], p[:, 0] * q[:, 1] + p[:, 1] * q[:, 0], p[:, 2] * q[:, 2]], axis=1
    )
    parts *= area[of[one], None]
    key = hinge[one] * len(hinges) + hinge[other]
    entries, number = np.unique(key, return_inverse=True)
    total = np.stack([np.bincount(number.ravel(), parts[:, c], len(entries)) for c in range(4)], axis=1)
    start = _starts(np.bincount(entries // len(hinges), minlength=len(hinges)))
    rest = floats(total), np.tile(floats(compliance), (len(hinges), 1)), sides[:, 1] >= 0
    return BendingFlexibility(start, indices(entries % len(hinges)), *rest)


def _moment_shares(corners: Floats) -> Floats:
    """Returns the inverses of (n₁², n₂², 2 n₁ n₂) of the normals of the sides of triangles, (t, 3, 3)."""
    along = np.roll(corners, -2, axis=1) - np.roll(corners, -1, axis=1)
    n1, n2 = along[..., 1], -along[..., 0]
    square = n1**2 + n2**2
    return floats(np.linalg.inv(np.stack([n1**2, n2**2, 2.0 * n1 * n2], axis=2) / square[..., None]))


def _pairs_of_runs(key: npt.NDArray[np.int64]) -> tuple[npt.NDArray[np.int64], npt.NDArray[np.int64]]:
    """Returns all pairs of places in a rising array whose keys are equal, (p,) each, also of each with itself."""
    first, last = np.searchsorted(key, key, "left"), np.searchsorted(key, key, "right")
    count = last - first
    one = np.repeat(np.arange(len(key), dtype=np.int64), count)
    begin = np.repeat(np.cumsum(count, dtype=np.int64) - count, count)
    return one, np.arange(len(one), dtype=np.int64) - begin + first[one]


def _starts(count: npt.NDArray[np.int64]) -> Indices:
    return indices(np.concatenate([[0], np.cumsum(count, dtype=np.int64)]))
