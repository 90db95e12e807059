# SPDX-License-Identifier: GPL-3.0-or-later
"""Builds the collision surfaces of a scene, and decides which of them may touch."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from ...mechanics.model import Model
from ...mesh.embedding import Binding, bind
from ...mesh.geometry.closedness import has_inside
from ...mesh.geometry.triangle_surface import make_surface, signed_volume
from ...mesh.separate_coincident_vertices import separate_coincident_vertices
from ...mesh.tet_mesh import TetMesh
from ...runtime.arrays import Bools, Floats, Indices, floats, indices
from ...scene.contact import SIDES_FRONT
from ...scene.scene import EXACT_CONTACT, Body, Collider, Scene
from ...scene.tracks import TrackReader
from ..colliders.deforming_collider import DeformingCollider
from .collision_surfaces import CollisionSurfaces
from .contact_spacing import contact_spacing
from .sharp_edges import MeshSharpEdges, SharpEdges, merge_sharp_edges, mesh_sharp_edges, sheet_edges
from .sharp_feature_points import MIN_SHEET_CURVATURE_ANGLE, SHEET_CELL_SIZE, sharp_points
from .surface_meshes import SurfacePart, body_surface, collider_part, collider_surface, sheet_surface

MIN_SHARP_EDGE_ANGLE = np.radians(30.0)  # angle between faces from which an edge of a collider is sharp
MIN_BLADE_ANGLE = np.radians(100.0)  # the same if nothing else needs surfaces: blades and spikes, but no boxes
# The same beside sheets: an edge of the length h across one of the angle φ is up to h φ / 4 inside of it, more than the
# distance that others keep from sheets from 14 degrees on.
MIN_SHARP_EDGE_ANGLE_AT_SHEETS = np.radians(10.0)


def make_collision_surfaces(
    scene: Scene,
    meshes: Sequence[TetMesh],
    bindings: Sequence[Binding],
    model: Model,
    deforming: Sequence[DeformingCollider],
    tracks: TrackReader,
) -> CollisionSurfaces | None:
    """Returns the surfaces of a scene; None if none is needed: for one body that neither breaks nor touches itself,
    without colliders that deform or are sharp. Beside sheets, boxes and small balls are sharp.

    Surface b is that of body b of the scene; then follow the colliders with a surface, in their order. Vertices of
    render meshes keep the binding by which they are rendered. No edge of a body is longer than `contact_spacing`.
    Bodies that follow a pose touch those that do not; among themselves they do not (`quasistatic/contact`).

    Args:
        scene: The scene.
        meshes, bindings: Of the bodies: tets, and render vertices in these.
        model: Of all bodies.
        deforming: The colliders that deform.
        tracks: Of the scene.
    """
    size = min(mesh.report.tet_size for mesh in meshes)
    by_key = {collider.key: collider for collider in deforming}
    prescribed = [number for number, collider in enumerate(scene.colliders) if collider.key in by_key]
    may_touch = _contact_matrix(scene, prescribed, [])
    needs_surfaces = bool(may_touch.any())
    parts = (
        [collider_surface(by_key[scene.colliders[number].key], size) for number in prescribed] if needs_surfaces else []
    )
    prescribed = prescribed if needs_surfaces else []
    sharp, has_sheets = [], any(mesh.sheet is not None for mesh in meshes)
    sampling: tuple[float, ...] = (MIN_SHARP_EDGE_ANGLE if needs_surfaces else MIN_BLADE_ANGLE,)
    if has_sheets:
        sampling = (MIN_SHARP_EDGE_ANGLE_AT_SHEETS, MIN_SHEET_CURVATURE_ANGLE, SHEET_CELL_SIZE)
    for number, collider in enumerate(scene.colliders):
        is_rigid = collider.key not in by_key
        part = _sharp_point_part(collider, contact_spacing(scene, size), sampling, tracks) if is_rigid else None
        if part is not None and len(part.rest):
            sharp.append(number)
            parts.append(part)
    may_touch = _contact_matrix(scene, prescribed, sharp)
    # pieces meet each other once there are any; those of a sheet do as it meets itself
    # by Exact contact a sheet that has torn needs them, too
    is_exact = scene.settings.contact == EXACT_CONTACT
    may_break = any(body.fracture is not None and (is_exact or not body.is_sheet) for body in scene.bodies)
    if not needs_surfaces and not may_break and not may_touch.any():
        return None
    own = [_body_part(scene, *of) for of in zip(scene.bodies, meshes, bindings, strict=True)]
    surfaces = _merge_parts(scene, model, meshes, own, parts, [*prescribed, *sharp], may_touch, by_key)
    return replace(surfaces, edges=_surface_edges(surfaces, scene, meshes, model, tracks))


def _contact_matrix(scene: Scene, prescribed: Sequence[int], sharp: Sequence[int]) -> Bools:
    """Returns `CollisionSurfaces.may_touch` for bodies, deforming colliders, and sharp rigid ones, (s, s)."""
    bodies, colliders = scene.bodies, [*prescribed, *sharp]
    keys = [body.key for body in bodies] + [scene.colliders[number].key for number in colliders]
    ignored = {frozenset(pair) for pair in scene.ignored_pairs}
    may_touch = np.zeros((len(keys), len(keys)), bool)
    for a, body in enumerate(bodies):
        may_touch[a, a] = body.collision.self_contact and not body.follows_pose
        for b in range(a + 1, len(keys)):
            is_body = b < len(bodies)
            moves = not body.follows_pose or (is_body and not bodies[b].follows_pose)
            may = moves and frozenset((keys[a], keys[b])) not in ignored
            # what comes from behind would touch the points of a one-sided collider
            may_touch[b, a] = may and (is_body or scene.colliders[colliders[b - len(bodies)]].sides != SIDES_FRONT)
            may_touch[a, b] = may and b < len(bodies) + len(prescribed)
    # particles of surface detail take its contacts: a point of another surface would press on them once more
    has_detail = np.array([body.surface_detail is not None for body in bodies] + [False] * len(colliders), bool)
    return may_touch & (has_detail[:, None] | ~has_detail[None, :])


def _body_part(scene: Scene, body: Body, mesh: TetMesh, binding: Binding) -> SurfacePart:
    if mesh.sheet is not None:
        return sheet_surface(mesh, binding, body.sheet.thickness)
    surface = make_surface(body.vertices, body.triangles, body.name, body.wrap_vertices)
    size = mesh.report.tet_size
    if body.surface_detail is not None:
        return body_surface(surface, mesh, binding, size, body.surface_detail)
    parted = separate_coincident_vertices(surface, mesh.nodes, mesh.tets, size)
    return body_surface(parted, mesh, binding, contact_spacing(scene, size))


def _sharp_point_part(
    collider: Collider, spacing: float, sampling: tuple[float, ...], tracks: TrackReader
) -> SurfacePart | None:
    """Returns the points of a rigid collider's sharp edges, in its own space; for `sampling` see `sharp_points`."""
    if collider.shape != "mesh" or not len(collider.triangles):
        return None
    vertices, triangles, _ = _scaled_mesh(collider, tracks)
    corners, weights = sharp_points(vertices, triangles, spacing, *sampling)
    rest = np.einsum("kc,kci->ki", weights, collider.vertices[corners])
    none = np.zeros((0, 3), np.int32)
    return collider_part(floats(rest, -1, 3), none, np.full(len(rest), spacing**2, np.float64), corners, weights)


