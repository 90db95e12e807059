# SPDX-License-Identifier: GPL-3.0-or-later
"""A constant wind on the surfaces of bodies and on strings.

Air of the velocity w presses on faces that move with v as `aerodynamic_pressure.py` says, with u = w − v. Areas and
normals are those at the start of a step, the velocity is that at its end, linearised about the one at its start:

    f⁺ = f − D (v⁺ − v),    D = −∂f/∂v = ρ C |s| A n nᵀ,

which is symmetric positive semi-definite, so that a strong wind never makes a step unstable; so is that of strings
(`strand_drag.py`).
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass, replace
from typing import ClassVar

import numpy as np

from ..mechanics.model import Model
from ..mesh.embedding import Binding
from ..mesh.geometry.triangle_surface import Surface
from ..scene.constant_wind import Wind
from ..scene.scene import Scene
from .aerodynamic_pressure import ExposedFaces, exposed_faces
from .force import Force, ForceStep
from .point_forces import PointForces


@dataclass(frozen=True, eq=False)
class WindForce(Force):
    """Wind on the render surfaces of bodies.

    Attributes:
        wind: Its velocity, density and drag.
        faces: What it presses on.
    """

    wind: Wind
    faces: ExposedFaces
    kind: ClassVar[str] = "wind"

    def restricted_to(self, bodies: Collection[int]) -> WindForce | None:
        """Returns the wind on the bodies of these numbers alone; None where it meets none of them."""
        faces = self.faces.restricted_to(bodies)
        return None if faces is None else replace(self, faces=faces)

    def point_forces(self, step: ForceStep) -> PointForces:
        """Returns the pressure on the vertices during a step, and by how much it falls with their velocity."""
        points, tets = self.faces.points(), step.model.tets
        x, v = points.positions(step.state.x, tets), points.positions(step.state.v, tets)
        slowing = np.broadcast_to(np.eye(3), (len(x), 3, 3))
        air = np.asarray(self.wind.velocity) - v
        self.faces.add_pressure(points, x, v, air, slowing, self.wind.air_density * self.wind.drag)
        return points


def make_wind(scene: Scene, model: Model, surfaces: Sequence[Surface], bindings: Sequence[Binding]) -> WindForce | None:
    """Returns the wind of a scene; None where the scene has none.

    Args:
        scene: The scene.
        model: All its bodies.
        surfaces, bindings: Of each body: its render surface, and the vertices of that in the body's own tets.
    """
    if scene.wind is None:
        return None
    diameters = [body.sheet.thickness for body in scene.bodies]
    return WindForce(scene.wind, exposed_faces(model, surfaces, bindings, diameters))
