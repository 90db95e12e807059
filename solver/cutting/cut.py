# SPDX-License-Identifier: GPL-3.0-or-later
"""Cuts a closed surface along the faces of tets that have parted."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from ..arrays import Bools, Floats, Indices, floats, indices
from ..errors import BadInput, SolveFailed
from .assemble import assemble
from .broken_faces import make_broken_faces
from .closed import why_not_closed
from .crossings import Crossings, NotCovered, SurfaceEdges, find_crossings, surface_edges
from .cut_surface import CutSurface
from .edge_intervals import make_intervals
from .face_loops import make_loops
from .fragments import make_fragments
from .general_position import NotGeneral, Points, in_general_position
from .node_windings import node_windings
from .pieces import tet_pieces
from .point_places import point_places
from .polygons import NotClosed, joined
from .tet_complex import Overlapping, TetComplex, make_complex, parted_faces
from .vertex_tets import find_vertex_tets
from .whole_faces import make_whole_faces

ATTEMPTS = 8  # at points in general position


class Embedded(NamedTuple):
    """A closed surface in tets: what of it lies where.

    Attributes:
        points: Nodes and vertices in general position.
        whole: The tets.
        edges: Edges of the surface.
        vertex_tet: The tet of each vertex, (v,).
        crossings: Where triangles cross faces of tets.
    """

    points: Points
    whole: TetComplex
    edges: SurfaceEdges
    vertex_tet: Indices
    crossings: Crossings


def cut(
    nodes: Floats,
    tets: Indices,
    parted_tets: Indices,
    vertices: Floats,
    triangles: Indices,
    face_of_triangle: Indices,
    name: str,
) -> CutSurface:
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
    embedded = embed(nodes, tets, vertices, triangles, name)
    is_parted = parted_faces(embedded.whole, indices(parted_tets, -1, 4))
    try:
        return _cut_along(embedded, is_parted, nodes, vertices, triangles, indices(face_of_triangle, -1))
    except NotClosed as problem:
        raise SolveFailed("cut-not-closed", name=name) from problem


def embed(nodes: Floats, tets: Indices, vertices: Floats, triangles: Indices, name: str) -> Embedded:
    """Finds where a closed surface lies in tets.

    Raises:
        BadInput: "cut-open" where the surface is not closed, "cut-uncovered" where it leaves the tets, "cut-tets"
            where they overlap.
    """
    defects = why_not_closed(triangles)
    if defects is not None:
        raise BadInput("cut-open", name=name, edges=sum(defects))
    edges = surface_edges(triangles)
    # loose vertices may lie anywhere, even so far away that the rest would have no digits left
    used = np.bincount(triangles.ravel(), minlength=len(vertices)) > 0
    vertices = np.where(used[:, None], vertices, vertices[triangles[0, 0]])
    for seed in range(ATTEMPTS):
        points = in_general_position(nodes, tets, vertices, seed)
        try:
            whole = make_complex(points.positions[: len(nodes)], tets)
            vertex_tet = find_vertex_tets(points, whole)
            lost = (vertex_tet[triangles] < 0).any(axis=1)
            if lost.any():
                raise NotCovered(np.flatnonzero(lost))
            crossings = find_crossings(points, whole, triangles, edges, vertex_tet)
        except NotGeneral:
            continue
        except Overlapping as problem:
            raise BadInput("cut-tets", name=name) from problem
        except NotCovered as problem:
            raise BadInput("cut-uncovered", name=name, count=len(problem.triangles)) from problem
        return Embedded(points, whole, edges, vertex_tet, crossings)
    raise AssertionError("no general position found")


def check_covered(nodes: Floats, tets: Indices, vertices: Floats, triangles: Indices, name: str) -> None:
    """Checks, before a bake, what `cut` needs after it.

    Raises:
        BadInput: "cut-open" where the surface is not closed, "cut-uncovered" where it leaves the tets, "cut-tets"
            where they overlap.
    """
    arrays = floats(nodes, -1, 3), indices(tets, -1, 4), floats(vertices, -1, 3), indices(triangles, -1, 3)
    embed(*arrays, name)


def _cut_along(
    embedded: Embedded,
    is_parted: Bools,
    nodes: Floats,
    vertices: Floats,
    triangles: Indices,
    face_of_triangle: Indices,
) -> CutSurface:
    """Puts together what stays whole, what is cut and what closes the cracks."""
    points, whole, edges, vertex_tet, crossings = embedded
    is_cut = np.zeros(len(triangles), np.bool_)
    is_cut[crossings.triangle[is_parted[crossings.face]]] = True
    fragments = make_fragments(crossings, whole, triangles, edges, vertex_tet, is_cut, is_parted, face_of_triangle)
    uncut = make_whole_faces(triangles, edges, vertex_tet, is_cut, face_of_triangle, fragments)
    windings = node_windings(points, whole, triangles, crossings)
    wanted = np.unique(whole.face_edges[is_parted])
    intervals = make_intervals(whole, crossings, windings, wanted)
    places = point_places(nodes, vertices, triangles, edges, crossings, intervals)
    loops = make_loops(whole, crossings, intervals, is_parted)
    broken, same = make_broken_faces(nodes, whole, loops, places)
    polygons = joined([uncut, fragments, broken])
    polygons.side[:] = _renamed(polygons.side, same)
    pieces = tet_pieces(whole, crossings, windings, is_parted)
    return assemble(polygons, places, nodes, whole.tets, pieces, triangles, edges, crossings)


def _renamed(names: npt.NDArray, same: npt.NDArray) -> npt.NDArray:
    """Returns names with the second of each pair replaced by the first."""
    if not len(same):
        return names
    order = np.argsort(same[:, 1])
    place = np.minimum(np.searchsorted(same[order, 1], names), len(same) - 1)
    return np.where(same[order, 1][place] == names, same[order, 0][place], names)
