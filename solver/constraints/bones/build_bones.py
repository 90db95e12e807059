# SPDX-License-Identifier: GPL-3.0-or-later
"""From the bones that a scene asks for to what they hold."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from ...linalg.harmonic_extension import surrounded_nodes
from ...mechanics.model import Model
from ...mesh.tet_mesh import TetMesh
from ...runtime.arrays import floats
from ...runtime.errors import SinewError
from ...scene.scene import Scene
from ...scene.tracks import TrackReader
from ..pins import BodyPins
from .bone_attachment import BoneAttachment, attach
from .bone_constraint import BoneConstraint
from .bone_distance import BoneShape
from .bone_motion import make_motion
from .bone_parts import BonePart, split_bones
from .bone_validation import MAX_TARGET_MISMATCH, bone_conflicts, check_freedom, check_reached, permanent_pins
from .bones import BoneConstraints
from .bones_of_body import HeldBody, bones_of_body, check_attached
from .insufficient_attachment import insufficient_attachment


def make_bones(
    scene: Scene, meshes: Sequence[TetMesh], model: Model, tracks: TrackReader, pins: Sequence[BodyPins] = ()
) -> BoneConstraints | None:
    """Returns what the bones of a scene hold, or None where it has none that may hold anything.

    Args:
        scene: What is asked for, found sound by `check_bones`.
        meshes: The tets of its bodies.
        model: All bodies.
        tracks: Animated inputs.
        pins: Of all bodies.

    Raises:
        BadInput: A bone reaches none of the flesh, or a body is held as a whole; the sentence names it.
    """
    parts = split_bones(scene.bones, tracks)
    all_shapes = [BoneShape(piece.bone) for piece in parts]
    bones_of = [bones_of_body(parts, all_shapes, body) for body in scene.bodies]
    numbers = [
        number for number, body in enumerate(scene.bodies) if any(piece.may_hold(body) for piece in bones_of[number][0])
    ]
    if not numbers:
        return None
    held = []
    for number in numbers:
        body, place = scene.bodies[number], model.bodies[number]
        own_pieces, own_shapes = bones_of[number]
        nodes, own_tets = floats(model.X[place.nodes]), model.tets[place.tets] - np.int32(place.nodes.start)
        found = attach(own_pieces, own_shapes, body, nodes, own_tets)
        held.append(HeldBody(body, nodes, own_pieces, own_shapes, found))
        check_attached(held[-1])
    check_reached(held)
    made: list[BoneConstraint] = []
    warnings: dict[int, tuple[SinewError, ...]] = {}
    for number, one in zip(numbers, held, strict=True):
        pieces, shapes, there = one.pieces, one.shapes, one.found
        size = meshes[number].report.tet_size
        own_holds = _make_constraints(scene, pieces, shapes, model, number, there, tracks, size)
        made += own_holds
        conflicts = bone_conflicts(pieces, scene.bodies[number], there, size)
        place = model.bodies[number]
        own_tets = model.tets[place.tets] - np.int32(place.nodes.start)
        if not scene.bodies[number].wrap_vertices:  # its Wrap holds fat, what lies in a bone by chance need not
            conflicts += insufficient_attachment(
                pieces, shapes, scene.bodies[number], floats(model.X[place.nodes]), own_tets, there, size
            )
        own_pins = [one for one in pins if one.body == number]
        warnings[number] = (*conflicts, *_pin_conflicts(own_holds, own_pins, model, tracks, size))
        is_fixed = np.zeros(model.node_count, bool)
        for hold in own_holds:
            is_fixed[hold.nodes] |= hold.bone.stiffness is None and not hold.may_let_go(tracks)
        for pin in permanent_pins(own_pins, tracks):
            is_fixed[pin.fixed_nodes] = True
        check_freedom(scene.bodies[number], is_fixed[model.bodies[number].nodes])
    is_soft = tuple(bone.stiffness is not None for bone in scene.bones)
    return BoneConstraints(tuple(bone.name for bone in scene.bones), is_soft, tuple(made), warnings)


def _make_constraints(
    scene: Scene,
    pieces: Sequence[BonePart],
    shapes: Sequence[BoneShape],
    model: Model,
    body: int,
    found: BoneAttachment,
    tracks: TrackReader,
    tet_size: float,
) -> list[BoneConstraint]:
    place, made = model.bodies[body], []
    own_tets = model.tets[place.tets] - np.int32(place.nodes.start)
    follows = np.zeros(place.nodes.stop - place.nodes.start, bool)
    followers = model.bound.within(place.nodes) if model.bound is not None else None
    if followers is not None:  # nodes at T-junctions go where bones hold their parents
        follows[followers.nodes - np.int32(place.nodes.start)] = True
    for number in found.pieces:
        own = np.flatnonzero(found.piece == number).astype(np.int32)
        if not len(own):
            continue
        nodes = own + np.int32(place.nodes.start)
        row = np.full(place.nodes.stop - place.nodes.start, -1, np.int32)
        row[own] = np.arange(len(own), dtype=np.int32)
        tets = row[own_tets[(row[own_tets] >= 0).all(axis=1)]]
        inside = surrounded_nodes(own_tets, own[tets], len(row))[own]
        motion = make_motion(shapes[number], floats(model.X[nodes]), tets, inside, tracks, tet_size)
        rows = np.flatnonzero(~follows[own]).astype(np.int32)
        if not len(rows):
            continue
        piece, name, strength = pieces[number], scene.bodies[body].name, found.strength[own[rows]]
        made.append(
            BoneConstraint(
                piece.number, piece.bone, body, name, nodes[rows], rows, motion, tets, piece.attachment, strength
            )
        )
    return made


def _pin_conflicts(
    made: Sequence[BoneConstraint], pins: Sequence[BodyPins], model: Model, tracks: TrackReader, tet_size: float
) -> list[SinewError]:
    """Returns a warning per exact bone whose nodes pins want elsewhere at the first frame."""
    is_pinned, wanted = np.zeros(model.node_count, bool), np.zeros((model.node_count, 3))
    for one in pins:
        if one.stiffness(tracks, 0.0) > 0.0:
            one.prescribe_targets(one.targets(tracks, 0.0), is_pinned, wanted)
    conflicts = []
    for hold in made:
        both = is_pinned[hold.nodes]
        if not hold.holds_exactly(tracks, 0.0) or not both.any():
            continue
        away = np.linalg.norm((hold.targets(tracks, 0.0) - wanted[hold.nodes])[both], axis=1)
        count = int((away > MAX_TARGET_MISMATCH * tet_size).sum())
        if count:
            numbers = {"count": count, "distance": f"{away.max():.3g}"}
            conflicts.append(SinewError("pins-against-bones", name=hold.name, bone=hold.bone.name, **numbers))
    return conflicts
