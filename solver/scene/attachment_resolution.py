# SPDX-License-Identifier: GPL-3.0-or-later
"""Which attachment of flesh is about which bone, and which attachments are links of its surface."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

from .attachment import ALL_BONES, ARMATURE_BONES, FRAME, NOTHING, AttachedSurface, Attachment, body_of_wrap
from .body_binding import BodyBinding
from .flesh import Bone
from .scene import Body, Scene


def attachment_to_bone(body: Body, bone: Bone) -> int | None:
    """Returns the number of the attachment that says how a bone holds a body, or None: the bone's own settings do.

    Of a body that is no flesh, it links the surface alone. An attachment to this bone comes before one to all bone
    meshes, and one that holds material before others. What the Wrap inside a body slides on or is tied to says nothing
    about the material.
    """
    own = [number for number, each in enumerate(body.attachments) if _is_about_material(body, each)]
    every = ALL_BONES if len(bone.triangles) else ARMATURE_BONES
    for target in (bone.key, every if _may_hold(bone, body) else None):
        found = [number for number in own if target in body.attachments[number].targets]
        if found:
            return min(found, key=lambda number: (not body.attachments[number].holds_material, number))
    return None


def surface_attachments(scene: Scene, body: Body) -> Iterator[tuple[int, list[Attachment]]]:
    """Yields the attachments of a body that link its surface, by their numbers: to its targets, or to all bones.

    A target that is not in the scene is left out, and so is what binds nodes.
    """
    bones = {bone.key for bone in scene.bones}
    known = {FRAME} | bones | {body.key for body in scene.bodies} | {collider.key for collider in scene.colliders}
    for number, attachment in enumerate(body.attachments):
        if attachment.binds_nodes:
            continue
        holds_material = body.flesh is not None and attachment.holds_material
        linked = [
            replace(attachment, target=target, more_targets=())
            for target in attachment.targets
            if body_of_wrap(target) in known and not (holds_material and target in bones)
        ]
        if linked:
            yield number, linked
        if attachment.target != ALL_BONES or holds_material:
            continue
        own = {target for each in body.attachments if not each.has_edges for target in each.targets}
        free = [bone for bone in scene.bones if len(bone.triangles) and bone.key not in own and _may_hold(bone, body)]
        yield number, [replace(attachment, target=bone.key) for bone in free]


def all_bindings(body: Body) -> list[tuple[int | None, BodyBinding]]:
    """Returns all bindings of a body: with the numbers of the attachments that ask for them, and None for others."""
    own: list[tuple[int | None, BodyBinding]] = [(None, binding) for binding in body.bindings]
    return own + [
        (number, BodyBinding(target, each.reach, each.paint, each.target_paint))
        for number, each in enumerate(body.attachments)
        if each.binds_nodes and each.strength > 0.0
        for target in each.targets
    ]


def collider_attachments(surface: AttachedSurface) -> Iterator[tuple[int, list[Attachment], bool]]:
    """Yields the attachments of a collider by their numbers: to each target, and whether one has to be in reach."""
    for number, attachment in enumerate(surface.attachments):
        bodies = [target for target in attachment.targets if target != NOTHING]
        linked = [replace(attachment, target=target, more_targets=()) for target in bodies]
        yield number, linked, NOTHING not in attachment.targets


def _may_hold(bone: Bone, body: Body) -> bool:
    return not bone.bodies or body.key in bone.bodies


def _is_about_material(body: Body, attachment: Attachment) -> bool:
    if attachment.has_edges:
        return False
    of_wrap = body.wrap_vertices and len(attachment.paint) and not attachment.paint[: -body.wrap_vertices].any()
    return attachment.holds_material or not of_wrap
