# SPDX-License-Identifier: GPL-3.0-or-later
"""The check of a scene before any work: ranges, words, paint, and features that exclude each other."""

from __future__ import annotations

import math
from collections.abc import Iterator

import numpy as np

from ..runtime.arrays import Floats, Indices
from ..runtime.errors import BadInput
from .attachment_validation import check_attachments
from .binding_validation import check_bindings
from .contact import COLLIDER_SHAPES, COLLIDER_SIDES, Collider
from .exact_contact_validation import check_exact_contact
from .flesh import DYNAMIC, FLESH_LAWS, FLESH_MOTIONS, FLESH_TIME_SCHEMES
from .formulation import (
    FORMULATION_SWITCHES,
    FORMULATIONS,
    FRACTURE,
    GRAVITY_IN_SHAPE,
    HEAT,
    PLASTICITY,
    SWITCH_VALUES,
    display_name,
    unsupported_features,
)
from .hook import Hook
from .joint_validation import check_joints
from .scene import LINEAR_SOLVERS, PLASTICITY_LAWS, Body, Scene, Settings
from .serialisation.range_check import check_ranges
from .settings.activation_settings import HEAD_GROUP
from .settings.fibre_settings import FIBRE_DIRECTION
from .settings.rest_scale_settings import REST_SCALE_DIRECTION
from .settings.setting import CHOICE, WEIGHT_GROUP, Setting
from .settings.surface_attachment_settings import ATTACHMENT_GROUP
from .settings.tables import OBJECT_SETTINGS
from .sheet import is_wire

RangeCheck = tuple[str, float, str, bool]


def check_scene(scene: Scene) -> None:
    """Looks through all settings and meshes.

    Raises:
        BadInput: Something cannot be simulated; the sentence names it.
    """
    if not scene.bodies:
        raise BadInput("nothing-to-simulate")
    check_settings(scene.settings)
    if scene.wind is not None:
        check_ranges(scene.wind)
    for body in scene.bodies:
        check_body(body)
        _check_heat(body)
        _check_flesh(body)
        _check_rigid_damping(body)
        _check_method(body)
    for source in scene.heat_sources:
        check_ranges(source)
    for force_field in scene.force_fields:
        check_ranges(force_field)
    for collider in scene.colliders:
        _check_collider(collider)
    known = {body.key for body in scene.bodies} | {collider.key for collider in scene.colliders}
    check_attachments(scene)
    check_bindings(scene)
    for joint in scene.joints:
        check_ranges(joint)
    check_joints(scene)
    check_exact_contact(scene)
    for pair in scene.ignored_pairs:
        for key in sorted(set(pair) - known):
            raise BadInput("ignored-pair-unknown", name=key)


def check_settings(settings: Settings) -> None:
    """Raises BadInput where a setting of the scene is out of range."""
    check_ranges(settings)
    if settings.frame_end < settings.frame_start:
        raise BadInput("frame-range-empty", start=settings.frame_start, end=settings.frame_end)
    if settings.substeps % settings.samples_per_frame:
        raise BadInput("samples-do-not-divide", samples=settings.samples_per_frame, substeps=settings.substeps)
    if settings.linear_solver not in LINEAR_SOLVERS:
        raise BadInput("linear-solver", solver=settings.linear_solver, known=", ".join(LINEAR_SOLVERS))


def check_body(body: Body) -> None:
    """Raises BadInput where a body cannot be simulated."""
    if not len(body.triangles) and not is_wire(body):
        raise BadInput("mesh-empty", name=body.name)
    broken = int((~np.isfinite(body.vertices).all(axis=1)).sum())
    if broken:
        raise BadInput("mesh-not-finite", name=body.name, count=broken)
    if len(body.triangles) and not 0 <= body.triangles.min() <= body.triangles.max() < len(body.vertices):
        wrong = body.triangles.min() if body.triangles.min() < 0 else body.triangles.max()
        raise BadInput("mesh-index", name=body.name, index=int(wrong), count=len(body.vertices))
    check_ranges(body)
    if body.played_count < 1:
        raise BadInput("mesh-empty", name=body.name)
    _check_pins(body, body.pinned, body.pin_weights)
    _check_pins(body, body.attached, body.attached_weights)
    if body.plasticity is not None and body.plasticity.law not in PLASTICITY_LAWS:
        raise BadInput("plastic-law", name=body.name, law=body.plasticity.law)
    painted = (
        body.material_paint,
        body.rest_scale,
        body.plasticity,
        body.fracture,
        body.core,
        body.goal,
        body.stretch_limit,
        body.muscle,
        body.muscle and body.muscle.fibres,
    )
    for part in (body, body.material, body.meshing, body.heat, *painted):
        _check_words(body.name, part)
        _check_paints(body, part)
    for head in body.muscle.heads if body.muscle is not None else ():
        _check_weights(body, HEAD_GROUP.label, head.weights)
    for hook in body.hooks:
        _check_hook(body, hook)
    if body.surface_detail is not None:
        check_ranges(body.surface_detail)
    _check_directions(body)


def _check_collider(collider: Collider) -> None:
    check_ranges(collider)
    if collider.sides not in COLLIDER_SIDES:
        raise BadInput("collider-sides", name=collider.name, sides=collider.sides, known=", ".join(COLLIDER_SIDES))
    if collider.shape not in COLLIDER_SHAPES:
        raise BadInput("collider-shape", name=collider.name, shape=collider.shape, known=", ".join(COLLIDER_SHAPES))


def _check_pins(body: Body, pinned: Indices, weights: Floats) -> None:
    if len(pinned) != len(weights) or (len(pinned) and not 0 <= pinned.min() <= pinned.max() < len(body.vertices)):
        raise BadInput("pins-without-vertices", name=body.name)
    if len(weights) and not ((weights > 0.0) & (weights <= 1.0)).all():
        worst = float(weights[np.argmax(~((weights > 0.0) & (weights <= 1.0)))])
        _check_ranges(body.name, ("A pin weight", worst, "above 0 and at most 1", False))