def _scaled_mesh(collider: Collider, tracks: TrackReader) -> tuple[Floats, Indices, bool]:
    """Returns the scaled mesh of a rigid collider, outward if it has an inside, and whether it has one."""
    name = f"collider.{collider.key}.matrix"
    stretch = tracks.sample(name, 0.0)[:3, :3] if tracks.has(name) else np.eye(3)
    vertices, triangles = floats(collider.vertices @ stretch.T, -1, 3), indices(collider.triangles, -1, 3)
    has_front = has_inside(vertices, triangles)
    if has_front and signed_volume(vertices, triangles) < 0.0:
        triangles = indices(triangles[:, ::-1])
    return vertices, triangles, has_front


def _surface_edges(
    surfaces: CollisionSurfaces, scene: Scene, meshes: Sequence[TetMesh], model: Model, tracks: TrackReader
) -> SharpEdges | None:
    """Returns the sharp edges of surfaces and all of sheets; None if no edge of a body can touch another."""
    own: list[MeshSharpEdges | None] = []
    tets_of: list[Indices | None] = []
    rigid: list[Floats | None] = []
    size = surfaces.size[np.minimum(surfaces.vertex_start[:-1], surfaces.vertex_count - 1)]
    for surface in range(len(surfaces)):
        body, at, faces = int(surfaces.body[surface]), surfaces.vertices_of(surface), surfaces.triangles_of(surface)
        vertices, triangles = surfaces.rest[at], indices(surfaces.triangles[faces] - np.int32(at.start))
        tets, corners, front = None, None, bool(surfaces.is_one_sided[surface])
        sheet = meshes[body].sheet if body >= 0 else None
        if body >= 0 and scene.bodies[body].surface_detail is not None:  # the dents have no edges of their own
            own, tets_of, rigid = [*own, None], [*tets_of, None], [*rigid, None]
            continue
        if sheet is not None:
            found = sheet_edges(triangles, sheet.strands)
            of_faces = sheet.hinge[found.triangle[: len(found.triangle) - len(sheet.strands)]]
            tets = indices(np.concatenate([of_faces, sheet.strand_tet]) + model.bodies[body].tets.start)
            own, tets_of, rigid = [*own, found], [*tets_of, tets], [*rigid, None]
            continue
        if body < 0 and not len(triangles):
            collider = scene.colliders[int(surfaces.collider[surface])]
            vertices, triangles, front = _scaled_mesh(collider, tracks)
            corners = collider.vertices
        found = mesh_sharp_edges(vertices, triangles, float(size[surface]), front)
        if body >= 0:
            mesh, middles = meshes[body], vertices[found.ends[:, :2]].mean(axis=1)
            tets = indices(bind(mesh.nodes, mesh.tets, middles).tet + model.bodies[body].tets.start)
        own, tets_of, rigid = [*own, found], [*tets_of, tets], [*rigid, corners]
    edges = merge_sharp_edges(
        own, tets_of, surfaces.vertex_start, surfaces.triangle_start, surfaces.rest, rigid, floats(size)
    )
    if edges is None:
        return None
    having = np.unique(edges.surface)
    return edges if surfaces.edges_may_touch[np.ix_(having, having)].any() else None


