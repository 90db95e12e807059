# SPDX-License-Identifier: GPL-3.0-or-later
"""The check of attachments: that their targets are there, and can be attached to."""

from __future__ import annotations

import numpy as np

from ..runtime.errors import BadInput
from .attachment import ALL_BONES, ARMATURE_BONES, ATTACHMENT_KINDS, NOTHING, Attachment
from .attachment_resolution import surface_attachments
from .contact import Collider
from .scene import Body, Scene


def check_attachments(scene: Scene) -> None:
    """Raises BadInput where an attachment is of no kind, or its target is missing or of the wrong kind."""
    for collider in scene.colliders:
        _check_attached_surface(scene, collider)
    for body in scene.bodies:
        for attachment in body.attachments:
            _check_words(body, attachment)
            _check_target(scene, body, attachment)
        for number, _ in surface_attachments(scene, body):
            _check_reach(body, body.attachments[number])


def attached_pairs(scene: Scene) -> list[tuple[str, str]]:
    """Returns the pairs of keys of bodies and what they are attached to, which do not also collide."""
    known = {body.key for body in scene.bodies} | {collider.key for collider in scene.colliders}
    pairs = [(body.key, each.target) for body in scene.bodies for each in body.attachments]
    attached = [(each, each.attached_surface) for each in scene.colliders]
    pairs += [(owner.key, each.target) for owner, surface in attached if surface for each in surface.attachments]
    return [pair for pair in pairs if pair[1] in known]


def _check_attached_surface(scene: Scene, collider: Collider) -> None:
    """Checks the attachments that a collider has to bodies."""
    surface = collider.attached_surface
    if surface is None:
        return
    if not len(collider.triangles) or len(collider.rest_vertices) != len(collider.vertices):
        raise BadInput("attachment-without-surface", name=collider.name, target=collider.name)
    E = surface.youngs_modulus
    if len(E) != len(collider.vertices):
        raise BadInput("paint-without-vertices", name=collider.name, setting="Stiffness")
    if not (E >= 0.0).all():
        limits = {"setting": "Stiffness", "value": float(E.min()), "range": "0 Pa or more"}
        raise BadInput("setting-out-of-range", name=collider.name, **limits)
    for attachment in surface.attachments:
        _check_words(collider, attachment)
        _check_reach(collider, attachment)
        if all(body.key != attachment.target for body in scene.bodies):
            raise BadInput("attachment-target-missing", name=collider.name, target=attachment.target)


def _check_reach(owner: Body | Collider, attachment: Attachment) -> None:
    if not attachment.reach > 0.0:
        raise BadInput("setting-out-of-range", setting="Reach", name=owner.name, value=0.0, range="more than 0 m")


def _check_words(body: Body | Collider, attachment: Attachment) -> None:
    if attachment.kind not in ATTACHMENT_KINDS:
        known = ", ".join(ATTACHMENT_KINDS)
        raise BadInput("attachment-kind", name=body.name, word=attachment.kind, known=known)
    paint = attachment.paint
    if len(paint) not in (0, len(body.vertices)):
        raise BadInput("paint-without-vertices", name=body.name, setting="Attachment")
    if len(paint) and not (np.isfinite(paint) & (paint >= 0.0)).all():
        worst = float(paint[np.argmax(~(np.isfinite(paint) & (paint >= 0.0)))])
        raise BadInput(
            "setting-out-of-range", setting="A weight of an attachment", name=body.name, value=worst, range="0 or more"
        )


def _check_target(scene: Scene, body: Body, attachment: Attachment) -> None:
    if attachment.target == NOTHING:
        return
    if attachment.target == ALL_BONES:
        if not any(len(bone.triangles) for bone in scene.bones):
            raise BadInput("attachment-no-bones", name=body.name)
        return
    if attachment.target == ARMATURE_BONES:
        if not any(not len(bone.triangles) and body.key in bone.bodies for bone in scene.bones):
            raise BadInput("armature-none", name=body.name)
        if not attachment.holds_material:
            raise BadInput("attachment-armature-slides", name=body.name)
        return
    if attachment.target == body.key:
        raise BadInput("attachment-to-itself", name=body.name)
    other = next((each for each in scene.bodies if each.key == attachment.target), None)
    if other is not None:
        if body.follows_pose and not other.follows_pose:
            raise BadInput("attachment-pose-to-motion", name=body.name, target=other.name)
        return
    collider = next((each for each in scene.colliders if each.key == attachment.target), None)
    bone = next((each for each in scene.bones if each.key == attachment.target), None)
    found = collider or bone
    if found is None:
        raise BadInput("attachment-target-missing", name=body.name, target=attachment.target)
    if not len(found.triangles) or (collider is not None and collider.shape != "mesh"):
        raise BadInput("attachment-without-surface", name=body.name, target=found.name)
