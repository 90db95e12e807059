# SPDX-License-Identifier: GPL-3.0-or-later
"""Findings about muscles once they have tets: ends without tets or hold, and heads that share tets."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import combinations

import numpy as np

from ...constraints.force import ForceStep
from ...mesh.embedding import Binding
from ...runtime.arrays import Bools, Indices
from ...runtime.errors import BadInput, SinewError
from ...scene.attachment import FIXED, NOTHING, SPRING
from ...scene.flesh import QUASISTATIC
from ...scene.muscle import END_WEIGHT, Muscle
from ...scene.scene import Body, Scene
from ...scene.tracks import TrackReader
from ..assembled_scene import AssembledBody, AssembledScene
from ..step_boundary_conditions import apply_forces
from .finding import Finding

ENDS = ("origin", "insertion")
MAX_LOST_TETS = 1.0  # distance of an end from the tets, in tet sizes


def end_findings(
    body: Body, muscle: Muscle, built: AssembledScene, scene: Scene, tracks: TrackReader
) -> Iterator[Finding]:
    """Yields ends of a muscle that nothing holds, if nothing that ties it to another surface may.

    Args:
        body, muscle: The body, and what its muscle is.
        built: Of a scene with this body alone, whose links to others were left out.
        scene: That scene.
        tracks: Its animated inputs.
    """
    linked = [each.kind for each in scene.bodies[0].attachments if each.target == NOTHING]
    if SPRING in linked or FIXED in linked:
        return
    is_held = held_nodes(built, scene, tracks)
    binding, tets = built.bodies[0].binding, built.bodies[0].mesh.tets
    loose = []
    for end in ENDS:
        vertices = np.flatnonzero(getattr(muscle, end) > END_WEIGHT).astype(np.int32)
        if len(vertices) and not is_held[tets[binding.tet[vertices]]].any():
            loose.append((end, vertices))
    if len(loose) == len(ENDS):
        assert body.flesh is not None
        problem = BadInput if body.flesh.motion == QUASISTATIC else SinewError  # the latter falls
        yield Finding(problem("muscle-on-no-bone", name=body.name), body.key)
        return
    for end, vertices in loose:
        yield Finding(SinewError("muscle-end-loose", name=body.name, end=end), body.key, vertices)


def lost_end_findings(body: Body, muscle: Muscle, part: AssembledBody) -> Iterator[Finding]:
    """Yields ends of a muscle to which its tets do not reach, as where they are larger than a tendon is thick.

    Such an end is held where the tets end: its vertices move with those nodes, as far as they are from them.

    Args:
        body, muscle: The body, and what its muscle is.
        part: The body with its tets.
    """
    nodes, binding, size = part.mesh.nodes, part.binding, part.mesh.report.tet_size
    inside = np.maximum(binding.weights, 0.0)
    inside /= inside.sum(axis=1, keepdims=True)
    apart = np.einsum("kj,kji->ki", binding.weights - inside, nodes[part.mesh.tets[binding.tet]])
    distances = np.sqrt(np.sum(apart**2, axis=1))
    for end in ENDS:
        vertices = np.flatnonzero(getattr(muscle, end) > END_WEIGHT).astype(np.int32)
        distance = float(np.median(distances[vertices])) if len(vertices) else 0.0
        if distance > MAX_LOST_TETS * size:
            numbers = {"distance": f"{distance:.3g}", "tet_size": f"{size:.3g}"}
            yield Finding(SinewError("muscle-end-without-tets", name=body.name, end=end, **numbers), body.key, vertices)


def held_nodes(built: AssembledScene, scene: Scene, tracks: TrackReader) -> Bools:
    """Returns which nodes are held exactly, or by springs, when the simulation begins, (n,)."""
    time, count = scene.settings.start_time, built.model.node_count
    step = ForceStep(built.model, built.initial, tracks, time, time, is_static=True)
    is_held, target = np.zeros(count, np.bool_), np.zeros((count, 3))
    springs = apply_forces([force for force in built.forces if force.affects_quasistatic], step, is_held, target)
    pulls = np.abs(springs.stiffness).sum(axis=(1, 2)) > 0.0 if len(springs) else np.zeros(0, bool)
    is_held[built.model.tets[springs.tet[pulls]]] = True
    return is_held


def head_findings(body: Body, muscle: Muscle, binding: Binding) -> Iterator[Finding]:
    """Yields pairs of heads of a muscle that have vertices in the same tets, of which each belongs to one head only.

    Args:
        body, muscle: The body, and what its muscle is.
        binding: Its vertices in its tets.
    """
    for first, second in combinations(range(len(muscle.heads)), 2):
        shared = shared_tets(muscle, binding, first, second)
        if len(shared):
            numbers = {"one": str(first + 1), "other": str(second + 1), "count": len(shared)}
            problem = SinewError("muscle-heads-share-tets", name=body.name, **numbers)
            yield Finding(problem, body.key, np.flatnonzero(np.isin(binding.tet, shared)).astype(np.int32))


def shared_tets(muscle: Muscle, binding: Binding, first: int, second: int) -> Indices:
    """Returns the tets that have vertices of two heads, (k,).

    Args:
        muscle: A vertex belongs to the head that has the largest weight there.
        binding: Its vertices in its tets.
        first, second: The heads, numbered from 0.
    """
    weights = np.array([head.weights for head in muscle.heads])
    head = np.where(weights.max(axis=0) > 0.0, weights.argmax(axis=0), -1)
    return np.intersect1d(binding.tet[head == first], binding.tet[head == second]).astype(np.int32)
