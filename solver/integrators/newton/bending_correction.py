# SPDX-License-Identifier: GPL-3.0-or-later
"""Newton directions of sheets whose hinges resist together: conjugate gradients about solves where each does alone.

The matrix A of a step has the hinges of sheets each for itself, since the moments of a plate join all of them; with
those it is A + Δt² B (`mechanics/sheets/coupled_bending.py`). A system with that is solved by flexible conjugate
gradients, with a solve by A as the preconditioner. Groups that have no sheet stay as the first solve leaves them. Where
the matrix is not definite in a direction, a group stays where it is, as it does where its residual does not fall.

Source: Notay (2000), Flexible conjugate gradients, of which only the last direction is kept here.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from ...runtime.arrays import Bools, Floats
from .line_search_groups import CoupledGroups

MAX_CORRECTIONS = 3  # solves by A after the first one; each leaves about half of what the hinges lack
INNER_TOLERANCE = 0.1  # of these solves


@dataclass(frozen=True, eq=False)
class BendingCorrection:
    """A system whose hinges resist together.

    Attributes:
        times: Returns (A + Δt² B) v for velocities v, (n, 3), on nodes that are solved for; 0 on others.
        solve: Returns A⁻¹ r for residuals r, (n, 3), 0 on nodes that are not solved for.
        is_small: Whether a residual, (n, 3), is within the tolerance.
        groups: Those that share coefficients.
        has_sheet: Of which nodes the groups have one, (n,).
    """

    times: Callable[[Floats], Floats]
    solve: Callable[[Floats], Floats]
    is_small: Callable[[Floats], bool]
    groups: CoupledGroups
    has_sheet: Bools

    def direction(self, d: Floats, r: Floats, is_free: Bools) -> Floats:
        """Returns δ [m/s], (n, 3), with (A + Δt² B) δ = r.

        Args:
            d: A⁻¹ r, with what is prescribed of other nodes, (n, 3).
            r: The right-hand side [N s], (n, 3).
            is_free: Which nodes are solved for, (n,).
        """
        own, groups = self.has_sheet[:, None], self.groups
        p, Ap = d, self.times(d)
        curvature = groups.products(p, Ap)
        # what is prescribed has no choice of its length
        is_led = (groups.products(d * ~is_free[:, None], d) > 0.0) | (curvature <= 0.0)
        length = np.where(is_led, 1.0, groups.products(r, p) / np.where(is_led, 1.0, curvature))
        out = np.where(own, groups.to_nodes(length)[:, None] * d, d)
        left = (r - groups.to_nodes(length)[:, None] * Ap) * own
        for _ in range(MAX_CORRECTIONS):
            if self.is_small(left):
                break
            z = self.solve(left) * own
            Az = self.times(z)
            share = np.where(is_led, 0.0, groups.products(z, Ap) / np.where(curvature > 0.0, curvature, 1.0))
            of_node = groups.to_nodes(share)[:, None]
            p, Ap = z - of_node * p, Az - of_node * Ap
            curvature = groups.products(p, Ap)
            is_led = curvature <= 0.0
            length = np.where(is_led, 0.0, groups.products(left, p) / np.where(is_led, 1.0, curvature))
            of_node = groups.to_nodes(length)[:, None] * own
            out, left = out + of_node * p, left - of_node * Ap
            left = np.where(groups.to_nodes(is_led)[:, None] == 1.0, 0.0, left) if is_led.any() else left
        return out
