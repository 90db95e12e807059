# SPDX-License-Identifier: GPL-3.0-or-later
"""Cuts a closed surface along the faces of tets that have parted."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from ...runtime.arrays import Bools, Floats, Indices, floats, indices
from ...runtime.errors import BadInput, SolveFailed
from ..geometry.manifold_defects import find_manifold_defects
from .assemble_render_mesh import assemble_render_mesh
from .clip_triangle_tet import make_fragments
from .crack_faces import make_broken_faces
from .final_mesh import FinalMesh
from .fragment_labels import material_components
from .general_position import DegeneratePosition, PerturbedPoints, perturb_points
from .intersection_positions import point_positions
from .node_winding_numbers import node_windings
from .parted_face_loops import face_loops
from .polygons import NotWatertight, concatenate_polygons
from .surface_tet_intersections import (
    Intersections,
    SurfaceEdges,
    SurfaceOutsideTets,
    find_intersections,
    surface_edges,
)
from .tet_complex import OverlappingTets, TetComplex, make_tet_complex, parted_faces
from .tet_edge_intervals import edge_intervals
from .uncut_faces import uncut_faces
from .vertex_tets import find_vertex_tets

MAX_ATTEMPTS = 8  # at points in general position


class EmbeddedSurface(NamedTuple):
    """A closed surface in tets: what of it lies where.

    Attributes:
        points: Nodes and vertices in general position.
        whole: The tets.
        edges: Edges of the surface.
        vertex_tet: The tet of each vertex, (v,).
        crossings: Where triangles cross faces of tets.
    """

    points: PerturbedPoints
    whole: TetComplex
    edges: SurfaceEdges
    vertex_tet: Indices
    crossings: Intersections


def cut_surface(
    nodes: Floats,
    tets: Indices,
    parted_tets: Indices,
    vertices: Floats,
    triangles: Indices,
    face_of_triangle: Indices,
    name: str,
) -> FinalMesh:
    """Returns the surface cut along every face at which two tets have different nodes now.

    Args:
        nodes: Rest positions of the whole tets [m], (n, 3).
        tets: Nodes of the whole tets, (m, 4).
        parted_tets: Nodes of the same tets after nodes have split, (m, 4).
        vertices: Render vertices at rest [m], (v, 3).
        triangles: The closed render surface, outward, (t, 3).
        face_of_triangle: The face of the render mesh that each triangle is a part of, (t,).
        name: What the object is called, for failures.

    Raises:
        BadInput: "cut-open" where the surface is not closed, "cut-uncovered" where it leaves the tets, "cut-tets"
            where they overlap.
        SolveFailed: "cut-not-closed" where the sides of polygons do not find each other, which is a defect of Sinew.

    Source: Müller and Gross (2004), Interactive Virtual Materials, section 5.2; polygons per tet and points registered
    once as Sifakis (2007), Simulation and Control of Human Anatomy, chapter 7 and appendix C.
    """
    nodes, vertices = floats(nodes, -1, 3), floats(vertices, -1, 3)
    tets, triangles = indices(tets, -1, 4), indices(triangles, -1, 3)
    embedded = embed_surface(nodes, tets, vertices, triangles, name)
    return cut_embedded_surface(embedded, nodes, parted_tets, vertices, triangles, face_of_triangle, name)


def cut_embedded_surface(
    embedded: EmbeddedSurface,
    nodes: Floats,
    parted_tets: Indices,
    vertices: Floats,
    triangles: Indices,
    face_of_triangle: Indices,
    name: str,
) -> FinalMesh:
    """Returns what `cut_surface` does, of a surface of which is known where it lies in the tets; so does it raise."""
    is_parted = parted_faces(embedded.whole, indices(parted_tets, -1, 4))
    try:
        return _cut_embedded(
            embedded,
            is_parted,
            floats(nodes, -1, 3),
            floats(vertices, -1, 3),
            indices(triangles, -1, 3),
            indices(face_of_triangle, -1),
        )
    except NotWatertight as problem:
        raise SolveFailed("cut-not-closed", name=name) from problem


def embed_surface(nodes: Floats, tets: Indices, vertices: Floats, triangles: Indices, name: str) -> EmbeddedSurface:
    """Finds where a closed surface lies in tets.

    Raises:
        BadInput: "cut-open" where the surface is not closed, "cut-uncovered" where it leaves the tets, "cut-tets"
            where they overlap.
    """
    defects = find_manifold_defects(triangles)
    if defects is not None:
        raise BadInput("cut-open", name=name, edges=sum(defects))
    edges = surface_edges(triangles)
    # loose vertices may lie anywhere, even so far away that the rest would have no digits left
    used = np.bincount(triangles.ravel(), minlength=len(vertices)) > 0
    vertices = np.where(used[:, None], vertices, vertices[triangles[0, 0]])
    for seed in range(MAX_ATTEMPTS):
        points = perturb_points(nodes, tets, vertices, seed)
        try:
            whole = make_tet_complex(points.positions[: len(nodes)], tets)
            vertex_tet = find_vertex_tets(points, whole)
            lost = (vertex_tet[triangles] < 0).any(axis=1)
            if lost.any():
                raise SurfaceOutsideTets(np.flatnonzero(lost))
            crossings = find_intersections(points, whole, triangles, edges, vertex_tet)
        except DegeneratePosition:
            continue
        except OverlappingTets as problem:
            raise BadInput("cut-tets", name=name) from problem
        except SurfaceOutsideTets as problem:
            raise BadInput("cut-uncovered", name=name, count=len(problem.triangles)) from problem
        return EmbeddedSurface(points, whole, edges, vertex_tet, crossings)
    raise AssertionError("no general position found")


def check_covered(nodes: Floats, tets: Indices, vertices: Floats, triangles: Indices, name: str) -> None:
    """Checks, before a bake, what `cut_surface` needs after it.

    Raises:
        BadInput: "cut-open" where the surface is not closed, "cut-uncovered" where it leaves the tets, "cut-tets"
            where they overlap.
    """
    arrays = floats(nodes, -1, 3), indices(tets, -1, 4), floats(vertices, -1, 3), indices(triangles, -1, 3)
    embed_surface(*arrays, name)


def _cut_embedded(
    embedded: EmbeddedSurface,
    is_parted: Bools,
    nodes: Floats,
    vertices: Floats,
    triangles: Indices,
    face_of_triangle: Indices,
) -> FinalMesh:
    """Puts together what stays whole, what is cut and what closes the cracks."""
    points, whole, edges, vertex_tet, crossings = embedded
    is_cut = np.zeros(len(triangles), np.bool_)
    is_cut[crossings.triangle[is_parted[crossings.face]]] = True
    fragments = make_fragments(crossings, whole, triangles, edges, vertex_tet, is_cut, is_parted, face_of_triangle)
    uncut = uncut_faces(triangles, edges, vertex_tet, is_cut, face_of_triangle, fragments)
    windings = node_windings(points, whole, triangles, crossings)
    wanted = np.unique(whole.face_edges[is_parted])
    intervals = edge_intervals(whole, crossings, windings, wanted)
    places = point_positions(nodes, vertices, triangles, edges, crossings, intervals)
    loops = face_loops(whole, crossings, intervals, is_parted)
    broken, same = make_broken_faces(nodes, whole, loops, places)
    polygons = concatenate_polygons([uncut, fragments, broken])
    polygons.side[:] = _merged_names(polygons.side, same)
    pieces = material_components(whole, crossings, windings, is_parted)
    return assemble_render_mesh(polygons, places, nodes, whole.tets, pieces, triangles, edges, crossings)


def _merged_names(names: npt.NDArray, same: npt.NDArray) -> npt.NDArray:
    """Returns names with the second of each pair replaced by the first."""
    if not len(same):
        return names
    order = np.argsort(same[:, 1])
    place = np.minimum(np.searchsorted(same[order, 1], names), len(same) - 1)
    return np.where(same[order, 1][place] == names, same[order, 0][place], names)
