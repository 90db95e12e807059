# SPDX-License-Identifier: GPL-3.0-or-later
"""The surfaces of a scene that Exact contact keeps apart: render meshes of bodies, and colliders."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from ...contact.colliders.deforming_collider import DeformingCollider, is_active
from ...contact.colliders.rigid_colliders import BuiltCollider
from ...contact.exact.barriers import LOGARITHMIC
from ...contact.exact.conservative_advancement import SafeDistance
from ...contact.exact.contact_mesh import make_contact_mesh
from ...contact.exact.contact_potential import ContactBarrier
from ...integrators.exact_contact.exact_contact_step import BoundSurfaces, ExactContactOptions, PrescribedMotion
from ...mechanics.model import Model
from ...mechanics.state import State
from ...mesh.embedding import Binding
from ...mesh.geometry.triangle_intersections import surface_intersections
from ...mesh.geometry.triangle_surface import make_surface
from ...mesh.geometry.welding import weld
from ...mesh.tet_mesh import TetMesh
from ...runtime.arrays import Bools, Floats, Indices, indices
from ...runtime.errors import BadInput
from ...scene.scene import Scene
from ...scene.tracks import TrackReader

GAP_SHARE = 0.02  # of the smallest tet size: distance below which surfaces are pushed apart
GAP_SHARE_OF_EDGES = 0.25  # of short edges of what touches itself: neighbours must not push each other
SHORT_EDGE_PERCENTILE = 5
KEPT_SHARE = 0.1  # of the distance of a pair that it keeps in an iteration of Newton's method
TOLERANCE_SHARE = 0.05  # of the gap: motion of an iteration from which on a step has converged
PLANE_SIZE = 100.0  # of the size of all bodies: half the side of the square that stands for an endless plane
PLANE_FACES = np.array([[0, 1, 2], [0, 2, 3]], np.int32)


AnyCollider = BuiltCollider | DeformingCollider


@dataclass(frozen=True, eq=False)
class ExactSurfaces:
    """All surfaces of a scene; bodies come first, then colliders that do not deform, then those that do.

    Attributes:
        bound: The surfaces, v vertices.
        options: How steps are solved.
        keys, names: Of the surfaces, (s,).
        vertex_start: First vertex of each, (s + 1,).
        colliders, deforming: The colliders.
        local: Vertices of colliders that do not deform, in their rigid space [m], (v, 3).
    """

    bound: BoundSurfaces
    options: ExactContactOptions
    keys: tuple[str, ...]
    names: tuple[str, ...]
    vertex_start: tuple[int, ...]
    colliders: tuple[BuiltCollider, ...]
    deforming: tuple[DeformingCollider, ...]
    local: Floats

    @property
    def all_colliders(self) -> tuple[AnyCollider, ...]:
        """Those that do not deform, then those that do."""
        return (*self.colliders, *self.deforming)

    def motion(
        self, tracks: TrackReader, begin: float, end: float, held: tuple[Bools | None, Floats]
    ) -> tuple[BoundSurfaces, PrescribedMotion]:
        """Returns the surfaces without inactive colliders, and what is told to move from one time to another [s].

        Args:
            tracks: Of the scene.
            begin, end: The step [s].
            held: Which nodes are held, (n,), None: none, and where these end [m], (n, 3).
        """
        ends, inactive = (self.local.copy(), self.local.copy()), []
        first = len(self.keys) - len(self.colliders) - len(self.deforming)
        for surface, collider in enumerate(self.all_colliders, first):
            own = slice(self.vertex_start[surface], self.vertex_start[surface + 1])
            if not is_active(collider.key, tracks, begin, end):
                inactive.append(surface)
            elif isinstance(collider, DeformingCollider):
                for out, vertices in zip(ends, collider.vertices_at_ends(tracks, begin, end), strict=True):
                    out[own] = vertices
            else:
                matrices = collider.matrices_at_step_ends(tracks, begin, end)
                for out, matrix, time in zip(ends, matrices, (begin, end), strict=True):
                    pose = collider.rigid_pose(matrix, time)
                    out[own] = self.local[own] @ pose[:3].T + pose[3]
        bound = self.bound
        if inactive:
            may_touch = bound.mesh.may_touch.copy()
            may_touch[inactive], may_touch[:, inactive] = False, False
            bound = replace(bound, mesh=replace(bound.mesh, may_touch=may_touch))
        is_fixed = np.zeros(len(held[1]), bool) if held[0] is None else held[0]
        return bound, PrescribedMotion(ends[0], ends[1], is_fixed, held[1])

    def appears(self, tracks: TrackReader, begin: float, end: float) -> bool:
        """Returns whether a collider was elsewhere, or inactive, in the step before a step."""
        before = begin - (end - begin)
        for collider in self.all_colliders:
            active = is_active(collider.key, tracks, begin, end)
            if active and (
                collider.teleports(tracks, begin, end) or not is_active(collider.key, tracks, before, begin)
            ):
                return True
        return False

    def check(self, bound: BoundSurfaces, state: State, start: Floats, time: float) -> None:
        """Raises BadInput where surfaces that may touch intersect.

        Args:
            bound: The surfaces that are active.
            state: Where bodies are.
            start: Vertices of colliders [m], (v, 3).
            time: When [s].
        """
        y, mesh = bound.positions(state.x, start), bound.mesh
        parts, of_triangle = {}, mesh.surface[mesh.triangles[:, 0]]
        for surface in range(len(self.keys)):
            own = slice(self.vertex_start[surface], self.vertex_start[surface + 1])
            parts[str(surface)] = y[own], indices(mesh.triangles[of_triangle == surface] - own.start)
        for found in surface_intersections(parts):
            one, other = (int(surface) for surface in found.surfaces)
            if not mesh.may_touch[one, other]:
                continue
            place = "(" + ", ".join(f"{x:.3g}" for x in found.place) + ") m"
            if one == other:
                raise BadInput("exact-contact-intersects-itself", name=self.names[one], time=time, place=place)
            names = {"name": self.names[one], "other": self.names[other]}
            raise BadInput("exact-contact-intersects", **names, time=time, place=place)


def make_exact_surfaces(
    scene: Scene,
    meshes: Sequence[TetMesh],
    bindings: Sequence[Binding],
    model: Model,
    colliders: Sequence[BuiltCollider],
    deforming: Sequence[DeformingCollider],
) -> ExactSurfaces:
    """Returns the surfaces of a scene.

    Args:
        scene: The scene; its `ignored_pairs` pass through each other.
        meshes, bindings: Of the bodies: tets, and render vertices in these.
        model: Of all bodies.
        colliders, deforming: Those that do not deform, and those that do.
    """
    vertices, triangles, tets, weights, first = [], [], [], [], 0
    starts = [0]
    others: tuple[AnyCollider, ...] = (*colliders, *deforming)
    for number, (body, binding) in enumerate(zip(scene.bodies, bindings, strict=True)):
        faces = _welded_faces(body.vertices, body.triangles, body.name)
        vertices.append(body.vertices)
        triangles.append(faces + first)
        tets.append(binding.tet + model.bodies[number].tets.start)
        weights.append(binding.weights)
        first += len(body.vertices)
        starts.append(first)
    span = np.concatenate(vertices)
    size = PLANE_SIZE * float(np.ptp(span, axis=0).max())
    for collider in others:
        corners, faces = _collider_mesh(collider, scene, size)
        vertices.append(corners)
        triangles.append(_welded_faces(corners, faces, collider.name) + first)
        tets.append(np.full(len(corners), -1, np.int32))
        weights.append(np.zeros((len(corners), 4)))
        first += len(corners)
        starts.append(first)
    rest, tet = np.concatenate(vertices), indices(np.concatenate(tets))
    surface = np.repeat(np.arange(len(starts) - 1, dtype=np.int32), np.diff(starts))
    mesh = make_contact_mesh(rest, indices(np.concatenate(triangles)), indices(surface), _may_touch(scene, others))
    nodes = indices(np.where(tet[:, None] >= 0, model.tets[np.maximum(tet, 0)], -1))
    bound = BoundSurfaces(mesh, tet, nodes, np.concatenate(weights), _friction(scene, others))
    gap = _gap(scene, meshes)
    barrier = ContactBarrier(LOGARITHMIC, gap, _stiffness(model))
    return ExactSurfaces(
        bound=bound,
        options=ExactContactOptions(barrier, SafeDistance(0.0, KEPT_SHARE), TOLERANCE_SHARE * gap),
        keys=(*(body.key for body in scene.bodies), *(collider.key for collider in others)),
        names=(*(body.name for body in scene.bodies), *(collider.name for collider in others)),
        vertex_start=tuple(starts),
        colliders=tuple(colliders),
        deforming=tuple(deforming),
        local=rest,
    )


def _welded_faces(vertices: Floats, triangles: Indices, name: str) -> Indices:
    """Returns faces with one vertex for all at one place, and without those that have no area then, (t, 3)."""
    surface = make_surface(vertices, triangles, name)
    numbers = weld(surface)
    corners, place = surface.triangles.ravel(), numbers.ravel()
    _, first = np.unique(place, return_index=True)
    faces = corners[first][place].reshape(-1, 3)
    return indices(faces[(faces != np.roll(faces, 1, axis=1)).all(axis=1)])


def _collider_mesh(collider: AnyCollider, scene: Scene, size: float) -> tuple[Floats, Indices]:
    """Returns vertices in the rigid space of a collider [m], (n, 3), and triangles; planes are squares."""
    if isinstance(collider, DeformingCollider):
        return collider.vertices, collider.triangles
    declared = next(each for each in scene.colliders if each.key == collider.key)
    if collider.bvh is not None:
        return declared.vertices @ collider.stretch.T, declared.triangles
    across = np.linalg.svd(collider.normal[None])[2][1:]
    corners = size * np.array([[-1.0, -1.0], [1.0, -1.0], [1.0, 1.0], [-1.0, 1.0]])
    return corners @ across, PLANE_FACES


def _may_touch(scene: Scene, others: Sequence[AnyCollider]) -> Bools:
    """Returns which surfaces are kept apart, (s, s)."""
    bodies = scene.bodies
    keys = [body.key for body in bodies] + [collider.key for collider in others]
    may_touch = np.ones((len(keys), len(keys)), bool)
    may_touch[len(bodies) :, len(bodies) :] = False
    for number, body in enumerate(bodies):
        may_touch[number, number] = body.collision.self_contact
    for pair in scene.ignored_pairs:
        one, other = (keys.index(key) for key in pair)
        may_touch[one, other] = may_touch[other, one] = False
    return may_touch


def _friction(scene: Scene, others: Sequence[AnyCollider]) -> Floats:
    """Returns μ of each two surfaces, (s, s): √(μ_a μ_b) between bodies, that of the collider elsewhere."""
    own = np.array([body.collision.friction for body in scene.bodies])
    friction = np.zeros((len(own) + len(others),) * 2)
    friction[: len(own), : len(own)] = np.sqrt(own[:, None] * own[None, :])
    for number, collider in enumerate(others, len(own)):
        friction[number, : len(own)] = friction[: len(own), number] = collider.friction
    return friction


def _gap(scene: Scene, meshes: Sequence[TetMesh]) -> float:
    """Returns the distance below which surfaces are pushed apart [m]."""
    gap = GAP_SHARE * min(mesh.report.tet_size for mesh in meshes)
    for body in scene.bodies:
        if body.collision.self_contact:
            corners = body.vertices[body.triangles]
            edges = np.linalg.norm(corners - np.roll(corners, 1, axis=1), axis=2)
            gap = min(gap, GAP_SHARE_OF_EDGES * float(np.percentile(edges, SHORT_EDGE_PERCENTILE)))
    return gap


def _stiffness(model: Model) -> float:
    """Returns κ [Pa]: Young's modulus of the softest tets."""
    with np.errstate(divide="ignore", invalid="ignore"):
        modulus = model.mu * (3.0 * model.lam + 2.0 * model.mu) / (model.lam + model.mu)
    return float(np.min(modulus[modulus > 0.0]))
