# SPDX-License-Identifier: GPL-3.0-or-later
"""The cracks of a brittle body at one hit, without a bake: as if it fell on hard, flat ground at a place."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from ...brittle.crack_progress import CrackProgress
from ...brittle.rigid_mass import RigidMotion
from ...brittle.wanted_pieces import count_without_dust
from ...mesh.boundary_faces import boundary_faces
from ...mesh.geometry.closest_point import closest_points
from ...mesh.geometry.orient_outward import orient_outward
from ...mesh.geometry.triangle_bvh import build_bvh
from ...mesh.geometry.triangle_surface import Surface, make_surface
from ...mesh.geometry.winding_number import winding_numbers
from ...runtime.arrays import Floats, Indices, floats, indices
from ...runtime.errors import BadInput, SolveFailed
from ...scene.brittle_validation import is_brittle
from ...scene.scene import Body, Scene
from ..simulation import Simulation
from .break_pieces import MAX_RESIDUAL
from .broken_piece import break_piece, piece_alone
from .contact_partners import OtherSide
from .piece_hits import MeetingPoint, hits_on_piece, stopped_masses

INSIDE_WINDING = 0.5


@dataclass(frozen=True, eq=False)
class CrackPreview:
    """The cracks of a body in its rest pose.

    Attributes:
        vertices: [m], (n, 3).
        triangles: Faces of cracks, (t, 3).
        outline: Edges of these where cracks come to the surface, (e, 2).
        pieces: Into how many pieces it falls, dust not counted.
        dust: How many splinters are dust.
        place: Where it is hit [m], (3,).
        first_crack_share: Share of the peak force at which the first crack begins; above 1: none does.
    """

    vertices: Floats
    triangles: Indices
    outline: Indices
    pieces: int
    dust: int
    place: Floats
    first_crack_share: float


def preview_cracks(
    scene: Scene,
    key: str,
    place: Floats,
    speed: float,
    on_progress: Callable[[CrackProgress], None] = lambda progress: None,
) -> CrackPreview:
    """Returns how a body cracks that hits flat, rigid, fixed ground.

    Args:
        scene: With the body in the rest pose; nothing else of it is read.
        key: Of the body.
        place: The nearest point of its surface is what hits the ground [m], (3,).
        speed: By which it moves along the normal there [m/s], above 0.
        on_progress: Called before every stress solve.

    Raises:
        BadInput: The body is not there or not brittle.
        SolveFailed: The stress was not found.
    """
    body = next((each for each in scene.bodies if each.key == key), None)
    if body is None or not is_brittle(body):
        raise BadInput("crack-preview-not-brittle", name=key if body is None else body.name)
    simulation = Simulation(Scene((_bare(body),), settings=scene.settings))
    pieces = simulation.built.pieces
    assert pieces is not None
    (whole,) = pieces.bodies
    alone = piece_alone(whole, 0)
    outside = orient_outward(make_surface(body.vertices, body.triangles, body.name)).surface
    at, normal = _nearest_on_surface(outside, place)
    point = MeetingPoint(at, at, floats(-normal), 1.0, speed, 0.0, 0)
    ground = OtherSide(-1, math.inf, 0.0, simulation, "")
    surface, size = pieces.surfaces[0], whole.report.tet_size
    masses = stopped_masses([point], [ground], whole.masses[0], np.eye(3))
    hits = hits_on_piece(
        alone.body, [point], [ground], masses, np.eye(3), lambda where: surface.curvature_at(where, size)
    )
    assert body.fracture is not None
    still = RigidMotion(np.zeros(3), np.zeros(3))

    def tell(stress_solves: int, count: int) -> None:
        on_progress(CrackProgress(body.name, stress_solves, count))

    found = break_piece(whole, 0, hits, still, alone, body.fracture.wanted_pieces, tell)
    if found.largest_residual > MAX_RESIDUAL:
        residual = f"{found.largest_residual:.1e}"
        raise SolveFailed("brittle-stress-not-found", name=body.name, time=0.0, residual=residual)
    faces = found.cracked.crack_faces
    used, local = np.unique(faces, return_inverse=True)
    count = count_without_dust(alone.body, found)
    triangles = indices(local.reshape(-1, 3), -1, 3)
    outer = boundary_faces(alone.body.tets)
    outline = np.intersect1d(_edge_keys(faces, len(alone.body.nodes)), _edge_keys(outer, len(alone.body.nodes)))
    return CrackPreview(
        vertices=_within_surface(outside, alone.body.nodes[used]),
        triangles=triangles,
        outline=indices(np.searchsorted(used, np.stack(np.divmod(outline, len(alone.body.nodes)), axis=1)), -1, 2),
        pieces=count,
        dust=len(found.pieces) - count,
        place=at,
        first_crack_share=found.first_crack_share,
    )


def _edge_keys(triangles: Indices, count: int) -> npt.NDArray[np.int64]:
    """Returns the edges of triangles, once each, as numbers: the lower of both of `count` nodes times that, plus it."""
    ends = triangles[:, [[0, 1], [1, 2], [2, 0]]].reshape(-1, 2).astype(np.int64)
    return np.unique(ends.min(axis=1) * count + ends.max(axis=1))


def _nearest_on_surface(surface: Surface, place: Floats) -> tuple[Floats, Floats]:
    """Returns the nearest point of a surface [m] and the outward normal there, (3,) each."""
    near = closest_points(build_bvh(surface.vertices, surface.triangles), floats(place).reshape(1, 3))
    corners = surface.vertices[surface.triangles[near.triangle[0]]]
    normal = np.cross(corners[1] - corners[0], corners[2] - corners[0])
    return floats(near.weights[0] @ corners), floats(normal / np.linalg.norm(normal))


def _within_surface(surface: Surface, places: Floats) -> Floats:
    """Returns places [m], (n, 3), those outside of a surface at its nearest points: tets stick out of it."""
    bvh = build_bvh(surface.vertices, surface.triangles)
    out = places.copy()
    rows = np.flatnonzero(winding_numbers(bvh, places) < INSIDE_WINDING) if len(places) else np.zeros(0, np.int64)
    near = closest_points(bvh, places[rows])
    out[rows] = np.einsum("ka,kai->ki", near.weights, surface.corners[near.triangle])
    return floats(out, -1, 3)


def _bare(body: Body) -> Body:
    """Returns a brittle body that nothing holds."""
    return Body(
        body.vertices,
        body.triangles,
        body.material,
        body.meshing,
        body.key,
        body.name,
        tet_nodes=body.tet_nodes,
        tets=body.tets,
        fracture=body.fracture,
        face_of_triangle=body.face_of_triangle,
    )
