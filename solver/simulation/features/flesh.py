# SPDX-License-Identifier: GPL-3.0-or-later
"""Flesh as a feature. What it needs takes long to load, so it is imported only for scenes that have flesh or bones."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, ClassVar

from ...mechanics.model import Model
from ...mechanics.self_weight_volume_penalty import pressure_of_flesh
from ...mechanics.state import State
from ...mechanics.state_fields import FAILED_BODIES_FIELD, INPUT_DIGEST_FIELD, PENALTY_FIELD, RESULT_FIELD
from ...runtime.frozen_memo import derived_from
from ...scene.formulation import HIERARCHICAL, NEWTON_FORMULATIONS
from ...scene.scene import Scene
from .feature import BuildInputs, Feature, SplitNodes
from .materials import Materials
from .muscles import Muscles

if TYPE_CHECKING:
    from ..flesh import FleshBodies


def has_flesh_or_bones(scene: Scene) -> bool:
    """Whether a scene has bones or flesh, or bodies that move as flesh does."""
    nonlinear = (*NEWTON_FORMULATIONS, HIERARCHICAL)
    return bool(scene.bones) or any(body.flesh is not None or body.method.name in nonlinear for body in scene.bodies)


@dataclass(frozen=True, eq=False)
class FleshFeature(Feature):
    """Bodies that are hyperelastic: those brought to rest in poses, and those that take steps by Newton's method.

    Attributes:
        bodies: With the materials of the first frame.
        materials: What changes these; None: nothing does.
        muscles: What contracts in them; None: nothing does.
    """

    bodies: FleshBodies
    materials: Materials | None
    muscles: Muscles | None
    state_fields: ClassVar[tuple[str, ...]] = (INPUT_DIGEST_FIELD, RESULT_FIELD, PENALTY_FIELD, FAILED_BODIES_FIELD)

    @classmethod
    def build(cls, inputs: BuildInputs) -> FleshFeature | None:
        """Returns the flesh of a scene with the colliders that it may touch; None where there is none."""
        scene, model = inputs.scene, inputs.model
        if not has_flesh_or_bones(scene):
            return None
        from ...quasistatic.contact import RenderSurface
        from ..flesh import make_flesh, with_contact

        surfaces = [
            RenderSurface(surface.vertices, surface.triangles, binding.tet, binding.weights)
            for surface, binding in zip(inputs.surfaces, inputs.bindings, strict=True)
        ]
        thickness = [body.collision.thickness for body in scene.bodies]
        flesh = make_flesh(scene, model, pressure_of_flesh(scene, model, inputs.gravity))
        muscles = inputs.feature(Muscles)
        added = None if muscles is None else muscles.added_moduli(model.tet_count)
        flesh = with_contact(
            flesh, surfaces, inputs.contact_points, inputs.colliders, scene.ignored_pairs, thickness, added
        )
        return None if flesh is None else cls(flesh, inputs.feature(Materials), muscles)

    @property
    def resting_bodies(self) -> tuple[int, ...]:
        """Numbers of the quasistatic bodies."""
        return self.bodies.resting_bodies

    def remapped(self, split: SplitNodes) -> FleshFeature:
        """Returns flesh where it is after nodes of other bodies have split."""
        return replace(self, bodies=self.bodies.remapped(split.model))

    def bodies_at(self, built_model: Model, state: State) -> FleshBodies:
        """Returns flesh with the materials and activations of `state`; `built_model` has those of the first frame."""
        bodies, muscles = self._with_materials(built_model, state), self.muscles
        if muscles is None:
            return bodies
        activation = muscles.activations(state)
        return derived_from(
            bodies,
            "with_muscles",
            lambda: bodies.with_laws(built_model, lambda law, tets: muscles.with_term(law, tets, activation)),
            inputs=(built_model,),
            values=(activation,),
        )

    def _with_materials(self, built_model: Model, state: State) -> FleshBodies:
        materials = self.materials
        numbers = [number for part in self.bodies.parts for number in part.part.bodies]
        if materials is None or not any(materials.is_changed(number, state) for number in numbers):
            return self.bodies
        model, present = materials.current_model(built_model, state), materials.scene_at(state)
        if self.muscles is not None:
            model = self.muscles.current_model(model, state)

        def make() -> FleshBodies:
            return self.bodies.with_materials(model, pressure_of_flesh(present, model, materials.gravity))

        return derived_from(self.bodies, "bodies_at", make, inputs=(model,))
