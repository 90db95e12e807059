# SPDX-License-Identifier: GPL-3.0-or-later
"""The materials of bodies as a feature: what is painted when they are built, and what tracks change in every step.

A body has the material of the end of a step in all of it, or of a sample where it comes to rest in poses. The model is
then the one that `build.py` would make of a body of that material. Where the density changes, momentum is kept: nodes
of mass m and velocity v that become m' as heavy go on with v m / m', as if the new material had been at rest.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import ClassVar

import numpy as np

from ...mechanics.body_material import PaintFactors, paint_factors, with_materials
from ...mechanics.model import Model
from ...mechanics.self_weight_volume_penalty import with_pressure_modulus
from ...mechanics.sheets.sheet_materials import with_sheet_materials
from ...mechanics.state import State
from ...mechanics.state_fields import MATERIAL_FIELD, PREVIOUS_DT
from ...mesh.tet_mesh import TetMesh
from ...runtime.arrays import Floats
from ...runtime.frozen_memo import derived_from
from ...scene.animated_material import MATERIAL_TRACKS, keyed_names, material_at
from ...scene.scene import Body, Scene
from .feature import BuildInputs, Feature, FeatureStep


@dataclass(frozen=True, eq=False)
class Materials(Feature):
    """Bodies whose materials have tracks.

    Attributes:
        scene: With the materials of the first frame.
        paint: What is painted on each of the bodies that are solid, by their numbers.
        keyed: Names of the values that have tracks, of each body. A resumed bake has the others from its settings.
        gravity: At the first frame [m/s²], (3,).
    """

    scene: Scene
    paint: Mapping[int, PaintFactors]
    keyed: Mapping[int, frozenset[str]]
    gravity: Floats
    state_fields: ClassVar[tuple[str, ...]] = (MATERIAL_FIELD,)

    @classmethod
    def initial_model(cls, scene: Scene, meshes: Sequence[TetMesh], model: Model) -> Model:
        """Returns the model with the materials that are painted."""
        painted = {number: body for number, body in enumerate(scene.bodies) if body.material_paint.is_painted}
        return with_materials(model, painted, {n: paint_factors(body, meshes[n]) for n, body in painted.items()})

    @classmethod
    def build(cls, inputs: BuildInputs) -> Materials | None:
        """Returns the bodies whose materials have tracks; None where none has."""
        bodies = inputs.scene.bodies
        names = {number: keyed_names(body, inputs.tracks) for number, body in enumerate(bodies)}
        keyed = {number: own for number, own in names.items() if own}
        for number in keyed:
            _store(bodies[number], inputs.state)
        solid = (number for number in keyed if not bodies[number].is_sheet)
        paint = {number: paint_factors(bodies[number], inputs.meshes[number]) for number in solid}
        return cls(inputs.scene, paint, keyed, inputs.gravity) if keyed else None

    @property
    def changing_bodies(self) -> tuple[int, ...]:
        """Numbers of the bodies."""
        return tuple(self.keyed)

    def before_step(self, step: FeatureStep) -> None:
        """Gives the bodies that take steps the materials of the end of the step, and keeps their momentum."""
        for number in self.keyed:
            if number not in step.resting_bodies:
                self._follow(number, step)

    def before_pose(self, step: FeatureStep) -> None:
        """Gives the bodies that come to rest in poses the materials of the sample."""
        for number in self.keyed:
            if number in step.resting_bodies:
                self._follow(number, step)

    def _follow(self, number: int, step: FeatureStep) -> None:
        before = self.body_at(number, step.state)
        body = replace(before, material=material_at(before, step.tracks, step.end))
        if body.material == before.material:
            return
        _store(body, step.state)
        if body.material.density != before.material.density and number not in step.resting_bodies:
            nodes = step.built_model.bodies[number].nodes
            _scale_velocities(step.state, number, nodes, before.material.density / body.material.density)

    def body_at(self, number: int, state: State) -> Body:
        """Returns a body with the material that it has at `state`."""
        body = self.scene.bodies[number]
        values = state.fields.get(MATERIAL_FIELD.format(key=body.key))
        if number not in self.keyed or values is None:
            return body
        named = zip(MATERIAL_TRACKS, values.tolist(), strict=True)
        keyed = {name: value for name, value in named if name in self.keyed[number]}
        return replace(body, material=replace(body.material, **keyed))

    def scene_at(self, state: State) -> Scene:
        """Returns the scene with the materials of `state`."""
        return replace(self.scene, bodies=tuple(self.body_at(n, state) for n in range(len(self.scene.bodies))))

    def is_changed(self, number: int, state: State) -> bool:
        """Whether a body has another material at `state` than at the first frame."""
        return self.body_at(number, state).material != self.scene.bodies[number].material

    def current_model(self, model: Model, state: State) -> Model:
        """Returns the built model with the materials of `state`."""
        bodies = {number: self.body_at(number, state) for number in self.keyed if self.is_changed(number, state)}
        if not bodies:
            return model
        fields = tuple(state.fields[MATERIAL_FIELD.format(key=self.scene.bodies[n].key)] for n in self.keyed)
        sheets = {number: body for number, body in bodies.items() if body.is_sheet}
        solids = {number: body for number, body in bodies.items() if not body.is_sheet}

        def make() -> Model:
            made = with_pressure_modulus(solids, with_materials(model, solids, self.paint), self.gravity)
            return with_sheet_materials(made, dict(enumerate(self.scene.bodies)), sheets)

        return derived_from(self, "current_model", make, inputs=(model,), values=fields)


def _store(body: Body, state: State) -> None:
    values = [getattr(body.material, name) for name in MATERIAL_TRACKS]
    state.fields[MATERIAL_FIELD.format(key=body.key)] = np.array(values, np.float64)


def _scale_velocities(state: State, number: int, nodes: slice, factor: float) -> None:
    """Multiplies the velocities of a body. By BDF2 its next step is one without a past, for v has jumped."""
    state.v = state.v.copy()
    state.v[nodes] *= factor
    if PREVIOUS_DT in state.fields:
        state.fields[PREVIOUS_DT] = state.fields[PREVIOUS_DT].copy()
        state.fields[PREVIOUS_DT][number] = 0.0
