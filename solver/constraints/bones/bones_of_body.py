# SPDX-License-Identifier: GPL-3.0-or-later
"""How the bones of a scene hold one body: each by its own settings, or as an attachment of the body says."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

from ...mesh.geometry.surface_paint import PAINT_THRESHOLD
from ...runtime.arrays import Floats, floats
from ...runtime.errors import BadInput
from ...scene.attachment import ALL_BONES, ARMATURE_BONES, FIXED, Attachment, padded
from ...scene.attachment_resolution import attachment_to_bone
from ...scene.flesh import Bone
from ...scene.scene import Body
from .bone_attachment import BoneAttachment
from .bone_distance import BoneShape
from .bone_parts import BonePart, GoverningAttachment


@dataclass(frozen=True)
class HeldBody:
    """A body, and what bones hold of it.

    Attributes:
        body: The body.
        nodes: At rest [m], (n, 3).
        pieces, shapes: All bones, as they hold this body.
        found: What they hold.
    """

    body: Body
    nodes: Floats
    pieces: Sequence[BonePart]
    shapes: Sequence[BoneShape]
    found: BoneAttachment


def bones_of_body(
    pieces: Sequence[BonePart], shapes: Sequence[BoneShape], body: Body
) -> tuple[list[BonePart], list[BoneShape]]:
    """Returns all pieces of bones, and their shapes, with the distance and springs that they have for a body."""
    own_pieces, own_shapes = list(pieces), list(shapes)
    for place, piece in enumerate(pieces):
        number = attachment_to_bone(body, piece.bone)
        if number is None:
            continue
        attachment = body.attachments[number]
        stiffness = None if attachment.kind == FIXED else attachment.stiffness
        keeps_distance = not len(piece.bone.triangles) and attachment.reach == 0.0
        keeps_distance |= attachment.target == ARMATURE_BONES
        distance = piece.bone.distance if keeps_distance else attachment.reach
        bone = replace(piece.bone, distance=distance, stiffness=stiffness, mask=_mask(piece.bone, attachment))
        key = f"body.{body.key}.attachment.{number}"
        own_pieces[place] = replace(piece, bone=bone, attachment=GoverningAttachment(attachment, key))
        own_shapes[place] = shapes[place].with_bone(bone)
    return own_pieces, own_shapes


def _mask(bone: Bone, attachment: Attachment) -> Floats:
    """Returns the mask of a bone for an attachment, whose paint on the bone comes first."""
    paint = attachment.target_paint
    return padded(paint, len(bone.vertices)) if len(paint) else bone.mask


def check_attached(held: HeldBody) -> None:
    """Makes sure that of the bones that an attachment of a body names one reaches it.

    Raises:
        BadInput: None does, or paint keeps it from the body; both are named.
    """
    rows_of: dict[str, list[int]] = {}
    for row, number in enumerate(held.found.pieces):
        attachment = held.pieces[number].attachment
        if attachment is None or attachment.attachment.may_miss:
            continue
        if attachment.attachment.target not in (ALL_BONES, ARMATURE_BONES):
            rows_of.setdefault(attachment.key, []).append(row)
    for rows in rows_of.values():
        if any(len(held.found.nodes[row]) for row in rows):
            continue
        if any(_reaches_surface(held, held.found.pieces[row]) for row in rows):
            continue  # of the surface, which it holds alone, it reaches less than there are nodes for
        name = held.body.name
        for row in rows:
            if held.found.masked_count[row]:
                raise BadInput("bone-masked", name=held.pieces[held.found.pieces[row]].bone.name, body=name)
        pieces = [held.found.pieces[row] for row in rows]
        ways = {place: float(held.shapes[place].distance_to(held.nodes).min()) for place in pieces}
        place = min(ways, key=ways.__getitem__)
        bone = held.pieces[place].bone
        numbers = {"distance": f"{ways[place]:.3g}", "reach": f"{bone.distance:.3g}"}
        raise BadInput("attachment-out-of-reach", name=name, target=bone.name, **numbers)


def _reaches_surface(held: HeldBody, place: int) -> bool:
    """Whether a bone that holds the surface alone reaches vertices of it where it is painted."""
    piece = held.pieces[place]
    if piece.attachment is None or not piece.holds_surface_only:
        return False
    paint, vertices = piece.attachment.attachment.paint, floats(held.body.vertices)
    points = vertices[paint > PAINT_THRESHOLD] if len(paint) else vertices
    return bool((held.shapes[place].distance_to(points) < piece.bone.distance).any()) if len(points) else False
