# SPDX-License-Identifier: GPL-3.0-or-later
"""The surfaces of a scene that Exact contact keeps apart: render meshes of bodies, points on them, and colliders.

A render mesh may have faces much larger than tets: a cube has eight vertices. By these alone it would stand on its
corners, whatever it has between them. So contact points on large faces are kept out of other surfaces, too.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass, field, replace

import numpy as np

from ...contact.colliders.deforming_collider import DeformingCollider, is_active
from ...contact.colliders.rigid_colliders import BuiltCollider
from ...contact.detection.contact_sample_points import ContactPoints
from ...contact.exact.barriers import LOGARITHMIC
from ...contact.exact.conservative_advancement import SafeDistance
from ...contact.exact.contact_mesh import make_contact_mesh, vertex_areas
from ...contact.exact.contact_potential import ContactBarrier
from ...contact.exact.excluded_features import ExcludedFeatures
from ...contact.surfaces.collision_surfaces import Int64s
from ...integrators.dynamic_flesh_forces import FleshGroup
from ...integrators.exact_contact.bound_surfaces import BoundSurfaces, PrescribedMotion
from ...integrators.exact_contact.energy_bodies import energy_bodies
from ...integrators.exact_contact.exact_contact_options import ExactContactOptions
from ...mechanics.model import Model
from ...mesh.embedding import Binding
from ...mesh.geometry.triangle_surface import make_surface
from ...mesh.geometry.welding import weld
from ...mesh.tet_mesh import TetMesh
from ...runtime.arrays import Bools, Floats, Indices, floats, indices
from ...scene.scene import Body, Scene
from ...scene.tracks import TrackReader
from ..fracture.fragment_surfaces import FragmentSurfaces
from .breakable_surface import RETREAT_SHARE, SurfacePart, part_of_tets, part_of_torn_sheet, vertex_keys, whole_topology

GAP_SHARE = 0.02  # of the smallest tet size: distance below which surfaces are pushed apart
GAP_SHARE_OF_EDGES = 0.25  # of short edges of what touches itself: neighbours must not push each other
SHORT_EDGE_PERCENTILE = 5
KEPT_SHARE = 0.1  # of the distance of a pair that it keeps in an iteration of Newton's method
TOLERANCE_SHARE = 0.05  # of the gap: motion of an iteration from which on a step has converged
PLANE_SIZE = 100.0  # of the size of all bodies: half the side of the square that stands for an endless plane
# times the stiffness that inertia gives: with 1 what hits at some m/s comes as near as a thousandth of the gap, where
# pieces that slide on each other can go on by next to nothing in an iteration; with 1,000 they fly apart
HIT_STIFFNESS = 30.0
PLANE_FACES = np.array([[0, 1, 2], [0, 2, 3]], np.int32)


AnyCollider = BuiltCollider | DeformingCollider


@dataclass(frozen=True, eq=False)
class ExactSurfaces:
    """All surfaces of a scene: bodies, points on large faces of each, colliders that do not deform, those that do.

    Attributes:
        bound: The surfaces, v vertices.
        options: How steps are solved.
        keys, names: Of the bodies and colliders of the surfaces, (s,) each.
        vertex_start: First vertex of each, (s + 1,).
        colliders, deforming: The colliders.
        local: Vertices of colliders that do not deform, in their rigid space [m], (v, 3).
        first_excluded: What is not kept apart at first, as it intersects itself at rest.
        energy_bodies: Sheets and rigid bodies, whose tets are not corotated.
        dt: Δt of a step [s], which the stiffness of rigid bodies goes by.
        key: Of each vertex, which stays when bodies break, (v,).
        fragments: Of bodies that may break; None: none may.
    """

    bound: BoundSurfaces
    options: ExactContactOptions
    keys: tuple[str, ...]
    names: tuple[str, ...]
    vertex_start: tuple[int, ...]
    colliders: tuple[BuiltCollider, ...]
    deforming: tuple[DeformingCollider, ...]
    local: Floats
    first_excluded: ExcludedFeatures = field(default_factory=ExcludedFeatures)
    energy_bodies: tuple[FleshGroup, ...] = ()
    dt: float = 0.0
    key: Int64s = field(default_factory=lambda: np.zeros(0, np.int64))
    fragments: FragmentSurfaces | None = None

    @property
    def all_colliders(self) -> tuple[AnyCollider, ...]:
        """Those that do not deform, then those that do."""
        return (*self.colliders, *self.deforming)

    @property
    def first_collider(self) -> int:
        """The surface of the first collider."""
        return len(self.names) - len(self.all_colliders)

    def collider_origins(self, tracks: TrackReader, time: float) -> Floats:
        """Returns the reference points of torques on colliders at a time [m], (c, 3)."""
        poses = [each.rigid_pose(each.matrices_at_step_ends(tracks, time, time)[1], time) for each in self.colliders]
        origins = [*(pose[3] for pose in poses), *(each.origin(tracks, time) for each in self.deforming)]
        return floats(np.array(origins), -1, 3)

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
        for surface, collider in enumerate(self.all_colliders, self.first_collider):
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


def make_exact_surfaces(
    scene: Scene,
    meshes: Sequence[TetMesh],
    bindings: Sequence[Binding],
    model: Model,
    colliders: Sequence[BuiltCollider],
    deforming: Sequence[DeformingCollider],
    points: Sequence[ContactPoints],
    fragments: FragmentSurfaces | None = None,
) -> ExactSurfaces:
    """Returns the surfaces of a scene.

    Args:
        scene: The scene; its `ignored_pairs` pass through each other.
        meshes, bindings: Of the bodies: tets, and render vertices in these.
        model: Of all bodies.
        colliders, deforming: Those that do not deform, and those that do.
        points: Contact points of the bodies: render vertices that faces use, then those on large faces.
        fragments: Of the bodies that may break: these have the faces of their tets; None: none may.
    """
    others: tuple[AnyCollider, ...] = (*colliders, *deforming)
    dt = 1.0 / (scene.settings.fps * scene.settings.substeps)
    size = PLANE_SIZE * float(np.ptp(np.concatenate([body.vertices for body in scene.bodies]), axis=0).max())
    breaks = fragments.breakable_numbers if fragments is not None else ()
    gap, parts = _gap(scene, meshes), list[SurfacePart]()
    for number, (body, binding, own) in enumerate(zip(scene.bodies, bindings, points, strict=True)):
        if fragments is not None and number in breaks:
            parts.append(part_of_tets(fragments, number, whole_topology(model), RETREAT_SHARE * gap))
        elif fragments is not None and number in fragments.sheet_numbers:
            parts.append(part_of_torn_sheet(fragments, number, model.tets))
        else:
            parts.append(_body_part(body, binding.tet + model.bodies[number].tets.start, binding.weights, own, model))
    parts += [
        _part_of_points(body, own, model, n in breaks)
        for n, (body, own) in enumerate(zip(scene.bodies, points, strict=True))
    ]
    parts += [_collider_part(collider.name, *_collider_mesh(collider, scene, size)) for collider in others]
    starts = [0, *np.cumsum([len(part.vertices) for part in parts], dtype=np.int64).tolist()]
    triangles = [part.triangles + first for part, first in zip(parts, starts[:-1], strict=True)]
    rest, tet, area = (np.concatenate([getattr(part, name) for part in parts]) for name in ("vertices", "tet", "area"))
    tet, weights = indices(tet), np.concatenate([part.weights for part in parts])
    surface = np.repeat(np.arange(len(starts) - 1, dtype=np.int32), np.diff(starts))
    count = len(scene.bodies)
    bodies, rest_of = np.arange(count, dtype=np.int64), np.arange(count, count + len(others), dtype=np.int64)
    as_whose = np.concatenate([bodies, bodies, rest_of])  # points touch and rub what their body does
    may_touch = _may_touch(scene, others)[np.ix_(as_whose, as_whose)]
    may_touch[bodies, count + bodies] = may_touch[count + bodies, bodies] = False
    is_half_space = np.isin(np.arange(len(as_whose), dtype=np.int64), 2 * count + np.flatnonzero(_are_planes(others)))
    faces, owner = indices(np.concatenate(triangles)), indices(np.where(as_whose < count, as_whose, as_whose + count))
    strands = indices(
        np.concatenate([part.strands + first for part, first in zip(parts, starts[:-1], strict=True)]), -1, 2
    )
    mesh = make_contact_mesh(rest, faces, indices(surface), may_touch, floats(area), owner, is_half_space, strands)
    thickness = [*(body.collision.thickness for body in scene.bodies), *(each.thickness for each in others)]
    mesh = replace(mesh, thickness=np.array(thickness)[as_whose])
    nodes = indices(np.where(tet[:, None] >= 0, model.tets[np.maximum(tet, 0)], -1))
    bound = BoundSurfaces(mesh, tet, nodes, weights, _friction(scene, others)[np.ix_(as_whose, as_whose)])
    barrier = ContactBarrier(LOGARITHMIC, gap, contact_stiffness(scene, model))
    return ExactSurfaces(
        bound=bound,
        options=ExactContactOptions(barrier, SafeDistance(0.0, KEPT_SHARE), TOLERANCE_SHARE * gap),
        keys=tuple(each.key for each in (*scene.bodies, *scene.bodies, *others)),
        names=tuple(each.name for each in (*scene.bodies, *scene.bodies, *others)),
        vertex_start=tuple(starts),
        colliders=tuple(colliders),
        deforming=tuple(deforming),
        local=rest,
        energy_bodies=energy_bodies(model, dt),
        dt=dt,
        key=np.concatenate([vertex_keys(number, part) for number, part in enumerate(parts)]),
        fragments=fragments,
    )


def _body_part(body: Body, tet: Indices, weights: Floats, points: ContactPoints, model: Model) -> SurfacePart:
    """Returns the render mesh of a body, whose vertices share its surface with its further contact points."""
    if body.is_sheet:  # every vertex is a node, also beside another one
        strands = indices(body.sheet.strands, -1, 2)
        used = np.unique(np.concatenate([body.triangles.ravel(), strands.ravel()]))
        area = floats(np.bincount(used, points.area, len(body.vertices)))
        return SurfacePart(body.vertices, indices(body.triangles, -1, 3), tet, weights, area, strands=strands)
    used = np.unique(body.triangles)
    faces, representative = _welded_faces(body.vertices, body.triangles, body.name)
    if body.is_rigid:  # stands on its faces as they are
        return SurfacePart(body.vertices, faces, tet, weights, vertex_areas(body.vertices, faces))
    if body.surface_detail is not None:  # which has one point for all vertices at a place
        area = np.zeros(len(body.vertices))
        area[representative[used]] = points.area[_particles_of(body, points, model)]
        return SurfacePart(body.vertices, faces, tet, weights, area)
    area = floats(np.bincount(representative[used], points.area[: len(used)], len(body.vertices)))
    return SurfacePart(body.vertices, faces, tet, weights, area)


def _particles_of(body: Body, points: ContactPoints, model: Model) -> Indices:
    """Returns the particle of surface detail at each render vertex that faces use, (u,)."""
    from scipy.spatial import cKDTree

    places = np.einsum("ka,kai->ki", points.weights, model.X[model.tets[points.tet]])
    return indices(cKDTree(places).query(body.vertices[np.unique(body.triangles)])[1])


def _part_of_points(body: Body, points: ContactPoints, model: Model, may_break: bool) -> SurfacePart:
    """Returns the contact points of a body that are no render vertices."""
    is_flat = body.is_sheet or body.is_rigid or may_break  # between the vertices of a face
    further = points.select(slice(len(points) if is_flat else len(np.unique(body.triangles)), None))
    if body.surface_detail is not None:
        every = np.arange(len(points), dtype=np.int64)
        further = points.select(np.setdiff1d(every, _particles_of(body, points, model)))
    places = np.einsum("ka,kai->ki", further.weights, model.X[model.tets[further.tet]])
    return SurfacePart(places, np.zeros((0, 3), np.int32), further.tet, further.weights, further.area)


def _collider_part(name: str, vertices: Floats, triangles: Indices) -> SurfacePart:
    faces, _ = _welded_faces(vertices, triangles, name)
    count = len(vertices)
    return SurfacePart(
        vertices, faces, np.full(count, -1, np.int32), np.zeros((count, 4)), vertex_areas(vertices, faces)
    )


def _welded_faces(vertices: Floats, triangles: Indices, name: str) -> tuple[Indices, Indices]:
    """Welds vertices at one place.

    Returns:
        The faces without those that have no area then, (t, 3), and the vertex that stands for each, (n,).
    """
    surface = make_surface(vertices, triangles, name)
    numbers = weld(surface)
    corners, place = surface.triangles.ravel(), numbers.ravel()
    _, first = np.unique(place, return_index=True)
    welded = corners[first][place]
    representative = np.arange(len(vertices), dtype=np.int64)
    representative[corners] = welded
    faces = welded.reshape(-1, 3)
    return indices(faces[(faces != np.roll(faces, 1, axis=1)).all(axis=1)]), indices(representative)


def _collider_mesh(collider: AnyCollider, scene: Scene, size: float) -> tuple[Floats, Indices]:
    """Returns vertices in the rigid space of a collider [m], (n, 3), and triangles; planes are squares."""
    if isinstance(collider, DeformingCollider):
        return collider.vertices, collider.triangles
    declared = next(each for each in scene.colliders if each.key == collider.key)
    if collider.bvh is not None:
        return declared.vertices @ collider.stretch.T, declared.triangles
    across = np.linalg.svd(collider.normal[None])[2][1:]
    across[1] *= np.sign(np.cross(across[0], across[1]) @ collider.normal)  # faces look up
    corners = size * np.array([[-1.0, -1.0], [1.0, -1.0], [1.0, 1.0], [-1.0, 1.0]])
    return corners @ across, PLANE_FACES


def _are_planes(others: Sequence[AnyCollider]) -> Bools:
    """Returns which colliders are planes, with everything below inside, (c,)."""
    return np.array([isinstance(each, BuiltCollider) and each.bvh is None for each in others], bool)


def _may_touch(scene: Scene, others: Sequence[AnyCollider]) -> Bools:
    """Returns which surfaces are kept apart, (s, s)."""
    bodies = scene.bodies
    keys = [body.key for body in bodies] + [collider.key for collider in others]
    may_touch = np.ones((len(keys), len(keys)), bool)
    may_touch[len(bodies) :, len(bodies) :] = False
    for number, body in enumerate(bodies):
        may_touch[number, number] = _touches_itself(body)
    for pair in scene.ignored_pairs:
        one, other = (keys.index(key) for key in pair)
        may_touch[one, other] = may_touch[other, one] = False
    return may_touch


def _touches_itself(body: Body) -> bool:
    """Returns whether a body is kept out of itself; flesh that follows a pose has a switch of its own."""
    return body.flesh.self_contact if body.flesh is not None and body.follows_pose else body.collision.self_contact


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
        if _touches_itself(body) and body.fracture is None:  # pieces keep the distance that they begin with
            corners = body.vertices[body.triangles]
            edges = np.linalg.norm(corners - np.roll(corners, 1, axis=1), axis=2).ravel()
            ends = body.vertices[indices(body.sheet.strands, -1, 2)]
            edges = np.concatenate([edges, np.linalg.norm(ends[:, 0] - ends[:, 1], axis=1)])
            gap = min(gap, GAP_SHARE_OF_EDGES * float(np.percentile(edges, SHORT_EDGE_PERCENTILE)))
    return gap


def contact_stiffness(scene: Scene, model: Model, hit: Collection[int] = ()) -> float:
    """Returns κ [Pa]: Young's modulus of the softest tets, or that of sheets and rigid bodies, if greater.

    The latter is that of their inertia (`inertial_contact_modulus.py`), and low: a sheet between others is pressed by
    these, not by itself.

    Args:
        scene, model: The bodies.
        hit: Numbers of those that are there to be hit, whose is `HIT_STIFFNESS` times as much.
    """
    with np.errstate(divide="ignore", invalid="ignore"):
        modulus = model.mu * (3.0 * model.lam + 2.0 * model.mu) / (model.lam + model.mu)
    modulus = np.where(modulus > 0.0, modulus, np.inf)
    own = [
        (body, (HIT_STIFFNESS if number in hit else 1.0) * modulus[part.tets].min())
        for number, (body, part) in enumerate(zip(scene.bodies, model.bodies, strict=True))
    ]
    softest = min((found for body, found in own if not (body.is_sheet or body.is_rigid)), default=0.0)
    return float(max(softest, *(found for body, found in own if body.is_sheet or body.is_rigid), 0.0))
