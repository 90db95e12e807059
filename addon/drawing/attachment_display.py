# SPDX-License-Identifier: GPL-3.0-or-later
"""What bones hold of a body, as it is drawn: tets that they hold as a whole, and single nodes. No Blender in here."""

from __future__ import annotations

import colorsys
from dataclasses import dataclass

import numpy as np

from ...solver.arrays import Floats, Indices
from ...solver.cache import CacheReader
from ...solver.errors import StorageFailed
from ...solver.mesh_files.outside import outside_faces
from ..results.cracks import body_tets

# from one bone's hue to the next: neighbours differ most, and no two are the same
HUE, NEXT_HUE = 0.08, 0.381966
CROSS = 0.18  # half the size of a node's cross, of the length of edges


@dataclass(frozen=True)
class Held:
    """What one bone holds of a body.

    Attributes:
        number, bone: Of the bone in the cache, and its name there.
        nodes: Nodes of the body, (k,).
        faces: The outside of the tets all of whose nodes it holds, (f, 3).
    """

    number: int
    bone: str
    nodes: Indices
    faces: Indices


@dataclass(frozen=True)
class AttachmentDisplay:
    """What holds one body.

    Attributes:
        nodes: Where the body's nodes are in a frame's positions: first and one past the last.
        held: Per bone that holds anything.
        cross: Half the size of a node's cross [m].
    """

    nodes: tuple[int, int]
    held: tuple[Held, ...]
    cross: float


def load(reader: CacheReader, key: str, topology: int = 0) -> AttachmentDisplay | None:
    """Returns what holds the body `key` as a topology has it, or None where the cache does not say."""
    body = body_tets(reader, key)
    try:
        model = reader.read_model(key) if body is not None else {}
        tets, nodes = body.at(reader, topology) if body is not None else (np.zeros((0, 4), np.int32), (0, 0))
    except StorageFailed:
        return None
    if "attached" not in model or "bones" not in model:
        return None
    attached = np.asarray(model["attached"])
    if nodes[1] - nodes[0] != len(attached):
        return None
    return AttachmentDisplay(nodes, held_by(attached, model["bones"], tets), CROSS * _edge(model["nodes"], tets))


def held_by(attached: Indices, names: np.ndarray, tets: Indices) -> tuple[Held, ...]:
    """Returns what each bone holds: of nodes with the numbers of their bones (n,), −1 for none, and of tets (m, 4)."""
    found, of_tets = [], attached[tets]
    for number in np.unique(attached[attached >= 0]).tolist():
        faces = outside_faces(tets[(of_tets == number).all(axis=1)])
        found.append(Held(number, str(names[number]), np.flatnonzero(attached == number), faces))
    return tuple(found)


def colour(number: int) -> tuple[float, float, float]:
    """Returns the colour of a bone, the same in every viewport and bake."""
    return colorsys.hsv_to_rgb((HUE + NEXT_HUE * number) % 1.0, 0.75, 1.0)


def crosses(points: np.ndarray, size: float) -> Floats:
    """Returns lines through points (k, 3), three along the axes through each, (6 k, 3)."""
    reach = size * np.array([axis * sign for axis in np.eye(3) for sign in (-1.0, 1.0)])
    return (points[:, None, :] + reach).reshape(-1, 3)


def _edge(nodes: Floats, tets: Indices) -> float:
    """Returns the median length of one edge of every tet [m]."""
    if not len(tets):
        return 0.0
    return float(np.median(np.linalg.norm(nodes[tets[:, 0]] - nodes[tets[:, 1]], axis=1)))