def _check_heat(body: Body) -> None:
    heat = body.heat
    if heat is None:
        return
    rows = np.asarray(heat.softening, np.float64).reshape(-1, 4)
    for temperature, *factors in rows.tolist():
        _check_ranges(body.name, ("A temperature of Softening Factors", temperature, "a number", True))
        _check_ranges(body.name, *(("A factor of Softening Factors", f, "0 or more", f >= 0.0) for f in factors))
    if len(rows) and not (np.diff(rows[:, 0]) > 0.0).all():
        raise BadInput("softening-not-rising", name=body.name)


def _check_words(name: str, part: object) -> None:
    """Raises BadInput where a menu of a part of a scene has a word that is none of its choices."""
    for setting in _settings_of(part, CHOICE):
        value = getattr(part, setting.field.partition(".")[2])
        if value not in setting.words:
            wanted = "one of " + ", ".join(map(str, setting.words))
            raise BadInput("setting-out-of-range", setting=setting.label, name=name, value=value, range=wanted)


def _check_paints(body: Body, part: object) -> None:
    """Raises BadInput where what is painted for a part of a body does not fit its vertices."""
    for setting in _settings_of(part, WEIGHT_GROUP):
        _check_weights(body, setting.label, getattr(part, setting.field.partition(".")[2]))


def _check_hook(body: Body, hook: Hook) -> None:
    check_ranges(hook)
    _check_weights(body, ATTACHMENT_GROUP.label, hook.paint)
    if len(hook.paint) != len(body.vertices) or not hook.paint.any():
        raise BadInput("hook-without-points", name=body.name)


def _check_directions(body: Body) -> None:
    found = [(REST_SCALE_DIRECTION, body.rest_scale.direction)]
    if body.muscle is not None:
        found.append((FIBRE_DIRECTION, body.muscle.fibres.direction))
    for setting, direction in found:
        if len(direction) not in (0, len(body.vertices)) or not np.isfinite(direction).all():
            raise BadInput("paint-without-vertices", name=body.name, setting=setting.label)


def _settings_of(part: object, kind: str) -> Iterator[Setting]:
    owner = type(part).__name__
    yield from (s for s in OBJECT_SETTINGS.values() if s.kind == kind and s.field.partition(".")[0] == owner)


def _check_flesh(body: Body) -> None:
    flesh = body.flesh
    if flesh is None:
        return
    if flesh.motion not in FLESH_MOTIONS:
        raise BadInput("flesh-motion", name=body.name, motion=flesh.motion)
    if flesh.motion != DYNAMIC:
        for feature, is_on in (("Pressure", body.pressure is not None), ("Animated", body.animated)):
            if is_on:
                raise BadInput("pose-combined", name=body.name, feature=feature)
    if flesh.law not in FLESH_LAWS:
        raise BadInput("flesh-law", name=body.name, law=flesh.law, laws=", ".join(FLESH_LAWS))
    if flesh.scheme not in FLESH_TIME_SCHEMES:
        raise BadInput("flesh-scheme", name=body.name, scheme=flesh.scheme)
    for feature in _features(body):
        if feature != GRAVITY_IN_SHAPE:
            raise BadInput("flesh-combined", name=body.name, feature=feature)
    _check_paints(body, flesh)


def _check_rigid_damping(body: Body) -> None:
    if any(body.rigid_damping) and not body.is_rigid:
        raise BadInput("rigid-damping-soft", name=body.name)


def _features(body: Body) -> list[str]:
    """Returns what a body does beside moving, as the window calls it."""
    is_on_by_feature = (
        (PLASTICITY, body.plasticity is not None),
        (HEAT, body.heat is not None),
        (FRACTURE, body.fracture is not None),
        (GRAVITY_IN_SHAPE, body.gravity_in_shape),
    )
    return [feature for feature, is_on in is_on_by_feature if is_on]


def _check_method(body: Body) -> None:
    """Raises BadInput where there is no such method, or where it is not made for what the body is to do."""
    method = body.method
    if body.flesh is not None:
        return
    if method.name not in FORMULATIONS:
        raise BadInput("method-unknown", name=body.name, method=method.name, known=", ".join(FORMULATIONS))
    for switch in FORMULATION_SWITCHES[method.name]:
        value, known = getattr(method, switch), SWITCH_VALUES.get(switch)
        if known is not None and value not in known:
            raise BadInput("method-switch", name=body.name, switch=switch, value=value, known=", ".join(known))
    found = [] if body.is_sheet else _features(body)  # what sheets do not support, check_sheets says
    for feature in unsupported_features(method):
        if feature in found:
            raise BadInput("method-combined", name=body.name, method=display_name(method), feature=feature)


def _check_weights(body: Body, setting: str, paint: Floats) -> None:
    if len(paint) not in (0, len(body.vertices)):
        raise BadInput("paint-without-vertices", name=body.name, setting=setting)
    if len(paint) and not (np.isfinite(paint) & (paint >= 0.0)).all():
        worst = float(paint[np.argmax(~(np.isfinite(paint) & (paint >= 0.0)))])
        _check_ranges(body.name, (f"A weight of {setting}", worst, "0 or more", False))


def _check_ranges(name: str, *ranges: RangeCheck) -> None:
    """Raises BadInput for the first (setting, value, words for its range, whether it is within) that is not."""
    for setting, value, words, holds in ranges:
        if not holds or not math.isfinite(value):
            raise BadInput("setting-out-of-range", setting=setting, name=name, value=f"{value:.6g}", range=words)
