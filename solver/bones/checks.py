# SPDX-License-Identifier: GPL-3.0-or-later
"""What bones must not be, told before any work is done, and what is told of how they hold the flesh."""

from __future__ import annotations

import itertools
import math
from collections.abc import Sequence

import numpy as np

from ..anatomy import Bone
from ..arrays import Floats
from ..errors import BadInput, SinewError
from ..geometry.surface import make_surface
from ..pins import BodyPins
from ..scene import Body, Scene
from ..tracks import TrackReader
from .attachment import Attachment

CONFLICT = 0.25  # share of what the smaller of two bones reaches that both may want alike
ALIKE = 0.1  # difference of their distances up to which they do, in tet sizes
APART = 0.1  # distance of the targets of pins and bones at the first frame that is told, in tet sizes


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
        _check_numbers(bone)
        for key in bone.bodies:
            if key not in bodies:
                raise BadInput("bone-body", name=bone.name, body=key)
        _check_paint(bone, "Mask", bone.mask, len(bone.vertices))
        if len(bone.weights):
            if len(bone.bodies) != 1:
                raise BadInput("bone-body", name=bone.name, body=", ".join(bone.bodies))
            _check_paint(bone, "its weights", bone.weights, len(bodies[bone.bodies[0]].vertices))
    for body in scene.bodies:
        if body.flesh is not None and len(body.flesh.attachment_paint) not in (0, len(body.vertices)):
            raise BadInput("paint-without-vertices", name=body.name, setting="Attachment")


def _check_numbers(bone: Bone) -> None:
    if not (math.isfinite(bone.distance) and bone.distance >= 0.0):
        _out_of_range(bone, "Distance", bone.distance, "0 m or more")
    if bone.stiffness is not None and not (math.isfinite(bone.stiffness) and bone.stiffness > 0.0):
        _out_of_range(bone, "Spring Stiffness", bone.stiffness, "above 0 1/s²")


def _out_of_range(bone: Bone, setting: str, value: float, words: str) -> None:
    raise BadInput("setting-out-of-range", setting=setting, name=bone.name, value=f"{value:.6g}", range=words)


def _check_paint(bone: Bone, setting: str, paint: Floats, count: int) -> None:
    if len(paint) not in (0, count) or not np.isfinite(np.asarray(paint)).all():
        raise BadInput("paint-without-vertices", name=bone.name, setting=setting)


def check_outside(bones: Sequence[Bone], bodies: Sequence[Body], found: Sequence[Attachment]) -> None:
    """Looks for bones that reach none of the flesh that they may hold.

    Raises:
        BadInput: There is one; the sentence says how far away it is. Of armature bones, which an artist does not choose
            one by one, it is enough that one of them holds its body.
    """
    for body, there in zip(bodies, found, strict=True):
        lines = [row for row, number in enumerate(there.bones) if len(bones[number].weights)]
        if lines and not np.isfinite(there.distance[lines]).any():
            raise BadInput("armature-outside", name=body.name, count=len(lines))
    for number, bone in enumerate(bones):
        rows = [
            (there.bones.index(number), there, body)
            for body, there in zip(bodies, found, strict=True)
            if number in there.bones
        ]
        if not rows or len(bone.weights) or any(np.isfinite(there.distance[row]).any() for row, there, _ in rows):
            continue
        masked = next((body for row, there, body in rows if there.masked[row]), None)
        if masked is not None:
            raise BadInput("bone-masked", name=bone.name, body=masked.name)
        row, there, body = min(rows, key=lambda one: one[1].nearest[one[0]])
        away = float(there.nearest[row])
        numbers = {"distance": f"{bone.distance:.4g}", "away": f"{away:.4g}", "wanted": f"{1.01 * away:.4g}"}
        raise BadInput("bone-outside", name=bone.name, body=body.name, **numbers)


def conflicts(bones: Sequence[Bone], body: Body, found: Attachment, tet_size: float) -> list[SinewError]:
    """Returns what an artist should know: bones that want the same flesh, and such as others leave nothing to."""
    told = []
    exact = [row for row, number in enumerate(found.bones) if bones[number].stiffness is None]
    for one, other in itertools.combinations(exact, 2):
        a, b = found.distance[one], found.distance[other]
        both = np.isfinite(a) & np.isfinite(b)
        alike = both.copy()
        alike[both] = ((a < 0.0) & (b < 0.0))[both] | (np.abs(a[both] - b[both]) <= ALIKE * tet_size)
        count = int(alike.sum())
        if count > CONFLICT * max(1, min(np.isfinite(a).sum(), np.isfinite(b).sum())):
            names = {"bone": bones[found.bones[one]].name, "other": bones[found.bones[other]].name}
            told.append(SinewError("bones-want-the-same", name=body.name, count=count, **names))
    for row, number in enumerate(found.bones):
        bone = bones[number]
        if np.isfinite(found.distance[row]).any() and not (found.bone == number).any():
            told.append(SinewError("bone-crowded-out", name=bone.name, body=body.name))
    return told


def check_freedom(body: Body, is_held: np.ndarray) -> None:
    """Raises BadInput where bones and pins hold all nodes of a body, (n,)."""
    if is_held.all():
        raise BadInput("bones-everything", name=body.name)


def never_released(pins: Sequence[BodyPins], tracks: TrackReader) -> list[BodyPins]:
    """Returns the pins that have no animated stiffness, which could let go of their nodes."""
    return [one for one in pins if not tracks.has(f"body.{one.key}.pin_stiffness")]
