# SPDX-License-Identifier: GPL-3.0-or-later
"""Bones that hold so few nodes that these do not turn the flesh along: the tets are too coarse for them."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace

import numpy as np

from ...runtime.arrays import Floats, Indices
from ...runtime.errors import SinewError
from ...scene.scene import Body
from ..pin_regions import tells_rotation
from .bone_attachment import BoneAttachment, attach
from .bone_distance import BoneShape
from .bone_parts import BonePart

MIN_NODES_PER_BONE = 8  # nodes of a bone below which it is told
DISTANCE_FACTORS = (1.01, 1.5)  # how much farther than its nearest nodes a bone is tried
MAX_NAMED_BONES = 4  # bones that are named in one sentence


def insufficient_attachment(
    pieces: Sequence[BonePart],
    shapes: Sequence[BoneShape],
    body: Body,
    nodes: Floats,
    tets: Indices,
    found: BoneAttachment,
    tet_size: float,
) -> list[SinewError]:
    """Returns one warning that names all bones which hold too few nodes of a body, or none.

    It says from which distance on they would hold enough, where that was tried and is so.

    Args:
        pieces, shapes: All bones.
        body, nodes, tets: With nodes at rest [m], (n, 3), and its own tets, (m, 4).
        found: What holds it.
        tet_size: [m].
    """
    few = dict(_insufficient_bones(pieces, nodes, found, tet_size))
    if not few:
        return []
    bones = {piece.number: piece.bone for piece in pieces}
    descriptions = [f'"{bones[number].name}" has {words}' for number, words in few.items()]
    more = [f"{len(descriptions) - MAX_NAMED_BONES} more have as few"] if len(descriptions) > MAX_NAMED_BONES else []
    details = {"name": body.name, "bones": ", ".join(descriptions[:MAX_NAMED_BONES] + more)}
    is_line = {not len(bones[number].triangles) for number in few}
    for factor in DISTANCE_FACTORS:
        distance = float(f"{factor * _sufficient_distance(pieces, shapes, nodes, found, few):.3g}")
        larger = [_with_distance(piece, few, True in is_line, distance) for piece in pieces]
        again = attach(larger, [BoneShape(piece.bone) for piece in larger], body, nodes, tets)
        if not dict(_insufficient_bones(larger, nodes, again, tet_size)):
            words = " and ".join(sorted({_setting_of(piece) for piece in pieces if piece.number in few}))
            return [SinewError("bones-hold-few", setting=words, distance=f"{distance:.4g}", **details)]
    return [SinewError("bones-hold-few-at-all", tet_size=f"{0.5 * tet_size:.3g}", **details)]


def _setting_of(piece: BonePart) -> str:
    """Returns how the window calls how far a bone holds flesh."""
    if piece.attachment is not None:
        return "Reach"
    return "Distance" if len(piece.bone.triangles) else "Radius"


def _insufficient_bones(
    pieces: Sequence[BonePart], nodes: Floats, found: BoneAttachment, tet_size: float
) -> Iterator[tuple[int, str]]:
    """Yields numbers of bones that hold too few nodes, with words for how many.

    Of a bone that holds none because others do, `bone_conflicts` tells.
    """
    leading = _dominant_bones(pieces, found)
    rows_of: dict[int, list[int]] = {}
    for row, number in enumerate(found.pieces):
        rows_of.setdefault(pieces[number].number, []).append(row)
    for bone, rows in rows_of.items():
        own = np.flatnonzero(np.isin(found.piece, [found.pieces[row] for row in rows]))
        if not len(own):
            if bone in leading and not any(len(found.nodes[row]) for row in rows):
                yield bone, "none"
        elif len(own) < MIN_NODES_PER_BONE:
            yield bone, str(len(own))
        elif not tells_rotation(nodes[own], tet_size):
            yield bone, f"{len(own)} on one line"


def _dominant_bones(pieces: Sequence[BonePart], found: BoneAttachment) -> set[int]:
    """Returns numbers of the bones with weights that have the largest somewhere on the body."""
    painted = [pieces[number] for number in found.pieces if len(pieces[number].bone.weights)]
    if not painted:
        return set()
    weights = np.stack([np.asarray(piece.bone.weights, np.float64) for piece in painted])
    return {painted[row].number for row in np.unique(weights.argmax(axis=0)[weights.max(axis=0) > 0.0]).tolist()}


def _sufficient_distance(
    pieces: Sequence[BonePart], shapes: Sequence[BoneShape], nodes: Floats, found: BoneAttachment, few: dict[int, str]
) -> float:
    """Returns how far the bones that hold few have to reach for as many nodes as suffice [m]."""
    wanted = 0.0
    for number in found.pieces:
        if pieces[number].number in few:
            count = int(np.count_nonzero(found.piece == number))
            more = (
                MIN_NODES_PER_BONE - count if count < MIN_NODES_PER_BONE else MIN_NODES_PER_BONE
            )  # where they lie on one line, others have to lie beside it
            away = np.sort(shapes[number].distance_to(nodes[found.piece < 0]))[:more]
            wanted = max(wanted, float(away.max(initial=0.0)))
    return wanted


def _with_distance(piece: BonePart, few: dict[int, str], any_line: bool, distance: float) -> BonePart:
    """Returns a bone that holds few with a distance of so much [m]; armature bones of a body have one for all."""
    bone = piece.bone
    if len(bone.weights) and any_line:
        return replace(piece, bone=replace(bone, distance=distance))
    if piece.number not in few:
        return piece
    return replace(piece, bone=replace(bone, distance=max(bone.distance, distance)))
