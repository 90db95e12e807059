# SPDX-License-Identifier: GPL-3.0-or-later
"""Finds the faces between tets that lie along the crack guides of a body.

- Closed surfaces, such as the pieces of Cell Fracture, divide the body into cells: a tet belongs to the one that its
  middle is in, or to the nearest one within half a tet, so that gaps between pieces do not count. Faces between cells
  are guided. What is in no cell is one, too; what sticks out of the body belongs to the nearest cell.
- Open surfaces guide the faces whose two tets have their middles on both sides.
- A curve stands for the open surface that it sweeps below the nearest surface of the body, along its normal, to the
  other side of the wall there; where it leaves the body sideways it sweeps as it does at the nearest point above it.

Tets that never part from each other are where the one of them with most material is.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from ...mesh.geometry.closedness import has_inside
from ...mesh.geometry.closest_point import closest_points
from ...mesh.geometry.connected_components import connected_components
from ...mesh.geometry.segment_surface_crossings import segments_crossing
from ...mesh.geometry.surface_exit_points import exit_points
from ...mesh.geometry.triangle_bvh import Bvh, build_bvh
from ...mesh.geometry.triangle_surface import Surface
from ...mesh.geometry.welding import number_rows
from ...mesh.geometry.winding_number import winding_numbers
from ...mesh.node_splitting.face_adjacency import FACE_CORNERS
from ...mesh.node_splitting.guided_faces import GuidedFaces
from ...mesh.tet_mesh import TetMesh
from ...runtime.arrays import Bools, Floats, Indices, floats, indices
from ...runtime.errors import BadInput
from ...scene.crack_guide import CrackGuide
from ...scene.scene import Body

NO_CELL = -1
CELL_REACH = 0.5  # how far beyond its surface a cell takes tets that are in none, in sizes of tets
CURVE_STEP = 0.5  # longest part of a curve that is straight, in sizes of tets
CURVE_REACH = 1.0  # how far the surface below a curve sticks out of the body, in sizes of tets
MIN_ABOVE_COSINE = 0.9  # between a normal of the body's surface and the way to a point above it
SKIN_DEPTH = 0.05  # nearer to the body's surface, a face of a guide is its outside, in sizes of tets
INSIDE_WINDING = 0.5
START_DEPTH = 1.0e-6  # where rays through a wall begin, in sizes of the body's box


def find_guided_faces(body: Body, mesh: TetMesh, surface: Surface, across: Indices, is_bonded: Bools) -> GuidedFaces:
    """Returns the faces of a body's tets that its guides make weaker.

    Args:
        body: With `Fracture.guides`.
        mesh: Its tets.
        surface: Its surface.
        across: The tet across each face of its tets, −1 where there is none, (m, 4).
        is_bonded: Across which faces they never part, (m, 4).

    Raises:
        BadInput: No guide runs through the body.
    """
    assert body.fracture is not None
    guides, size = body.fracture.guides, mesh.report.tet_size
    found = _surfaces_of_guides(guides, surface, size)
    middles = floats(mesh.nodes[mesh.tets].mean(axis=1)[_fullest_of_bonded(mesh, across, is_bonded)])
    is_guided = np.zeros(across.shape, bool)
    tet, face = np.nonzero(across >= 0)
    if found.cells:
        is_inside = winding_numbers(build_bvh(surface.vertices, surface.triangles), middles) > INSIDE_WINDING
        cell = _cells_of_tets(found.cells, middles, np.where(is_inside, CELL_REACH * size, np.inf))
        is_guided[tet, face] |= cell[tet] != cell[across[tet, face]]
    if found.sheets:
        crossing = segments_crossing(_joined(found.sheets), middles[tet], middles[across[tet, face]])
        # from both sides alike, whatever rounding says
        is_guided[tet, face] |= crossing
        is_guided[across[tet, face], _opposite_faces(across, tet, face)] |= crossing
    if not is_guided.any():
        names = ", ".join(f'"{guide.name}"' for guide in guides)
        raise BadInput("crack-guides-elsewhere", name=body.name, guides=names)
    normal, offset = _planes(found, surface, mesh, is_guided)
    share = np.where(is_guided.any(axis=1), body.fracture.guide_strength, 1.0)
    return GuidedFaces(is_guided, normal, offset, floats(share))


def _fullest_of_bonded(mesh: TetMesh, across: Indices, is_bonded: Bools) -> Indices:
    """Returns for each tet the one with most material of those that it never parts from, (m,)."""
    tet, face = np.nonzero(is_bonded & (across >= 0))
    group = connected_components(tet, across[tet, face], len(across))
    corners = mesh.nodes[mesh.tets]
    material = mesh.fill * np.linalg.det(corners[:, 1:] - corners[:, :1])
    order = np.lexsort((material, group))
    last = np.append(np.flatnonzero(np.diff(group[order])), len(order) - 1)
    return indices(order[last][group])


def _opposite_faces(across: Indices, tet: Indices, face: Indices) -> Indices:
    """Returns which face of the tet on the other side each face is."""
    other = across[tet, face]
    return indices((across[other] == tet[:, None]).argmax(axis=1))


@dataclass(frozen=True)
class _GuideSurfaces:
    """Surfaces of guides.

    Attributes:
        cells: Closed ones.
        sheets: Open ones, those below curves included.
    """

    cells: list[Surface]
    sheets: list[Surface]


def _surfaces_of_guides(guides: Sequence[CrackGuide], surface: Surface, size: float) -> _GuideSurfaces:
    cells: list[Surface] = []
    sheets: list[Surface] = []
    for guide in guides:
        if len(guide.triangles):
            for part in _connected_parts(guide):
                (cells if has_inside(part.vertices, part.triangles) else sheets).append(part)
        if len(guide.edges):
            sheets.append(_surface_below_curve(guide, surface, size))
    return _GuideSurfaces(cells, sheets)


def _connected_parts(guide: CrackGuide) -> list[Surface]:
    """Returns the parts of a mesh that hang together, where vertices at the same place count as one."""
    place = number_rows(guide.vertices)[guide.triangles]
    label = connected_components(place[:, [0, 1]].ravel(), place[:, [1, 2]].ravel(), int(place.max()) + 1)
    part = label[place[:, 0]]
    return [Surface(guide.vertices, indices(guide.triangles[part == each], -1, 3)) for each in np.unique(part)]


def _joined(surfaces: Sequence[Surface]) -> Bvh:
    corners = np.concatenate([each.corners for each in surfaces])
    return build_bvh(corners.reshape(-1, 3), np.arange(3 * len(corners), dtype=np.int32).reshape(-1, 3))


def _cells_of_tets(cells: Sequence[Surface], middles: Floats, reach: Floats) -> Indices:
    """Returns the cell that each tet belongs to, (m,), `NO_CELL` where it is in none, and none is within reach [m]."""
    cell = np.full(len(middles), NO_CELL, np.int32)
    for number, each in enumerate(cells):
        corners = each.corners.reshape(-1, 3)
        lower, upper = corners.min(axis=0), corners.max(axis=0)
        rows = np.flatnonzero((cell == NO_CELL) & ((middles >= lower) & (middles <= upper)).all(axis=1))
        if len(rows):
            winding = np.abs(winding_numbers(build_bvh(each.vertices, each.triangles), middles[rows]))
            cell[rows[winding > INSIDE_WINDING]] = number
    rows = np.flatnonzero(cell == NO_CELL)
    cell_of_triangle = np.repeat(np.arange(len(cells), dtype=np.int32), [len(each.triangles) for each in cells])
    near = closest_points(_joined(cells), middles[rows])
    is_near = near.distance <= reach[rows]
    cell[rows[is_near]] = cell_of_triangle[near.triangle[is_near]]
    return cell


def _surface_below_curve(guide: CrackGuide, surface: Surface, size: float) -> Surface:
    """Returns what a curve sweeps through the wall below it."""
    begin, end = guide.vertices[guide.edges[:, 0]], guide.vertices[guide.edges[:, 1]]
    steps = np.maximum(np.ceil(np.linalg.norm(end - begin, axis=1) / (CURVE_STEP * size)), 1).astype(np.int64)
    edge = np.repeat(np.arange(len(steps), dtype=np.int64), steps)
    step = np.arange(len(edge), dtype=np.int64) - np.repeat(np.cumsum(steps, dtype=np.int64) - steps, steps)
    ends = [(step + more) / steps[edge] for more in (0, 1)]
    points = [begin[edge] + at[:, None] * (end - begin)[edge] for at in ends]
    rims = [_wall_at(surface, floats(each), size) for each in points]
    (a, b), (c, d) = rims
    count = len(edge)
    first = np.arange(count, dtype=np.int32)
    upper = np.stack([first, first + count, first + 2 * count], 1)
    lower = np.stack([first + 2 * count, first + count, first + 3 * count], 1)
    return Surface(floats(np.concatenate([a, b, c, d])), indices(np.concatenate([upper, lower]), -1, 3))


def _wall_at(surface: Surface, places: Floats, size: float) -> tuple[Floats, Floats]:
    """Returns points above the wall nearest to some places [m], (k, 3), and below its other side."""
    bvh = build_bvh(surface.vertices, surface.triangles)
    near = closest_points(bvh, places)
    corners = surface.corners[near.triangle]
    at = np.einsum("ka,kai->ki", near.weights, corners)
    normal = _unit_normals(corners)
    lower, upper = surface.bounds
    length = float(np.linalg.norm(upper - lower))
    start = floats(at - START_DEPTH * length * normal)
    winding = winding_numbers(bvh, start)
    is_inside = winding > INSIDE_WINDING
    depth = np.zeros(len(places))
    far = floats(start - length * normal)
    depth[is_inside] = length * exit_points(bvh, start[is_inside], far[is_inside], winding[is_inside])[0]
    beside = places - at
    gap = np.linalg.norm(beside, axis=1)
    is_above = np.abs(np.einsum("ki,ki->k", beside, normal)) >= MIN_ABOVE_COSINE * gap
    is_above |= gap < SKIN_DEPTH * size
    if is_above.any():
        from scipy.spatial import cKDTree  # few bodies have guides

        above = np.flatnonzero(is_above)
        like = above[cKDTree(places[above]).query(places)[1]]
        normal, depth = normal[like], depth[like]
        at = places - np.einsum("ki,ki->k", places - at[like], normal)[:, None] * normal
    reach = CURVE_REACH * size
    return floats(at + reach * normal), floats(at - (depth + 0.5 * reach)[:, None] * normal)


def _planes(found: _GuideSurfaces, surface: Surface, mesh: TetMesh, is_guided: Bools) -> tuple[Floats, Floats]:
    """Returns normals and offsets of guides at the faces beside them, (m, 4, 3) and (m, 4)."""
    corners = np.concatenate([each.corners for each in (*found.cells, *found.sheets)])
    skin = SKIN_DEPTH * mesh.report.tet_size
    is_skin = closest_points(build_bvh(surface.vertices, surface.triangles), corners.mean(axis=1), skin).triangle >= 0
    inner = corners if is_skin.all() else corners[~is_skin]
    tet, face = np.nonzero(is_guided)
    nodes = np.take_along_axis(mesh.tets[tet], FACE_CORNERS[face].astype(np.int32), axis=1)
    places = floats(mesh.nodes[nodes].mean(axis=1))
    bvh = build_bvh(inner.reshape(-1, 3), np.arange(3 * len(inner), dtype=np.int32).reshape(-1, 3))
    near = closest_points(bvh, places)
    own = inner[near.triangle]
    normal, offset = np.zeros((*is_guided.shape, 3)), np.zeros(is_guided.shape)
    normal[tet, face] = _unit_normals(own)
    at = np.einsum("ka,kai->ki", near.weights, own)
    offset[tet, face] = np.einsum("ki,ki->k", normal[tet, face], at)
    return normal, offset


def _unit_normals(corners: Floats) -> Floats:
    """Returns the unit normals of triangles [m], (k, 3, 3), as (k, 3)."""
    normal = np.cross(corners[:, 1] - corners[:, 0], corners[:, 2] - corners[:, 0])
    return floats(normal / np.maximum(np.linalg.norm(normal, axis=1, keepdims=True), 1e-300))
