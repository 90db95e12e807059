# SPDX-License-Identifier: GPL-3.0-or-later
"""The check of attachments: that their targets are there, and can be attached to."""

from __future__ import annotations

import numpy as np

from ..runtime.errors import BadInput
from .attachment import ALL_BONES, ARMATURE_BONES, ATTACHMENT_KINDS, NOTHING, WRAP_SUFFIX, Attachment, body_of_wrap
from .attachment_resolution import surface_attachments
from .scene import Body, Scene


def check_attachments(scene: Scene) -> None:
    """Raises BadInput where an attachment is of no kind, or its target is missing or of the wrong kind."""
    for body in scene.bodies:
        for attachment in body.attachments:
            _check_words(body, attachment)
            for target in attachment.targets:
                _check_target(scene, body, attachment, target)
        for number, _ in surface_attachments(scene, body):
            if not body.attachments[number].reach > 0.0:
                raise BadInput(
                    "setting-out-of-range", setting="Reach", name=body.name, value=0.0, range="more than 0 m"
                )


def attached_pairs(scene: Scene) -> list[tuple[str, str]]:
    """Returns the pairs of keys of bodies and what they are attached to, which do not also collide."""
    known = {body.key for body in scene.bodies} | {collider.key for collider in scene.colliders}
    found = ((body.key, body_of_wrap(t)) for body in scene.bodies for each in body.attachments for t in each.targets)
    return [pair for pair in found if pair[1] in known]


def _check_words(body: Body, attachment: Attachment) -> None:
    if attachment.kind not in ATTACHMENT_KINDS:
        known = ", ".join(ATTACHMENT_KINDS)
        raise BadInput("attachment-kind", name=body.name, word=attachment.kind, known=known)
    if len(attachment.paint) not in (0, len(body.vertices)):
        raise BadInput("paint-without-vertices", name=body.name, setting="Attachment")
    for paint in (attachment.paint, attachment.target_paint):
        is_wrong = ~(np.isfinite(paint) & (paint >= 0.0))
        if is_wrong.any():
            worst = float(paint[np.argmax(is_wrong)])
            raise BadInput(
                "setting-out-of-range",
                setting="A weight of an attachment",
                name=body.name,
                value=worst,
                range="0 or more",
            )


def _check_target(scene: Scene, body: Body, attachment: Attachment, target: str) -> None:
    if target == NOTHING:
        return
    if target == ALL_BONES:
        if not any(len(bone.triangles) for bone in scene.bones):
            raise BadInput("attachment-no-bones", name=body.name)
        return
    if target == ARMATURE_BONES:
        if not any(not len(bone.triangles) and body.key in bone.bodies for bone in scene.bones):
            raise BadInput("armature-none", name=body.name)
        if not attachment.holds_material:
            raise BadInput("attachment-armature-slides", name=body.name)
        return
    if target == body.key:
        raise BadInput("attachment-to-itself", name=body.name)
    if target == body.key + WRAP_SUFFIX:
        raise BadInput("attachment-to-own-wrap", name=body.name)
    other = next((each for each in scene.bodies if each.key == body_of_wrap(target)), None)
    if other is not None:
        if target != other.key and not other.wrap_vertices:
            raise BadInput("attachment-target-missing", name=body.name, target=f"the Wrap of {other.name}")
        _check_target_paint(body, attachment, len(other.vertices))
        if body.follows_pose and not other.follows_pose:
            raise BadInput("attachment-pose-to-motion", name=body.name, target=other.name)
        return
    collider = next((each for each in scene.colliders if each.key == target), None)
    bone = next((each for each in scene.bones if each.key == target), None)
    found = collider or bone
    if found is None:
        raise BadInput("attachment-target-missing", name=body.name, target=target)
    _check_target_paint(body, attachment, len(found.vertices))
    if found is bone and not len(bone.triangles):
        if body.flesh is None or not attachment.holds_material:
            raise BadInput("attachment-line-slides", name=body.name, target=bone.name)
        return
    if not len(found.triangles) or (collider is not None and collider.shape != "mesh"):
        raise BadInput("attachment-without-surface", name=body.name, target=found.name)


def _check_target_paint(body: Body, attachment: Attachment, count: int) -> None:
    if len(attachment.target_paint) > count:
        raise BadInput("paint-without-vertices", name=body.name, setting="Target Group")