def _merge_parts(
    scene: Scene,
    model: Model,
    meshes: Sequence[TetMesh],
    bodies: Sequence[SurfacePart],
    colliders: Sequence[SurfacePart],
    numbers: Sequence[int],
    may_touch: Bools,
    deforming: dict[str, DeformingCollider],
) -> CollisionSurfaces:
    parts = [*bodies, *colliders]
    scene_colliders = [scene.colliders[number] for number in numbers]
    vertex_start = np.cumsum([0, *(len(part.rest) for part in parts)], dtype=np.int64)
    triangle_start = np.cumsum([0, *(len(part.triangles) for part in parts)], dtype=np.int64)
    tet = np.concatenate([part.tet for part in parts])
    for number, body in enumerate(model.bodies):
        tet[vertex_start[number] : vertex_start[number + 1]] += np.int32(body.tets.start)
    weights = floats(np.concatenate([part.weights for part in parts]), -1, 4)
    sizes = [mesh.report.tet_size for mesh in meshes]
    sizes += [min(sizes)] * len(colliders)
    one_sided = [c.key not in deforming or deforming[c.key].is_one_sided for c in scene_colliders]
    return CollisionSurfaces(
        names=(*(body.key for body in scene.bodies), *(collider.key for collider in scene_colliders)),
        vertex_start=vertex_start.astype(np.int64),
        triangle_start=triangle_start.astype(np.int64),
        body=indices([*range(len(bodies)), *(-1 for _ in colliders)]),
        collider=indices([*(-1 for _ in bodies), *numbers]),
        rest=floats(np.concatenate([part.rest for part in parts]), -1, 3),
        tet=indices(tet),
        weights=weights,
        nodes=_vertex_nodes(tet, weights, model, meshes, scene.bodies),
        source_vertices=indices(np.concatenate([part.source_vertices for part in parts]), -1, 3),
        source_weights=floats(np.concatenate([part.source_weights for part in parts]), -1, 3),
        triangles=indices(
            np.concatenate([part.triangles + first for part, first in zip(parts, vertex_start[:-1], strict=True)]),
            -1,
            3,
        ),
        area=floats(np.concatenate([part.area for part in parts])),
        size=floats(np.repeat(sizes, np.diff(vertex_start))),
        is_one_sided=np.array([*(mesh.sheet is None for mesh in meshes), *one_sided], bool),
        thickness=floats(
            [*(body.collision.thickness for body in scene.bodies), *(c.thickness for c in scene_colliders)]
        ),
        may_touch=may_touch,
        vertex_key=np.concatenate([np.arange(len(part.rest), dtype=np.int64) for part in parts]),
        triangle_key=np.concatenate([np.arange(len(part.triangles), dtype=np.int64) for part in parts]),
    )


