# SPDX-License-Identifier: GPL-3.0-or-later
"""Which nodes of a body follow which bone.

1. A bone reaches a node inside its closed mesh, or within its distance; masks and the attachment paint take away.
   Distance, springs and paint may be those of an attachment of the body (`bones_of_body.py`), which may ask for nodes
   at the surface alone (`surface_nodes.py`).
2. Of armature bones, only the one with the largest weight at the nearest point of the body's surface does, and
   towards a joint less and less around its line (`joint_clearance.py`).
3. Of several bones that reach a node, it follows the nearest; inside several meshes, that in which it lies deepest.
4. Between two bones that hold exactly, material stays free, so that a joint can bend without tets being crushed: no
   tet is held by both. Nodes are given away one by one, those deepest in their bone or nearest to it first, and one
   that shares a tet with a node of another exact bone stays free. Bones that hold by springs need no such gap.

Pieces of a mesh that deforms count as bones of their own (`bone_parts.py`).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from ...mesh.geometry.closest_point import ClosestPoints, closest_points
from ...mesh.geometry.surface_paint import interpolate_at, is_painted
from ...mesh.geometry.triangle_bvh import build_bvh
from ...runtime.arrays import Bools, Floats, Indices
from ...scene.flesh import Bone
from ...scene.scene import Body
from .bone_distance import BoneShape
from .bone_parts import BonePart
from .joint_clearance import is_outside_cones, shared_line_ends
from .surface_nodes import surface_nodes

NO_BONE = -1


@dataclass(frozen=True)
class BoneAttachment:
    """What holds a body.

    Attributes:
        piece: Number of the piece of bone that each node follows, −1 for none, (n,).
        pieces: Numbers of the pieces that may hold the body, rising, (b,).
        nodes: Those that each of these could have held, rising.
        distance: How far these are from it [m].
        masked_count: How many nodes masks and paint kept from each, (b,).
        strength: What an attachment has painted for each node, on the springs that hold it, 1 without paint, (n,).
    """

    piece: Indices
    pieces: tuple[int, ...]
    nodes: tuple[Indices, ...]
    distance: tuple[Floats, ...]
    masked_count: tuple[int, ...]
    strength: Floats


def attach(
    pieces: Sequence[BonePart], shapes: Sequence[BoneShape], body: Body, nodes: Floats, tets: Indices
) -> BoneAttachment:
    """Returns what holds a body with nodes at rest [m], (n, 3), and tets of its own, (m, 4)."""
    numbers = tuple(number for number, piece in enumerate(pieces) if piece.may_hold(body))
    bones = [pieces[number].bone for number in numbers]
    surface = closest_points(build_bvh(body.vertices, body.triangles), nodes)
    paint = body.flesh.attachment_paint if body.flesh is not None else np.zeros(0)
    painted = is_painted(paint, body.triangles, surface)
    leader, shared = (
        _dominant_bones(bones, body, surface),
        shared_line_ends(bones),
    )
    is_at_surface = np.ones(len(nodes), bool)
    if any(pieces[number].holds_surface_only for number in numbers):
        is_at_surface = surface_nodes(body, nodes, tets)
    best, chosen = np.full(len(nodes), np.inf), np.full(len(nodes), NO_BONE, np.int32)
    strength = np.ones(len(nodes))
    reached, distance, masked = [], [], []
    for row, (number, bone) in enumerate(zip(numbers, bones, strict=True)):
        found = shapes[number].reach(nodes)
        is_reached = np.isfinite(found.distance)
        own_strength = _painted_strength(pieces[number], body, surface)
        may = painted if own_strength is None else own_strength > 0.0
        allowed = is_reached & may & (leader == row if len(bone.weights) else True)
        if pieces[number].holds_surface_only:
            allowed &= is_at_surface
        allowed[allowed] = is_outside_cones(bone, shared[row], nodes[allowed])
        own = np.flatnonzero(allowed).astype(np.int32)
        reached.append(own)
        distance.append(found.distance[own])
        masked.append(found.masked_count + int(is_reached.sum()) - len(own))
        nearer = own[found.distance[own] < best[own]]
        best[nearer], chosen[nearer] = found.distance[nearer], number
        strength[nearer] = 1.0 if own_strength is None else own_strength[nearer]
    is_exact = np.array([piece.bone.stiffness is None for piece in pieces])
    chosen = _free_joint_nodes(chosen, best, is_exact, tets)
    return BoneAttachment(chosen, numbers, tuple(reached), tuple(distance), tuple(masked), strength)


def _painted_strength(piece: BonePart, body: Body, surface: ClosestPoints) -> Floats | None:
    """Returns what the attachment that is about a bone has painted for each node, (n,), 0 where it is not held.

    Springs have the paint as it is; what is fixed is held where it is above ½. None: it has none, the body decides.
    """
    paint = piece.attachment.attachment.paint if piece.attachment is not None else np.zeros(0)
    if not len(paint):
        return None
    if piece.bone.stiffness is not None:
        return interpolate_at(paint, body.triangles, surface)
    return is_painted(paint, body.triangles, surface).astype(np.float64)


def _dominant_bones(bones: Sequence[Bone], body: Body, surface: ClosestPoints) -> Indices:
    """Returns which of the bones has the largest weight at the nearest point of the surface, −1 for none, (n,)."""
    most, leader = np.zeros(len(surface.triangle)), np.full(len(surface.triangle), NO_BONE, np.int32)
    for row, bone in enumerate(bones):
        if len(bone.weights):
            weight = interpolate_at(bone.weights, body.triangles, surface)
            larger = weight > most
            most[larger], leader[larger] = weight[larger], row
    return leader


def _free_joint_nodes(chosen: Indices, distance: Floats, is_exact: Bools, tets: Indices) -> Indices:
    """Returns the nodes' bones, (n,), with nodes set free so that no tet is held by two exact bones."""
    held = (chosen >= 0) & is_exact[chosen]
    first, second = _edges(tets)
    across = held[first] & held[second] & (chosen[first] != chosen[second])
    first, second = first[across], second[across]
    if not len(first):
        return chosen
    ends, others = np.concatenate([first, second]), np.concatenate([second, first])
    order = np.argsort(ends, kind="stable")
    others = others[order]
    at_joint, start = np.unique(ends[order], return_index=True)
    neighbours = dict(zip(at_joint.tolist(), np.split(others, start[1:]), strict=True))
    result, is_kept = chosen.copy(), held.copy()
    is_kept[at_joint] = False
    for node in at_joint[np.argsort(distance[at_joint], kind="stable")].tolist():
        near = neighbours[node]
        if (is_kept[near] & (chosen[near] != chosen[node])).any():
            result[node] = NO_BONE
        else:
            is_kept[node] = True
    return result


def _edges(tets: Indices) -> tuple[Indices, Indices]:
    pairs = tets[:, [0, 1, 0, 2, 0, 3, 1, 2, 1, 3, 2, 3]].reshape(-1, 2).astype(np.int64)
    count = int(tets.max(initial=0)) + 1
    first, second = np.divmod(np.unique(pairs.min(axis=1) * count + pairs.max(axis=1)), count)
    return first.astype(np.int32), second.astype(np.int32)
