# SPDX-License-Identifier: GPL-3.0-or-later
"""Splits a deforming bone mesh into its connected parts, so that each bone of a skeleton moves in its own way.

A part is a connected set of faces. What lies inside another part, as the hollow of a skull or a tooth in its socket,
belongs to that one.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from ...mesh.geometry.connected_components import connected_components
from ...mesh.geometry.triangle_bvh import build_bvh
from ...mesh.geometry.triangle_surface import Surface
from ...mesh.geometry.welding import weld
from ...mesh.geometry.winding_number import winding_numbers
from ...runtime.arrays import Indices
from ...scene.attachment import Attachment
from ...scene.flesh import Bone
from ...scene.scene import Body
from ...scene.tracks import TrackReader
from ..attachments.attachment_strength import attachment_strength

MAX_PIECES = 400  # pieces; a mesh of more is no skeleton, and stays whole
MIN_ENCLOSED_SHARE = 0.5  # share of a piece's vertices in another from which on it is part of that


@dataclass(frozen=True)
class GoverningAttachment:
    """An attachment of a body that is about a bone.

    Attributes:
        attachment: What it says.
        key: Beginning of the names of its tracks; "" for none.
    """

    attachment: Attachment
    key: str = ""

    def strength(self, tracks: TrackReader, time: float, name: str) -> float:
        """Returns the strength at a time [s].

        Raises:
            SolveFailed: It is below zero or no number; the sentence names the body `name`.
        """
        return attachment_strength(self.key, self.attachment.strength, tracks, time, name)


@dataclass(frozen=True)
class BonePart:
    """A bone, or one of the pieces that its mesh consists of.

    Attributes:
        bone: With the triangles of this piece.
        number: Of the bone, in the order of the scene.
        attachment: Of a body, which says how the bone holds it; None: the bone itself does.
    """

    bone: Bone
    number: int
    attachment: GoverningAttachment | None = None

    @property
    def holds_surface_only(self) -> bool:
        """Whether it holds nodes at the surface of the body alone."""
        return self.attachment is not None and self.attachment.attachment.surface_only

    def may_hold(self, body: Body) -> bool:
        """Whether it may hold a body."""
        if self.attachment is not None:
            return body.flesh is not None and self.attachment.attachment.holds_material
        return may_hold(self.bone, body)


def may_hold(bone: Bone, body: Body) -> bool:
    """Whether a bone may hold a body by its own settings."""
    return body.key in bone.bodies if bone.bodies else body.flesh is not None


def split_bones(bones: tuple[Bone, ...], tracks: TrackReader) -> list[BonePart]:
    """Returns the pieces of the bones that deform, and all other bones as they are."""
    found = []
    for number, bone in enumerate(bones):
        label = np.zeros(len(bone.triangles), np.int32)
        if len(label) and tracks.has(f"bone.{bone.key}.vertices"):
            label = _part_labels(bone)
        if label.max(initial=0) == 0:
            found.append(BonePart(bone, number))
            continue
        triangles = np.asarray(bone.triangles)
        found += [BonePart(replace(bone, triangles=triangles[label == one]), number) for one in np.unique(label)]
    return found


def _part_labels(bone: Bone) -> Indices:
    """Returns which piece each triangle is of, (t,)."""
    triangles = np.asarray(bone.triangles, np.int32)
    welded = weld(Surface(np.asarray(bone.vertices, np.float64), triangles))
    rows, columns = np.repeat(welded[:, 0], 2), welded[:, 1:].ravel()
    count = int(welded.max()) + 1
    label = connected_components(rows, columns, count)
    _, label = np.unique(label[welded[:, 0]], return_inverse=True)
    pieces = int(label.max()) + 1
    if not 1 < pieces <= MAX_PIECES:
        return np.zeros(len(triangles), np.int32)
    return _enclosing_parts(bone, triangles, label.ravel(), pieces)[label.ravel()]


def _enclosing_parts(bone: Bone, triangles: Indices, label: Indices, count: int) -> Indices:
    """Returns for each piece the number of those it belongs together with, (count,)."""
    vertices = np.asarray(bone.vertices, np.float64)
    points = [vertices[np.unique(triangles[label == one])] for one in range(count)]
    low, high = np.array([p.min(axis=0) for p in points]), np.array([p.max(axis=0) for p in points])
    rows, columns = [], []
    for one in range(count):
        near = np.flatnonzero((low[one] <= high).all(axis=1) & (high[one] >= low).all(axis=1))
        near = near[near != one]
        if len(near):
            bvh = build_bvh(vertices, triangles[label == one])
            for other in near.tolist():
                inside = np.abs(winding_numbers(bvh, points[other])) > 0.5
                if inside.mean() > MIN_ENCLOSED_SHARE:
                    rows.append(one)
                    columns.append(other)
    return connected_components(np.array(rows, np.int64), np.array(columns, np.int64), count)
