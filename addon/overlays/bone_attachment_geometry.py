# SPDX-License-Identifier: GPL-3.0-or-later
"""Geometry of the attachment overlay: tets and single nodes that bones hold. Knows no Blender."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from ...solver.bake.cache import CacheReader
from ...solver.mesh.boundary_faces import boundary_faces
from ...solver.runtime.arrays import Floats, Indices
from ...solver.runtime.errors import StorageFailed
from ..cache.baked_tets import body_tets

CROSS_HALF_SIZE = 0.18  # of a node's cross, relative to the median edge


@dataclass(frozen=True)
class BoneAttachment:
    """The nodes and faces of a body that one bone holds.

    Attributes:
        number, bone: Of the bone in the cache, and its name there.
        nodes: Nodes of the body, (k,).
        faces: Outer faces of the tets whose four nodes it holds, (f, 3).
    """

    number: int
    bone: str
    nodes: Indices
    faces: Indices


@dataclass(frozen=True)
class AttachmentDisplay:
    """The attachments of one body.

    Attributes:
        nodes: Range of the body's nodes in the positions of a frame: first, and one past the last.
        attachments: One per bone that holds nodes.
        cross: Half the size of a node's cross [m].
    """

    nodes: tuple[int, int]
    attachments: tuple[BoneAttachment, ...]
    cross: float


def load_attachment(reader: CacheReader, key: str, topology: int = 0) -> AttachmentDisplay | None:
    """Returns the attachments of the body `key` in a topology, or None if the cache has none."""
    body = body_tets(reader, key)
    try:
        model = reader.read_model(key) if body is not None else {}
        tets, nodes = (
            body.tets_and_nodes(reader, topology) if body is not None else (np.zeros((0, 4), np.int32), (0, 0))
        )
    except StorageFailed:
        return None
    has_rows = "linked_attachment" in model or "bound_attachment" in model
    if ("attached" not in model or "bones" not in model) and not has_rows:
        return None
    attached = np.asarray(model.get("attached", np.full(len(model["nodes"]), -1, np.int32)))
    if nodes[1] - nodes[0] != len(attached):
        return None
    bones = attachments_by_bone(attached, model.get("bones", np.zeros(0, np.str_)), tets)
    return AttachmentDisplay(nodes, bones, CROSS_HALF_SIZE * _median_edge(model["nodes"], tets))


def attachments_by_bone(attached: Indices, names: np.ndarray, tets: Indices) -> tuple[BoneAttachment, ...]:
    """Returns one attachment per bone, from the bone of each node (n,), −1 for none, and tets (m, 4)."""
    found, of_tets = [], attached[tets]
    for number in np.unique(attached[attached >= 0]).tolist():
        faces = boundary_faces(tets[(of_tets == number).all(axis=1)])
        found.append(BoneAttachment(number, str(names[number]), np.flatnonzero(attached == number), faces))
    return tuple(found)


def cross_lines(points: np.ndarray, size: float) -> Floats:
    """Returns lines through points (k, 3), three along the axes through each, (6 k, 3)."""
    reach = size * np.array([axis * sign for axis in np.eye(3) for sign in (-1.0, 1.0)])
    return (points[:, None, :] + reach).reshape(-1, 3)


def _median_edge(nodes: Floats, tets: Indices) -> float:
    """Returns the median of one edge length per tet [m]."""
    if not len(tets):
        return 0.0
    return float(np.median(np.linalg.norm(nodes[tets[:, 0]] - nodes[tets[:, 1]], axis=1)))
