# SPDX-License-Identifier: GPL-3.0-or-later
"""A rigid core with a soft skin, as part of a scene.

Source: Müller, Dorsey, McMillan, Jagnow, Cutler (2002), sections 4.3 and 4.4: the bunny's head and the Great Dane.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Annotated

import numpy as np

from ..runtime.arrays import Floats
from .serialisation.schema_constraints import coordinate, shape
from .settings.rigid_core_settings import PULL_DAMPING, PULL_STIFFNESS, SKIN_THICKNESS

Coordinate = Annotated[float, coordinate()]
Point = tuple[Coordinate, Coordinate, Coordinate]


@dataclass(frozen=True)
class Hinge:
    """The axis about which a core turns; it moves in no other way.

    Track: "body.KEY.hinge" (4, 4): world [m] ← the axis' own space, whose z axis through (0, 0, 0) it is, instead of
    the values here. A core goes along with it, and turns about it besides.

    Attributes:
        point: On the axis, in the rest pose [m], world.
        direction: Of the axis there, of any length but zero.
    """

    point: Point = (0.0, 0.0, 0.0)
    direction: Point = (0.0, 0.0, 1.0)


@dataclass(frozen=True)
class Pull:
    """A spring that pulls a core at a point.

    Track: "body.KEY.pull" (3,): where the animation wants the point to be [m], world; without one it stays.

    Attributes:
        point: Where it is in the rest pose [m], world; it moves with the core, and may lie beside the body.
        stiffness: Over the body's mass [1/s²], ≥ 0.
        damping: Of the point's velocity relative to the animation's, over the body's mass [1/s], ≥ 0.
    """

    point: Point = (0.0, 0.0, 0.0)
    stiffness: Annotated[float, PULL_STIFFNESS.limits] = PULL_STIFFNESS.default
    damping: Annotated[float, PULL_DAMPING.limits] = PULL_DAMPING.default


@dataclass(frozen=True)
class Core:
    """Which part of a body moves as one rigid body, and how; the rest is its skin.

    Attributes:
        skin_thickness: Material closer to the surface than this is skin [m], ≥ 0.
        paint: Factors at the render vertices, (n,), or (0,) for 1 everywhere: only material whose nearest point of the
            surface has more than ½ is core.
        hinge: None: the core is free.
        pull: None: nothing pulls it.
    """

    skin_thickness: Annotated[float, SKIN_THICKNESS.limits] = SKIN_THICKNESS.default
    paint: Annotated[Floats, shape("n")] = field(default_factory=lambda: np.zeros(0))
    hinge: Hinge | None = None
    pull: Pull | None = None
