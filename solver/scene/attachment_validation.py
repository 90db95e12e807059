# SPDX-License-Identifier: GPL-3.0-or-later
"""The check of attachments: that their targets are there, and can be attached to."""

from __future__ import annotations

import numpy as np

from ..runtime.errors import BadInput
from .attachment import (
    ALL_BONES,
    ARMATURE_BONES,
    ATTACHMENT_KINDS,
    FRAME,
    NOTHING,
    SLIDING,
    SPRING,
    WRAP_SUFFIX,
    Attachment,
    body_of_wrap,
)
from .attachment_resolution import surface_attachments
from .contact import Collider
from .flesh import DYNAMIC
from .scene import Body, Scene


def check_attachments(scene: Scene) -> None:
    """Raises BadInput where an attachment is of no kind, or its target is missing or of the wrong kind."""
    for collider in scene.colliders:
        _check_attached_surface(scene, collider)
    for body in scene.bodies:
        for attachment in body.attachments:
            _check_words(body, attachment)
            _check_edges(body, attachment)
            _check_springs(scene, body, attachment)
            for target in attachment.targets:
                _check_target(scene, body, attachment, target)
        for number, _ in surface_attachments(scene, body):
            _check_reach(body, body.attachments[number])


def attached_pairs(scene: Scene) -> list[tuple[str, str]]:
    """Returns the pairs of keys of bodies and what they are attached to by a row that does not let them collide."""
    known = {body.key for body in scene.bodies} | {collider.key for collider in scene.colliders}
    owned = [(body.key, body.attachments) for body in scene.bodies]
    attached = [(each.key, each.attached_surface) for each in scene.colliders]
    owned += [(key, surface.attachments) for key, surface in attached if surface is not None]
    passing = [(key, each) for key, own in owned for each in own if not each.collides and not each.has_edges]
    found = ((key, body_of_wrap(target)) for key, each in passing for target in each.targets)
    return [pair for pair in found if pair[1] in known]


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
        _check_edges(collider, attachment)
        _check_reach(collider, attachment)
        for target in attachment.targets:
            if target != NOTHING and not _is_body(scene, collider, attachment, target):
                raise BadInput("attachment-target-missing", name=collider.name, target=target)


def _check_reach(owner: Body | Collider, attachment: Attachment) -> None:
    if not attachment.reach > 0.0:
        raise BadInput("setting-out-of-range", setting="Reach", name=owner.name, value=0.0, range="more than 0 m")


def _check_springs(scene: Scene, body: Body, attachment: Attachment) -> None:
    """Raises BadInput where damping or a breaking force is asked of what cannot have it."""
    bodies = {each.key: each for each in scene.bodies}
    if attachment.damping > 0.0 and attachment.kind == SPRING:
        others = [each for target in attachment.targets if (each := bodies.get(body_of_wrap(target))) is not None]
        if len(others) < len(attachment.targets) and not attachment.has_edges:
            raise BadInput("attachment-damped-target", name=body.name)
        for each in (body, *others):
            if each.flesh is not None and each.flesh.motion == DYNAMIC and each.flesh.scheme == "newmark":
                raise BadInput("attachment-damped-newmark", name=body.name, other=each.name)
    if attachment.breaking_force is None:
        return
    if attachment.binds_nodes:
        raise BadInput("binding-breaks", name=body.name)
    if body.follows_pose:
        raise BadInput("attachment-breaks-pose", name=body.name)
    bones = {ALL_BONES, ARMATURE_BONES, *(bone.key for bone in scene.bones)}
    if body.flesh is not None and attachment.holds_material and bones & set(attachment.targets):
        raise BadInput("attachment-breaks-bone", name=body.name)


def _check_edges(owner: Body | Collider, attachment: Attachment) -> None:
    """Raises BadInput where a row of edges is to do what edges cannot, or another one is about what only edges can."""
    if not attachment.has_edges:
        if FRAME in attachment.targets:
            raise BadInput("attachment-target-missing", name=owner.name, target=FRAME)
        return
    if attachment.kind == SLIDING or attachment.is_exact:
        raise BadInput("edges-slide", name=owner.name)
    if ARMATURE_BONES in attachment.targets:
        raise BadInput("edges-to-armature", name=owner.name)
    edges = np.asarray(attachment.edges)
    if edges.shape[1:] != (2, 3) or not np.isfinite(edges).all():
        raise BadInput("edges-not-finite", name=owner.name)


def _check_words(body: Body | Collider, attachment: Attachment) -> None:
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
    if target in (NOTHING, FRAME):
        return
    if target == ALL_BONES:
        holds_flesh = body.flesh is not None and attachment.holds_material  # of bones that are still to come, none
        if not holds_flesh and not any(len(bone.triangles) for bone in scene.bones):
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
    if _is_body(scene, body, attachment, target):
        other = next(each for each in scene.bodies if each.key == body_of_wrap(target))
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
        if attachment.has_edges:
            return  # the bone carries the ends of the edges
        if body.flesh is None or not attachment.holds_material:
            raise BadInput("attachment-line-slides", name=body.name, target=bone.name)
        return
    if not len(found.triangles) or (collider is not None and collider.shape != "mesh"):
        raise BadInput("attachment-without-surface", name=body.name, target=found.name)


def _is_body(scene: Scene, owner: Body | Collider, attachment: Attachment, target: str) -> bool:
    """Checks a target that is a body or a Wrap; returns whether it is one."""
    other = next((each for each in scene.bodies if each.key == body_of_wrap(target)), None)
    if other is None:
        return False
    is_wrap = target != other.key
    if is_wrap and not other.wrap_vertices:
        raise BadInput("attachment-target-missing", name=owner.name, target=f"the Wrap of {other.name}")
    _check_target_paint(owner, attachment, other.wrap_vertices if is_wrap else len(other.vertices))
    return True


def _check_target_paint(body: Body | Collider, attachment: Attachment, count: int) -> None:
    if len(attachment.target_paint) > count:
        raise BadInput("paint-without-vertices", name=body.name, setting="Target Group")