def _vertex_nodes(
    tet: Indices, weights: Floats, model: Model, meshes: Sequence[TetMesh], bodies: Sequence[Body]
) -> Indices:
    """Returns the nodes that vertices move with, (v, 4): those of their tets, and the one node of a vertex of a sheet,
    so that a sheet that is folded sharply still meets itself.

    A vertex that is sewn also has up to two of those that it is sewn to, of no weight: it never meets what is there.
    """
    nodes = tet_nodes(tet, model.tets)
    for part, mesh, body in zip(model.bodies, meshes, bodies, strict=True):
        if mesh.sheet is None:
            continue
        own = np.flatnonzero((tet >= part.tets.start) & (tet < part.tets.stop))
        heaviest = weights[own].argmax(axis=1)
        nodes[own] = np.take_along_axis(nodes[own], heaviest[:, None], axis=1)
        if body.seams is not None:
            node_of_vertex = np.full(len(body.vertices), -1, np.int64)
            node_of_vertex[mesh.sheet.vertices] = part.nodes.start + np.arange(len(mesh.sheet.vertices), dtype=np.int64)
            _add_sewn_nodes(nodes, indices(own), indices(heaviest), indices(node_of_vertex[body.seams.edges], -1, 2))
    return nodes


def _add_sewn_nodes(nodes: Indices, own: Indices, heaviest: Indices, seams: Indices) -> None:
    """Writes the nodes that vertices of a sheet are sewn to into places of `nodes`, (v, 4), that have no weight.

    The first place stays, which others read as the node of a vertex of a sheet.

    Args:
        nodes: Of all vertices.
        own: Vertices of the sheet, (k,).
        heaviest: The place in `nodes` that has all weight of each, (k,).
        seams: Two nodes of each edge, (m, 2).
    """
    rows = {int(nodes[row, 0]): row for row in own}
    free = {int(nodes[row, 0]): [k for k in (1, 2, 3) if k != place] for row, place in zip(own, heaviest, strict=True)}
    for pair in seams.tolist():
        for one, other in (pair, pair[::-1]):
            if free.get(one):
                nodes[rows[one], free[one].pop(0)] = other


def tet_nodes(tet: Indices, tets: Indices) -> Indices:
    """Returns the nodes of the tets of vertices, −1 for vertices without a tet, (v, 4)."""
    return indices(np.where(tet[:, None] >= 0, tets[np.maximum(tet, 0)], -1), -1, 4)
