# SPDX-License-Identifier: GPL-3.0-or-later
"""All forces and constraints on bodies from outside (`constraints/force.py`): to add one, add a line to `FORCES`."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass, replace

import numpy as np

from ..constraints.animated_body import AnimatedBody, make_animated_body, may_be_animated
from ..constraints.attachments.attachable_bodies import AttachableBodies
from ..constraints.attachments.build_attachments import make_attachments
from ..constraints.attachments.origin_surface import ColliderPoints, SurfacePoints
from ..constraints.attachments.surface_attachments import SurfaceAttachments
from ..constraints.fields.field_force import make_fields
from ..constraints.force import Force
from ..constraints.goal import BodyGoal, make_goal
from ..constraints.hooks import BodyHook, make_hooks
from ..constraints.joints.joint_force import make_joints
from ..constraints.pins import BodyPins, make_pins
from ..constraints.pressure import BodyPressure, make_pressure
from ..constraints.rigid_core.core_drivers import make_core_springs
from ..constraints.rigid_core.rigid_damping import make_rigid_damping
from ..constraints.seams import SheetSeams, make_seams
from ..constraints.stretch_limit import make_stretch_limits
from ..constraints.wind import make_wind
from ..contact.detection.contact_sample_points import sample_surface
from ..mesh.embedding import Binding
from ..runtime.arrays import indices
from ..runtime.errors import BadInput
from ..scene.contact import Collider
from ..scene.scene import Body, Scene
from ..scene.tracks import TrackReader
from .features.feature import BuildInputs
from .features.flesh import has_flesh_or_bones


@dataclass(frozen=True)
class ForceKind:
    """One kind of force.

    Attributes:
        make: Returns the forces of this kind; `BuildInputs.forces` then holds those of the kinds before.
        check: Raises BadInput where the scene asks for something impossible, before any work is done.
    """

    make: Callable[[BuildInputs], Iterable[Force | None]]
    check: Callable[[Scene, TrackReader], None] = lambda scene, tracks: None


def make_forces(inputs: BuildInputs) -> tuple[Force, ...]:
    """Returns all forces of a scene, in the order of `FORCES`.

    Raises:
        BadInput: A force cannot act as the scene asks; the sentence names its body.
    """
    for kind in FORCES:
        inputs.forces += [force for force in kind.make(inputs) if force is not None]
    return tuple(inputs.forces)


def _make_pins(inputs: BuildInputs) -> list[BodyPins]:
    scene, model, pins = inputs.scene, inputs.model, []
    gravity = float(np.linalg.norm(inputs.gravity))
    for number, (body, mesh, binding) in enumerate(zip(scene.bodies, inputs.meshes, inputs.bindings, strict=True)):
        in_model = Binding(binding.tet + np.int32(model.bodies[number].tets.start), binding.weights)
        for part in _pinned_parts(body):
            made = make_pins(part, in_model, model, number, mesh.report.tet_size, gravity)
            _check_not_fully_pinned(inputs, made)
            pins.append(made)
    return pins


def _pinned_parts(body: Body) -> list[Body]:
    """Returns the body with its pins, and as "KEY.attached" with what is attached as its pins, where it has them."""
    attached = replace(body, key=f"{body.key}.attached", pinned=body.attached, pin_weights=body.attached_weights)
    return [part for part in (body, attached) if len(part.pinned)]


def _check_not_fully_pinned(inputs: BuildInputs, pins: BodyPins) -> None:
    """Raises BadInput where all nodes or all vertices of a body are held, and never released."""
    scene, body, nodes = inputs.scene, inputs.scene.bodies[pins.body], inputs.model.bodies[pins.body].nodes
    shows_nothing = len(body.pinned) == len(body.vertices) and bool((body.pin_weights >= 1.0).all())
    if len(pins.fixed_nodes) < nodes.stop - nodes.start and not shows_nothing:
        return
    frames = range(scene.settings.frame_start, scene.settings.frame_end + 1)
    if all(pins.stiffness(inputs.tracks, scene.settings.time(frame)) > 0.0 for frame in frames):
        raise BadInput("pins-everything", name=body.name)


def _check_bones(scene: Scene, tracks: TrackReader) -> None:
    if has_flesh_or_bones(scene):  # what these need takes long to load
        from ..constraints.bones import check_bones

        check_bones(scene)


def _make_bones(inputs: BuildInputs) -> list[Force | None]:
    if not inputs.scene.bones:
        return []
    kept: list[Force | None] = [force for force in inputs.kept if isinstance(force, Force) and force.kind == "bones"]
    if kept:
        return kept
    from ..constraints.bones import make_bones

    pins = tuple(force for force in inputs.forces if isinstance(force, BodyPins))
    return [make_bones(inputs.scene, inputs.meshes, inputs.model, inputs.tracks, pins)]


def _make_goals(inputs: BuildInputs) -> list[BodyGoal]:
    """Returns the goals of all bodies; after bones, which may not hold what pins do."""
    scene, model, goals = inputs.scene, inputs.model, []
    kept = {goal.body: goal for goal in inputs.kept if isinstance(goal, BodyGoal)}
    for number, (body, mesh, binding) in enumerate(zip(scene.bodies, inputs.meshes, inputs.bindings, strict=True)):
        if number in kept:
            goals.append(kept[number])
        elif body.goal is not None:
            in_model = Binding(binding.tet + np.int32(model.bodies[number].tets.start), binding.weights)
            goals.append(make_goal(body, body.goal, in_model, model, number, mesh.report.tet_size))
    return goals


def _make_animated_bodies(inputs: BuildInputs) -> list[AnimatedBody]:
    """Returns the bodies that are animated at some time; after bones, as goals."""
    scene, model, made = inputs.scene, inputs.model, []
    for number, (body, mesh, binding) in enumerate(zip(scene.bodies, inputs.meshes, inputs.bindings, strict=True)):
        if may_be_animated(body, inputs.tracks):
            in_model = Binding(binding.tet + np.int32(model.bodies[number].tets.start), binding.weights)
            made.append(make_animated_body(body, in_model, model, number, mesh.report.tet_size, scene.settings))
    return made


def _make_pressures(inputs: BuildInputs) -> list[BodyPressure | None]:
    """Returns the pressures of all bodies; after what lets bodies go, whose velocities they read."""
    model, made = inputs.model, list[BodyPressure | None]()
    parts = zip(inputs.scene.bodies, inputs.surfaces, inputs.meshes, inputs.bindings, strict=True)
    for number, (body, surface, mesh, binding) in enumerate(parts):
        made.append(make_pressure(body, surface, mesh, binding, model, number, inputs.forces))
    return made


def _make_hooks(inputs: BuildInputs) -> list[BodyHook]:
    """Returns the hooks of all bodies."""
    model, gravity, made = inputs.model, float(np.linalg.norm(inputs.gravity)), list[BodyHook]()
    for number, (body, binding) in enumerate(zip(inputs.scene.bodies, inputs.bindings, strict=True)):
        in_model = Binding(binding.tet + np.int32(model.bodies[number].tets.start), binding.weights)
        made += make_hooks(body, in_model, model, number, gravity)
    return made


def _make_seams(inputs: BuildInputs) -> list[SheetSeams | None]:
    """Returns the seams of all sheets."""
    model, made = inputs.model, list[SheetSeams | None]()
    for number, (body, binding) in enumerate(zip(inputs.scene.bodies, inputs.bindings, strict=True)):
        in_model = Binding(indices(binding.tet + np.int32(model.bodies[number].tets.start)), binding.weights)
        made.append(make_seams(body, in_model, model, number))
    return made


def _make_attachments(inputs: BuildInputs) -> list[SurfaceAttachments | None]:
    scene, tracks, model = inputs.scene, inputs.tracks, inputs.model
    attached = [(each, each.attached_surface) for each in scene.colliders]
    on_colliders = {owner.key: _collider_points(owner, surface.spacing) for owner, surface in attached if surface}
    if not on_colliders and not any(body.attachments for body in scene.bodies):
        return []
    points = [SurfacePoints(each.tet, each.weights, each.area) for each in inputs.body_contact_points]
    hinges = {
        number: indices(np.concatenate([mesh.sheet.hinge, mesh.sheet.strand_tet]))
        for number, mesh in enumerate(inputs.meshes)
        if mesh.sheet is not None
    }
    bodies = AttachableBodies(scene, tracks, model, inputs.surfaces, inputs.bindings, points, on_colliders, hinges)
    return [make_attachments(bodies)]


def _collider_points(collider: Collider, spacing: float) -> ColliderPoints:
    """Returns points all over a collider at rest, as those of a body with tets of a size [m]."""
    used, extra, area = sample_surface(collider.rest_vertices, collider.triangles, spacing, collider.name)
    return ColliderPoints(np.concatenate([collider.rest_vertices[used], extra]), area)


FORCES = (
    ForceKind(_make_pins),
    ForceKind(_make_bones, _check_bones),
    ForceKind(_make_goals),
    ForceKind(_make_animated_bodies),
    ForceKind(_make_pressures),
    ForceKind(lambda inputs: make_core_springs(inputs.scene, inputs.model)),
    ForceKind(lambda inputs: [make_stretch_limits(inputs.scene, inputs.meshes)]),
    ForceKind(_make_attachments),
    ForceKind(_make_seams),
    ForceKind(_make_hooks),
    ForceKind(lambda inputs: [make_rigid_damping(inputs.scene, inputs.model)]),
    ForceKind(lambda inputs: [make_joints(inputs.scene, inputs.model, inputs.tracks)]),
    ForceKind(lambda inputs: [make_wind(inputs.scene, inputs.model, inputs.surfaces, inputs.bindings)]),
    ForceKind(
        lambda inputs: [make_fields(inputs.scene, inputs.tracks, inputs.model, inputs.surfaces, inputs.bindings)]
    ),
)
