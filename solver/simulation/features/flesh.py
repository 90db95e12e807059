# SPDX-License-Identifier: GPL-3.0-or-later
"""Flesh as a feature. What it needs takes long to load, so it is imported only for scenes that have flesh or bones."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar

from ...mechanics.model import Model
from ...mechanics.self_weight_pressure import pressure_of_flesh
from ...mechanics.state_fields import FAILED_BODIES_FIELD, INPUT_DIGEST_FIELD, RESULT_FIELD
from ...mesh.tet_mesh import TetMesh
from ...scene.formulation import HIERARCHICAL, NEWTON_FORMULATIONS
from ...scene.scene import Scene
from .feature import BuildInputs, Feature, SplitNodes

if TYPE_CHECKING:
    from ..flesh import FleshBodies


def has_flesh_or_bones(scene: Scene) -> bool:
    """Whether a scene has bones or flesh, or bodies that move as flesh does."""
    nonlinear = (*NEWTON_FORMULATIONS, HIERARCHICAL)
    return bool(scene.bones) or any(body.flesh is not None or body.method.name in nonlinear for body in scene.bodies)


@dataclass(frozen=True, eq=False)
class FleshFeature(Feature):
    """Bodies that are hyperelastic: those brought to rest in poses, and those that take steps by Newton's method."""

    bodies: FleshBodies
    state_fields: ClassVar[tuple[str, ...]] = (INPUT_DIGEST_FIELD, RESULT_FIELD, FAILED_BODIES_FIELD)

    @classmethod
    def initial_model(cls, scene: Scene, meshes: Sequence[TetMesh], model: Model) -> Model:
        """Returns the model with the moduli and masses that are painted on flesh."""
        if not has_flesh_or_bones(scene):
            return model
        from ..flesh import apply_painted_material

        return apply_painted_material(scene, meshes, model)

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
        flesh = with_contact(flesh, surfaces, inputs.contact_points, inputs.colliders, scene.ignored_pairs, thickness)
        return None if flesh is None else cls(flesh)

    @property
    def resting_bodies(self) -> tuple[int, ...]:
        """Numbers of the quasistatic bodies."""
        return self.bodies.resting_bodies

    def remapped(self, split: SplitNodes) -> FleshFeature:
        """Returns flesh where it is after nodes of other bodies have split."""
        return FleshFeature(self.bodies.remapped(split.model))
