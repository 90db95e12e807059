# SPDX-License-Identifier: GPL-3.0-or-later
"""From the bodies of a scene and their tets to what is simulated: one model, one first state, features, warnings."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from ..constraints.rigid_core import find_core, whole_core
from ..contact.colliders.rigid_colliders import BuiltCollider
from ..mechanics.model import Model, Part, make_model
from ..mechanics.self_weight_volume_penalty import with_pressure_modulus
from ..mechanics.sheets.sheet_part import sheet_of_body
from ..mechanics.state import State
from ..mesh.geometry.triangle_surface import Surface
from ..mesh.red_refinement import recover_levels
from ..mesh.tet_mesh import TetMesh
from ..mesh.tetrahedralize.fill_warnings import fill_warnings
from ..runtime.arrays import Floats
from ..runtime.errors import SinewError
from ..scene.formulation import HIERARCHICAL, FormulationSettings, with_unread_defaults
from ..scene.scene import Body, Scene
from ..scene.self_weight_check import self_weight_warnings
from .assembled_scene import AssembledBody
from .features.feature import BuildInputs, Feature, find_feature
from .features.registry import FEATURES
from .inertial_contact_modulus import with_contact_modulus
from .kept_start import begin_at_starts


def initial_model(scene: Scene, surfaces: Sequence[Surface], meshes: Sequence[TetMesh], gravity: Floats) -> Model:
    """Returns the model of all bodies at the first frame, with gravity [m/s²], (3,)."""
    dt = 1.0 / (scene.settings.fps * scene.settings.substeps)
    model = make_model([_model_part(*part, dt) for part in zip(scene.bodies, surfaces, meshes, strict=True)])
    for feature in FEATURES:
        model = feature.initial_model(scene, meshes, model)
    return with_pressure_modulus(dict(enumerate(scene.bodies)), model, gravity)


def build_features(inputs: BuildInputs) -> None:
    """Adds the features that the scene asks for to the inputs, where later ones find them."""
    for kind in FEATURES:
        kept = find_feature([each for each in inputs.kept if isinstance(each, Feature)], kind)
        feature = kind.build(inputs) if kept is None else kept
        if feature is not None:
            inputs.features.append(feature)


def assembled_bodies(inputs: BuildInputs) -> tuple[AssembledBody, ...]:
    """Returns all bodies with what an artist should know about each."""
    bodies = []
    for number, (body, mesh) in enumerate(zip(inputs.scene.bodies, inputs.meshes, strict=True)):
        warnings = _body_warnings(inputs, number)
        place = inputs.model.bodies[number]
        bodies.append(AssembledBody(body.key, body.name, mesh, inputs.bindings[number], place, warnings))
    return tuple(bodies)


def _body_warnings(inputs: BuildInputs, number: int) -> tuple[SinewError, ...]:
    scene, body, mesh = inputs.scene, inputs.scene.bodies[number], inputs.meshes[number]
    has_goal = body.goal is not None and body.goal.bears
    is_borne = bool(body.has_core or has_goal or (body.flesh and not scene.is_loose_flesh(body)))
    warnings = []
    if not body.is_sheet:
        warnings += [*fill_warnings(body, inputs.surfaces[number], mesh)]
        warnings += self_weight_warnings(body, inputs.gravity, is_borne)
    for kind in FEATURES:
        warnings += kind.warnings(body, scene, inputs.tracks, mesh.report.tet_size)
    for force in inputs.forces:
        warnings += force.body_warnings.get(number, ())
    return tuple(warnings)


def with_ignored_bodies(colliders: tuple[BuiltCollider, ...], scene: Scene, model: Model) -> tuple[BuiltCollider, ...]:
    """Returns rigid colliders that know which bodies pass through them, and how far others stay away."""
    thick = zip(model.bodies, (body.collision.thickness for body in scene.bodies), strict=True)
    padding = tuple((body.tets.start, body.tets.stop, more) for body, more in thick if more > 0.0)
    ignored = {frozenset(pair) for pair in scene.ignored_pairs}
    tets = [(body.key, (body.tets.start, body.tets.stop)) for body in model.bodies]
    passing = [tuple(own for key, own in tets if frozenset((key, c.key)) in ignored) for c in colliders]
    return tuple(
        replace(c, ignored_tets=own, extra_thickness=padding) for c, own in zip(colliders, passing, strict=True)
    )


def _model_part(body: Body, surface: Surface, mesh: TetMesh, dt: float) -> Part:
    if body.is_sheet:
        return sheet_of_body(body, mesh, with_contact_modulus(body, surface, mesh, dt))
    core, material = None, body.material
    if body.is_rigid:
        core, material = whole_core(body.core, mesh.tets), with_contact_modulus(body, surface, mesh, dt)
    elif body.core:
        core = find_core(body.core, body.name, surface, mesh.nodes, mesh.tets)
    return Part(
        body.key, mesh.nodes, mesh.tets, mesh.fill, material, simulated_scale=body.simulated_scale, name=body.name,
        method=FormulationSettings() if body.flesh else with_unread_defaults(body.method),
        levels=recover_levels(mesh.tets, body.method.levels) if is_hierarchical(body) else None,
        core=core,
        gravity_weight=body.field_weights.gravity,
    )  # fmt: skip


def is_hierarchical(body: Body) -> bool:
    """Whether the tets of a body come out of coarse ones."""
    return body.method.name == HIERARCHICAL and not body.flesh


def initial_state(scene: Scene, model: Model) -> State:
    v = np.zeros_like(model.X)
    for body, part in zip(scene.bodies, model.bodies, strict=True):
        v[part.nodes] = body.initial_velocity
        if any(body.initial_spin):
            X, mass = model.X[part.nodes], model.mass[part.nodes]
            v[part.nodes] += np.cross(body.initial_spin, X - mass @ X / mass.sum())
    state = State(model.X.copy(), v, scene.settings.start_time)
    begin_at_starts(scene, model, state)
    if model.bound is not None:
        model.bound.interpolate(state.x)
        model.bound.interpolate(state.v)
    return state
