# SPDX-License-Identifier: GPL-3.0-or-later
"""What a hand does to material within a ball while a simulation runs: it heats, softens, hardens and pushes."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np

from ..constraints.grabs import stiffness_to_follow
from ..constraints.pushes import Ball, PushedSurface, Pushes
from ..mechanics.heat.heat_guns import HeatGun, HeatGuns
from ..mechanics.model import Model
from ..mechanics.state import State
from ..mechanics.state_fields import TEMPERATURE
from ..mesh.embedding import Binding
from ..runtime.arrays import Floats
from ..runtime.errors import BadInput
from ..scene.scene import Scene
from ..simulation.assembled_scene import AssembledScene
from ..simulation.features.heat import Heat
from ..simulation.features.stiffness_brushes import BRUSHED_STIFFNESS, StiffnessBrush, StiffnessBrushes
from .commands import HoldBall, HoldHeatGun, HoldStiffnessBrush, LiftBrush

BrushCommand = HoldBall | HoldHeatGun | HoldStiffnessBrush | LiftBrush


class Brushes:
    """All brushes of a live run; each has a number, and is of the kind that it was last held as.

    Attributes:
        guns, stiffness, pushes: The brushes of each kind.
        heated_tets: Tets of bodies that have a temperature, (k,).
    """

    def __init__(self, scene: Scene, built: AssembledScene, gravity: float) -> None:
        """Takes a scene, what was built for it, and the size of the acceleration there [m/s²]."""
        model = built.model
        may_change, surfaces = np.ones(model.tet_count, bool), []
        for number, body in enumerate(built.bodies):
            points = Binding(body.binding.tet + np.int32(body.range.tets.start), body.binding.weights)
            surfaces.append(PushedSurface(number, points, stiffness_to_follow(model, number, gravity)))
            own = scene.bodies[number]
            may_change[body.range.tets] = own.flesh is None and not own.is_rigid and not own.is_sheet
        self.guns, self.stiffness, self.pushes = HeatGuns(), StiffnessBrushes(may_change), Pushes(surfaces)
        self.may_soften = bool(may_change.any())
        self.heated_tets = np.flatnonzero(built.heat.is_heated) if built.heat is not None else np.zeros(0, np.int64)

    def added_to(self, built: AssembledScene) -> AssembledScene:
        """Returns what was built with the brushes in it."""
        features = [
            replace(each, bodies=replace(each.bodies, guns=self.guns)) if isinstance(each, Heat) else each
            for each in built.features
        ]
        return replace(built, features=(*features, self.stiffness), forces=(*built.forces, self.pushes))

    def touched(self, model: Model, state: State) -> dict[str, float]:
        """Returns what is in the middle of a held brush: `stiffness_factor`, or `temperature` [°C]; or nothing."""
        for stiffness in self.stiffness.held.values():
            changed = np.flatnonzero(self.stiffness.may_change)
            middle = state.x[model.tets[changed]].mean(axis=1)
            near = _nearest(middle, stiffness.place, stiffness.radius)
            if near is not None and BRUSHED_STIFFNESS in state.fields:
                return {"stiffness_factor": float(state.fields[BRUSHED_STIFFNESS][changed[near]])}
        for gun in self.guns.held.values() if len(self.heated_tets) else ():
            heated = np.unique(model.tets[self.heated_tets])
            near = _nearest(state.x[heated], gun.place, gun.radius)
            if near is not None:
                return {"temperature": float(state.fields[TEMPERATURE][heated[near]])}
        return {}

    def apply(self, command: BrushCommand) -> None:
        """Lets a command act from the next step on.

        Raises:
            BadInput: There is no such brush, or no body that it can change.
        """
        kinds: tuple[dict[int, Any], ...] = (self.guns.held, self.stiffness.held, self.pushes.held)
        if isinstance(command, LiftBrush) and not any(command.brush in held for held in kinds):
            raise BadInput("live-no-such-brush", number=command.brush)
        if isinstance(command, HoldHeatGun) and not len(self.heated_tets):
            raise BadInput("live-no-heat")
        if isinstance(command, HoldStiffnessBrush) and not self.may_soften:
            raise BadInput("live-only-flesh")
        for held in kinds:
            held.pop(command.brush, None)
        match command:
            case HoldHeatGun():
                gun = HeatGun(command.place, command.radius, command.temperature, command.watts, command.exchange)
                self.guns.held[command.brush] = gun
            case HoldStiffnessBrush():
                brush = StiffnessBrush(command.place, command.radius, command.doublings)
                self.stiffness.held[command.brush] = brush
            case HoldBall():
                self.pushes.held[command.brush] = Ball(command.place, command.radius)


def _nearest(points: Floats, place: Floats, radius: float) -> int | None:
    """Returns which of some points is nearest to a place [m], (3,), within a radius; None: none is."""
    squares = np.sum((points - place) ** 2, axis=1)
    near = int(np.argmin(squares)) if len(squares) else None
    return near if near is not None and squares[near] < radius**2 else None
