# SPDX-License-Identifier: GPL-3.0-or-later
"""What bones must not be, told before any work is done, and what is told of how they hold the flesh."""

from __future__ import annotations

import itertools
from collections.abc import Sequence

import numpy as np

from ...mesh.geometry.triangle_surface import make_surface
from ...runtime.arrays import Floats
from ...runtime.errors import BadInput, SinewError
from ...scene.attachment import ALL_BONES, ARMATURE_BONES, FIXED, NOTHING, SPRING
from ...scene.flesh import Bone
from ...scene.scene import Body, Scene
from ...scene.serialisation.range_check import check_ranges
from ...scene.tracks import TrackReader
from ..pins import BodyPins
from .bone_attachment import BoneAttachment
from .bone_parts import BonePart
from .bones_of_body import HeldBody

MAX_CONTESTED_SHARE = 0.25  # share of what the smaller of two bones reaches that both may want alike
CONTESTED_DISTANCE = 0.1  # difference of their distances up to which they do, in tet sizes
MAX_TARGET_MISMATCH = 0.1  # distance of the targets of pins and bones at the first frame that is told, in tet sizes


def check_bones(scene: Scene) -> None:
    """Looks through all bones.

    Raises:
        BadInput: One cannot hold anything; the sentence names it.
    """
    bodies = {body.key: body for body in scene.bodies}
    for bone in scene.bones:
        if len(bone.triangles):
            make_surface(bone.vertices, bone.triangles, bone.name)
        elif len(bone.vertices) != 2:
            raise BadInput("bone-without-faces", name=bone.name)
        broken = int((~np.isfinite(np.asarray(bone.vertices)).all(axis=1)).sum())
        if broken:
            raise BadInput("mesh-not-finite", name=bone.name, count=broken)
        check_ranges(bone)
        for key in bone.bodies:
            if key not in bodies and key != NOTHING:
                raise BadInput("bone-body", name=bone.name, body=key)
        _check_paint(bone, "Mask", bone.mask, len(bone.vertices))
        if len(bone.weights):
            if len(bone.bodies) != 1:
                raise BadInput("bone-body", name=bone.name, body=", ".join(bone.bodies))
            _check_paint(bone, "its weights", bone.weights, len(bodies[bone.bodies[0]].vertices))
    for body in scene.bodies:
        if body.flesh is not None and len(body.flesh.attachment_paint) not in (0, len(body.vertices)):
            raise BadInput("paint-without-vertices", name=body.name, setting="Attachment")


def _check_paint(bone: Bone, setting: str, paint: Floats, count: int) -> None:
    if len(paint) not in (0, count) or not np.isfinite(np.asarray(paint)).all():
        raise BadInput("paint-without-vertices", name=bone.name, setting=setting)


def check_reached(held: Sequence[HeldBody]) -> None:
    """Looks for bones that reach none of the flesh that they may hold.

    Raises:
        BadInput: There is one; the sentence says how far away it is. Of armature bones, which an artist does not choose
            one by one, it is enough that one of them holds its body.
    """
    for one in held:
        there = one.found
        lines = [n for n, number in zip(there.nodes, there.pieces, strict=True) if len(one.pieces[number].bone.weights)]
        if lines and not any(map(len, lines)):
            raise BadInput("armature-outside", name=one.body.name, count=len(lines))
    for bone in sorted({piece.number for one in held for piece in one.pieces}):
        places = [
            (one, number, row)
            for one in held
            for row, number in enumerate(one.found.pieces)
            if one.pieces[number].number == bone
        ]
        if not places or any(len(one.found.nodes[row]) for one, _, row in places):
            continue
        own = [one.pieces[number].bone for one, number, _ in places]
        if len(own[0].weights) or all(_may_miss_bones(one.body) for one, *_ in places):
            continue
        for one, _, row in places:
            if one.found.masked_count[row]:
                raise BadInput("bone-masked", name=own[0].name, body=one.body.name)
        ways = [float(one.shapes[number].distance_to(one.nodes).min()) for one, number, _ in places]
        nearest = int(np.argmin(ways))
        away, name = ways[nearest], places[nearest][0].body.name
        numbers = {"distance": f"{own[nearest].distance:.4g}", "away": f"{away:.4g}", "wanted": f"{1.01 * away:.4g}"}
        raise BadInput("bone-outside", name=own[0].name, body=name, **numbers)


def _may_miss_bones(body: Body) -> bool:
    """Whether a body has a place without bones: muscles with pinned ends, fat outside of a Wrap, attached skin."""
    every = ALL_BONES, ARMATURE_BONES
    others = (each for each in body.attachments if each.target not in every and not each.may_miss)
    is_attached = any(each.kind in (SPRING, FIXED) for each in others)
    is_muscle = body.muscle is not None and len(body.pinned) > 0
    return is_muscle or is_attached or bool(body.wrap_vertices)


def bone_conflicts(pieces: Sequence[BonePart], body: Body, found: BoneAttachment, tet_size: float) -> list[SinewError]:
    """Returns what an artist should know: bones that want the same flesh, and such as others leave nothing to."""
    warnings = [
        SinewError("bones-want-the-same", name=body.name, count=count, bone=one, other=other)
        for (one, other), count in _contested_nodes(pieces, found, tet_size).items()
    ]
    kept = {pieces[number].number for number in np.unique(found.piece[found.piece >= 0]).tolist()}
    reaching = {pieces[n].number: pieces[n].bone for n, own in zip(found.pieces, found.nodes, strict=True) if len(own)}
    crowded = [bone for number, bone in reaching.items() if number not in kept]
    for kind, is_line in (("bone-crowded-out", False), ("armature-crowded-out", True)):
        names = [f'"{bone.name}"' for bone in crowded if is_line is not bool(len(bone.triangles))]
        if names:
            warnings.append(SinewError(kind, body=body.name, bones=", ".join(names)))
    return warnings


def _contested_nodes(pieces: Sequence[BonePart], found: BoneAttachment, tet_size: float) -> dict[tuple[str, str], int]:
    """Returns names of bones that want many nodes alike, and how many."""
    node_counts: dict[tuple[str, str], int] = {}
    rows = [row for row, number in enumerate(found.pieces) if pieces[number].bone.stiffness is None]
    for one, other in itertools.combinations(rows, 2):
        first, second = pieces[found.pieces[one]], pieces[found.pieces[other]]
        if first.number == second.number or (len(first.bone.weights) and len(second.bone.weights)):
            continue  # weights have decided
        _, i, j = np.intersect1d(found.nodes[one], found.nodes[other], assume_unique=True, return_indices=True)
        a, b = found.distance[one][i], found.distance[other][j]
        count = int((((a < 0.0) & (b < 0.0)) | (np.abs(a - b) <= CONTESTED_DISTANCE * tet_size)).sum())
        if count > MAX_CONTESTED_SHARE * max(1, min(len(found.nodes[one]), len(found.nodes[other]))):
            names = first.bone.name, second.bone.name
            node_counts[names] = node_counts.get(names, 0) + count
    return node_counts


def check_freedom(body: Body, is_fixed: np.ndarray) -> None:
    """Raises BadInput where bones and pins hold all nodes of a body, (n,)."""
    if is_fixed.all():
        raise BadInput("bones-everything", name=body.name)


def permanent_pins(pins: Sequence[BodyPins], tracks: TrackReader) -> list[BodyPins]:
    """Returns the pins that have no animated stiffness, which could let go of their nodes."""
    return [one for one in pins if not tracks.has(f"body.{one.key}.pin_stiffness")]
