# SPDX-License-Identifier: GPL-3.0-or-later
"""Profiles of muscles: how wide and how thick they are along their length, with tendons at both ends.

With u from 0 to 1 between the tendons and b = sin(π u)^1.5:

    belly   a = a_t + (A − a_t) b                 h = h_t + (H − h_t) b
    strap   a = a_t + (A − a_t) r                 h = h_t + (H − h_t) r,        r = s(u / 0.2) s((1 − u) / 0.2)
    fan     a = A + (a_t − A) s(u)                h = h_e + (h_t − h_e) s(u) + (H − max(h_e, h_t)) b

where A and H are half of Width and Thickness, a_t, h_t those of the tendon, h_e that of the wide edge of a fan, and
s(v) = v² (3 − 2 v), clamped to 0 and 1.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from ...runtime.arrays import Floats

BELLY, FAN, STRAP = "belly", "fan", "strap"
BELLY_EXPONENT = 1.5
# of the half width and the half thickness: what a tendon has
TENDON_WIDTH = {BELLY: 0.25, FAN: 0.25, STRAP: 0.7}
TENDON_THICKNESS = {BELLY: 0.3, FAN: 0.5, STRAP: 0.5}
FAN_EDGE_THICKNESS = 0.4  # of the half thickness, at its wide end
STRAP_RAMP = 0.2  # of the length between the tendons, in which a strap gets as wide as it is
MAX_TENDON_SHARE = 0.9  # of the length, both tendons together


@dataclass(frozen=True)
class MuscleProfile:
    """A profile.

    Attributes:
        kind: BELLY, FAN or STRAP.
        width, thickness: Of the widest section [m].
        origin_tendon, insertion_tendon: Lengths [m].
    """

    kind: str
    width: float
    thickness: float
    origin_tendon: float = 0.0
    insertion_tendon: float = 0.0

    def between_tendons(self, along: Floats, length: float) -> Floats:
        """Returns u, 0 in the tendon of the origin to 1 in that of the insertion, (n,).

        Args:
            along: Shares of the length, (n,).
            length: Of the muscle [m].
        """
        tendons = self.origin_tendon + self.insertion_tendon
        scale = min(1.0, MAX_TENDON_SHARE * length / tendons) if tendons > 0.0 else 1.0
        start, end = scale * self.origin_tendon, length - scale * self.insertion_tendon
        return np.clip((along * length - start) / (end - start), 0.0, 1.0)

    def half_extents(self, along: Floats, length: float) -> tuple[Floats, Floats]:
        """Returns half the width and half the thickness at shares of the length [m], each (n,)."""
        u, kind = self.between_tendons(along, length), self.kind
        wide, thick = 0.5 * self.width, 0.5 * self.thickness
        tendon_wide, tendon_thick = TENDON_WIDTH[kind] * wide, TENDON_THICKNESS[kind] * thick
        if kind == STRAP:
            bump = _ramp(u / STRAP_RAMP) * _ramp((1.0 - u) / STRAP_RAMP)
        else:
            bump = np.sin(np.pi * u) ** BELLY_EXPONENT
        if kind == FAN:
            edge = FAN_EDGE_THICKNESS * thick
            half_width = wide + (tendon_wide - wide) * _ramp(u)
            return half_width, edge + (tendon_thick - edge) * _ramp(u) + (thick - max(edge, tendon_thick)) * bump
        return tendon_wide + (wide - tendon_wide) * bump, tendon_thick + (thick - tendon_thick) * bump


def _ramp(v: Floats) -> Floats:
    v = np.clip(v, 0.0, 1.0)
    return v * v * (3.0 - 2.0 * v)
