# SPDX-License-Identifier: GPL-3.0-or-later
"""Stretch limits as a force: tets of any formulation or law stiffen where they are drawn out beyond their limit.

A limit L, which may have keys, is 1 + (L − 1) / w where w is painted: 1 has the limit, ½ stretches twice as far beyond
its length, and 0 has no limit. `solver/mechanics/stretch_limit/limit_kernels.py` has the energy.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import ClassVar

import numpy as np

from ..mechanics.stretch_limit.limit_potential import LimitPotential, make_limit_potential
from ..mesh.tet_mesh import TetMesh
from ..mesh.tet_paint_values import extrapolate_to_tets
from ..runtime.arrays import Floats
from ..scene.animated_material import value_at
from ..scene.scene import Body, Scene
from ..scene.settings.stretch_limit_settings import STRETCH_LIMIT
from .force import Force, ForceStep

# A tet of St. Venant-Kirchhoff that is pressed to less than 1 / √3 of its length resists less and less, and nothing at
# all flat or turned inside out. Where others hang from it, no pose is at rest before hundreds of tets are.
YIELDING_LAW = "stvk"
STRETCH_FLOOR = 0.6
# The other laws resist to the last, and turn where that is not enough: so does fat that a contracting muscle draws
# around a bone.
LAST_FLOOR = 0.1


@dataclass(frozen=True, eq=False)
class StretchLimits(Force):
    """The limits of all bodies that have one.

    Attributes:
        bodies: By their numbers: the body, and what is painted on its tets, (k,).
    """

    bodies: Mapping[int, tuple[Body, Floats]]
    kind: ClassVar[str] = "stretch limit"
    affects_quasistatic: ClassVar[bool] = True

    def restricted_to(self, bodies: Collection[int]) -> StretchLimits | None:
        """Returns the limits of the bodies of these numbers alone; None where none of them has one."""
        own = {number: body for number, body in self.bodies.items() if number in bodies}
        return replace(self, bodies=own) if own else None

    def limits(self, step: ForceStep) -> Floats:
        """Returns the limits of all tets at the end of a step, infinite where there is none, (m,).

        Raises:
            SolveFailed: The animation gives a limit out of range.
        """
        limit = np.full(step.model.tet_count, np.inf)
        for number, (body, weight) in self.bodies.items():
            assert body.stretch_limit is not None
            is_keyed = step.tracks.has(f"body.{body.key}.{STRETCH_LIMIT.name}")
            stretch = value_at(body, STRETCH_LIMIT, step.tracks, step.end) if is_keyed else body.stretch_limit.stretch
            tets = step.model.bodies[number].tets
            limit[tets] = 1.0 + np.divide(stretch - 1.0, weight, out=np.full_like(weight, np.inf), where=weight > 0.0)
        return limit

    def potential(self, step: ForceStep) -> LimitPotential:
        """Returns the energy of tets beyond their limit at the end of a step."""
        limits = self.limits(step)
        return make_limit_potential(step.model, limits, self._floors(step, limits) if step.is_static else None)

    def _floors(self, step: ForceStep, limits: Floats) -> Floats:
        """Returns the least stretch of all tets of a pose, 0 where there is none, (m,)."""
        floor = np.zeros(step.model.tet_count)
        for number, (body, _) in self.bodies.items():
            if body.flesh is not None:
                tets = step.model.bodies[number].tets
                least = STRETCH_FLOOR if body.flesh.law == YIELDING_LAW else LAST_FLOOR
                floor[tets] = np.where(limits[tets] < np.inf, least, 0.0)
        return floor

    def static_inputs(self, step: ForceStep) -> list[np.ndarray]:
        """Returns the limits."""
        return [self.limits(step)]


def make_stretch_limits(scene: Scene, meshes: Sequence[TetMesh]) -> StretchLimits | None:
    """Returns the stretch limits of the bodies of a scene with these tets; None where there are none."""
    bodies = {}
    for number, (body, mesh) in enumerate(zip(scene.bodies, meshes, strict=True)):
        if body.stretch_limit is not None:
            (weight,) = extrapolate_to_tets(body, mesh, body.stretch_limit.paint)
            bodies[number] = body, weight
    return StretchLimits(bodies) if bodies else None
