# SPDX-License-Identifier: GPL-3.0-or-later
"""Gravity Already in Shape of flesh: in its rest pose it is in balance as it was modeled, under any material law.

Each tet gets a shape G⁻¹ of its own at rest, G symmetric, so that F = F_now G (`mechanics/prestress.py` says why). Let
K d = f(X; G) + f_gravity with the tangent K at the modeled positions X: d is how far the flesh would sag from there.
Tets as they would be after that sag push back with what is missing, so G ← sym((I + ∇d) G), until nothing is missing.
Springs bear their share: what they would sag is taken from their targets.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from ..constraints.bones import BoneConstraints
from ..constraints.force import Force, ForceStep
from ..constraints.pins import BodyPins
from ..constraints.point_forces import PointForces
from ..mechanics.model import Model
from ..mechanics.prestress import MAX_STRETCH, MIN_STRETCH
from ..quasistatic.equilibrium_problem import EquilibriumProblem
from ..quasistatic.fixed_nodes import FixedNodes
from ..quasistatic.newton_iterate import NewtonIterate
from ..quasistatic.point_springs import SpringForces
from ..runtime.arrays import Bools, Floats
from ..runtime.errors import SinewError
from ..scene.scene import Scene
from ..scene.tracks import TrackReader
from .assembled_scene import AssembledScene
from .features.flesh import FleshFeature
from .flesh import FleshPart
from .step_boundary_conditions import apply_forces, forces_on

RESIDUAL_TOLERANCE = 1.0e-8  # ‖f + f_gravity‖ / ‖f_gravity‖ over the free nodes
UNBALANCED_RESIDUAL = 1.0e-2  # from which on the sag at the first frame is told
LINEAR_TOLERANCE = 1.0e-3  # of the solves for d
MAX_ITERATIONS = 60
MAX_STRETCH_CHANGE = 0.3  # of a tet in one iteration
MAX_HALVINGS = 6  # of a step that leaves more out of balance than before


@dataclass(frozen=True, eq=False)
class _Balance:
    """Flesh in balance.

    Attributes:
        model: Of the part, with the rest shapes of its tets.
        u: By how much its nodes would sag without [m], (n, 3).
        residual: What is missing to balance [N], in the end over the weight.
    """

    model: Model
    u: Floats
    residual: float


def with_sag_free_flesh(
    built: AssembledScene, scene: Scene, tracks: TrackReader, gravity: Floats, wanted: Sequence[int]
) -> AssembledScene:
    """Returns a scene whose flesh of the numbers `wanted` is in balance where it was modeled, under gravity [m/s²],
    (3,). Pieces that nothing holds stay without stress.
    """
    flesh = built.flesh
    assert flesh is not None
    u, model, balanced = np.zeros_like(built.model.X), built.model, {}
    warned: list[int] = []
    for part in flesh.parts:
        own = [number for number in part.part.bodies if number in wanted]
        if not own:
            continue
        found = _balance(part, *_held(built, scene, tracks, part, own), gravity)
        u[part.part.nodes] = found.u
        model = _with_rest_shapes(model, part, found.model)
        balanced[id(part)] = replace(part, part=replace(part.part, model=found.model))
        warned += own if found.residual > UNBALANCED_RESIDUAL else []
    bodies = tuple(
        replace(body, warnings=(*body.warnings, SinewError("gravity-in-shape-left", name=body.name)))
        if number in warned
        else body
        for number, body in enumerate(built.bodies)
    )
    swapped = flesh.with_parts(model, balanced)
    return replace(
        built,
        model=model,
        bodies=bodies,
        forces=tuple(_with_shifted_targets(force, model, u) for force in built.forces),
        features=tuple(
            replace(each, bodies=swapped) if isinstance(each, FleshFeature) else each for each in built.features
        ),
    )


def _held(
    built: AssembledScene, scene: Scene, tracks: TrackReader, part: FleshPart, own: Sequence[int]
) -> tuple[Bools, PointForces]:
    """Returns which nodes of a part do not sag, (n,), and the springs on its tets, without force at the first frame.

    Nodes that are held do not sag, nor do other bodies and loose pieces.
    """
    model, begin = built.model, scene.settings.start_time
    is_fixed, target = np.zeros(model.node_count, bool), np.zeros((model.node_count, 3))
    step = ForceStep(model, built.initial, tracks, begin, begin, is_static=True)
    springs = apply_forces(forces_on(built.forces, own), step, is_fixed, target)
    springs.tet = np.searchsorted(part.part.tets, springs.tet).astype(np.int32)
    springs.force = np.zeros_like(springs.force)
    has = np.zeros(part.pieces.count, bool)
    has[part.pieces.piece_of_node[is_fixed[part.part.nodes]]] = True
    pulling = np.trace(springs.stiffness, axis1=1, axis2=2) > 0.0
    has[part.pieces.piece_of_node[part.model.tets[springs.tet[pulling], 0]]] = True
    stays = is_fixed[part.part.nodes] | ~has[part.pieces.piece_of_node]
    for number, body in zip(part.part.bodies, part.model.bodies, strict=True):
        if number not in own:
            stays[body.nodes] = True
    return stays, springs


def _balance(part: FleshPart, stays: Bools, springs: PointForces, gravity: Floats) -> _Balance:
    """Returns a part in balance where it was modeled.

    Args:
        part: The flesh.
        stays: Nodes that do not sag, (n,).
        springs: On its tets.
        gravity: [m/s²], (3,).
    """
    load = np.where(stays[:, None], 0.0, (part.model.mass * part.model.gravity_scale)[:, None] * gravity)
    weight = float(np.sqrt(np.sum(load**2)))
    if not weight > 0.0:
        return _Balance(part.model, np.zeros_like(part.model.X), 0.0)
    trial = _Trial(part, stays, springs, load)
    G, u = np.broadcast_to(np.eye(3), (part.model.tet_count, 3, 3)), np.zeros_like(part.model.X)
    best, search = trial.at(G, u)
    for _ in range(MAX_ITERATIONS):
        if best.residual <= RESIDUAL_TOLERANCE * weight:
            break
        d = search.direction(part.law, part.model.X, LINEAR_TOLERANCE)
        gradient = _gradient(part.model, d)
        length = min(1.0, MAX_STRETCH_CHANGE / float(np.abs(gradient).max()))
        for _ in range(MAX_HALVINGS):
            further = _sagged(G, length * gradient)
            found, there = trial.at(further, u + length * d)
            if found.residual < best.residual:
                break
            length *= 0.5
        else:
            break
        best, search, G, u = found, there, further, found.u
    return replace(best, residual=best.residual / weight)


@dataclass(frozen=True, eq=False)
class _Trial:
    """What is asked of flesh: the part, its nodes that do not sag, (n,), its springs, and its weight [N], (n, 3)."""

    part: FleshPart
    stays: Bools
    springs: PointForces
    load: Floats

    def at(self, G: Floats, u: Floats) -> tuple[_Balance, NewtonIterate]:
        """Returns what tets with the stretches G, (m, 3, 3), leave of the weight [N], and the tangent there."""
        model, X, springs = self.part.model, self.part.model.X, self.springs
        stressed = replace(
            model, Dm_inverse=np.ascontiguousarray(model.Dm_inverse @ G), volume=model.volume / np.linalg.det(G)
        )
        pull = -np.einsum("kij,kj->ki", springs.stiffness, springs.positions(u, model.tets))
        forces = [SpringForces(stressed, replace(springs, force=pull), X)] if len(springs) else []
        fixed = FixedNodes(np.flatnonzero(self.stays).astype(np.int32), X[self.stays])
        search = NewtonIterate(EquilibriumProblem(stressed, self.part.law, fixed, self.load, forces))
        search.evaluate_tangent(self.part.law, X)
        return _Balance(stressed, u, float(np.sqrt(np.sum(search.force[~self.stays] ** 2)))), search


def _gradient(model: Model, d: Floats) -> Floats:
    """Returns ∇d of node displacements d [m] in every tet, (m, 3, 3)."""
    corners = d[model.tets]
    return np.einsum("tai,taj->tij", corners[:, 1:] - corners[:, :1], model.Dm_inverse)


def _sagged(G: Floats, gradient: Floats) -> Floats:
    """Returns sym((I + ∇d) G), (m, 3, 3), with stretches that a tet can have."""
    moved = G + gradient @ G
    sizes, axes = np.linalg.eigh(0.5 * (moved + np.swapaxes(moved, 1, 2)))
    return np.einsum("mia,ma,mja->mij", axes, np.clip(sizes, MIN_STRETCH, MAX_STRETCH), axes)


def _with_rest_shapes(whole: Model, part: FleshPart, own: Model) -> Model:
    Dm_inverse, volume = whole.Dm_inverse.copy(), whole.volume.copy()
    Dm_inverse[part.part.tets], volume[part.part.tets] = own.Dm_inverse, own.volume
    return replace(whole, Dm_inverse=Dm_inverse, volume=volume)


def _with_shifted_targets(force: Force, model: Model, u: Floats) -> Force:
    """Returns a force whose springs bear what they would bear after a sag of u [m], (n, 3)."""
    if isinstance(force, BodyPins):
        return force.with_sag(model, u)
    return force.with_sag(u) if isinstance(force, BoneConstraints) else force
