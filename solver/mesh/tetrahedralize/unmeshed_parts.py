# SPDX-License-Identifier: GPL-3.0-or-later
"""Parts of a surface that got no tet: whole pieces, and what is too thin, such as ears or blades.

A piece is lost where no tet touches it. A face is lost where a point of it lies farther than `FAR_DISTANCE` from all
tets; connected lost faces are one part, told if it reaches `VERY_FAR_DISTANCE` somewhere (of a cube, corners up to 0.6
are cut off).
"""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from ...runtime.arrays import Bools, Floats, Indices
from ..geometry.connected_components import connected_components
from ..geometry.face_edges import adjacent_sides, face_edges
from ..geometry.orient_outward import OrientedSurface
from ..geometry.segment_surface_crossings import find_crossings
from ..geometry.triangle_bvh import Bvh
from ..geometry.triangle_surface import Surface
from ..geometry.welding import weld
from ..tet_mesh import UnmeshedPart
from .surface_samples import SurfaceSamples

TOUCH_DISTANCE = 0.02  # of the tet size
FAR_DISTANCE = 0.35
VERY_FAR_DISTANCE = 0.8
MAX_RAYS = 256  # per part
RAY_LENGTH = 4.0  # how deep a part is looked into, in tet sizes
THIN_SHARE = 0.3  # this share of a part may be thinner than what its size is chosen for: tips always are
# The lattice has a point within 0.56 a of any place, so a rod 1.2 a thick always holds some; its edges take more.
MIN_TETS_ACROSS = 1.5
MAX_NAMED_PARTS = 10
MAX_NEEDED_SIZE_SHARE = 0.75  # of the tet size: what was lost at one size needs a smaller one


def find_unmeshed_parts(
    samples: SurfaceSamples, outward: OrientedSurface, bvh: Bvh, tet_size: float, middle: Floats, scale: float
) -> tuple[UnmeshedPart, ...]:
    """Returns the parts of a surface of size one that got no tet, in the units of the scene.

    Args:
        samples: Points of the surface with their tets.
        outward: The surface.
        bvh: Its tree.
        tet_size: Of the lattice, in the surface's unit.
        middle, scale: Where the surface's origin is in the scene [m], (3,), and how large its unit [m].
    """
    surface = outward.surface
    distance = samples.distance / tet_size
    farthest = np.zeros(len(surface.triangles))
    np.maximum.at(farthest, samples.face, distance)
    nearest = np.full(outward.shell.max() + 1, np.inf)
    np.minimum.at(nearest, outward.shell[samples.face], distance)
    is_lost_piece = nearest > TOUCH_DISTANCE
    part = _unmeshed_part_of_face(surface, farthest > FAR_DISTANCE, is_lost_piece, outward.shell)
    found: list[UnmeshedPart] = []
    areas = np.bincount(part + 1, _areas(surface), minlength=1)[1:]
    for number in np.argsort(-areas, kind="stable"):  # the largest first
        faces = np.flatnonzero(part == number)
        is_piece = bool(is_lost_piece[outward.shell[faces[0]]])
        if not is_piece and farthest[faces].max() < VERY_FAR_DISTANCE:
            continue
        place = middle + scale * surface.corners[faces].mean(axis=(0, 1))
        name = f"{'Piece' if is_piece else 'Part'} {len(found) + 1} ({len(faces):,} faces)"
        thickness = _thickness(surface, samples, faces, bvh, RAY_LENGTH * tet_size)
        needed = min(thickness / MIN_TETS_ACROSS, MAX_NEEDED_SIZE_SHARE * tet_size) if thickness < np.inf else 0.0
        share = float(areas[number] / surface.area)
        found.append(UnmeshedPart(name, float(needed * scale), place=tuple(place.tolist()), area_share=share))
    return _limit_parts(found)


def _limit_parts(parts: list[UnmeshedPart]) -> tuple[UnmeshedPart, ...]:
    """Returns so many parts that a person reads them; the last ones stand for all that follow, flat ones apart."""
    if len(parts) <= MAX_NAMED_PARTS:
        return tuple(parts)
    rest = parts[MAX_NAMED_PARTS - 1 :]
    thin = [part for part in rest if part.tet_size_needed > 0.0]
    flat = [part for part in rest if not part.tet_size_needed > 0.0]
    return (*parts[: MAX_NAMED_PARTS - 1], *(_joined(group) for group in (thin, flat) if group))


def _joined(parts: list[UnmeshedPart]) -> UnmeshedPart:
    """Returns one that stands for several."""
    needed, share = min(part.tet_size_needed for part in parts), sum(part.area_share for part in parts)
    return UnmeshedPart(f"{len(parts)} smaller parts", needed, len(parts), area_share=share)


def _unmeshed_part_of_face(
    surface: Surface, is_far: Bools, is_lost_piece: Bools, shell: Indices
) -> npt.NDArray[np.int64]:
    """Returns the lost part that each face belongs to, -1 for faces that are not lost, (t,).

    A lost piece is one part; other lost faces are grouped with those that they share an edge with.
    """
    count = len(is_far)
    of_piece = is_lost_piece[shell]
    lost = is_far | of_piece
    part = np.full(count, -1, np.int64)
    if not lost.any():
        return part
    edges = face_edges(weld(surface))
    a, b = (side // 3 for side in adjacent_sides(edges, np.ones(edges.count, np.bool_)))
    linked = lost[a] & lost[b] & (of_piece[a] == of_piece[b])
    members = np.flatnonzero(of_piece)
    first = np.zeros(len(is_lost_piece), np.int64)
    first[shell[members]] = members
    a, b = np.concatenate([a[linked], members]), np.concatenate([b[linked], first[shell[members]]])
    _, part[lost] = np.unique(connected_components(a, b, count)[lost], return_inverse=True)
    return part


def _areas(surface: Surface) -> Floats:
    corners = surface.corners
    return 0.5 * np.linalg.norm(np.cross(corners[:, 1] - corners[:, 0], corners[:, 2] - corners[:, 0]), axis=1)


def _thickness(surface: Surface, samples: SurfaceSamples, faces: Indices, bvh: Bvh, depth: float) -> float:
    """Returns how thick a part is [m]: how far rays from its faces inward run to the other side, inf where none ends.

    Of all rays, the share `THIN_SHARE` may be shorter.
    """
    chosen = np.flatnonzero(np.isin(samples.face, faces))
    chosen = chosen[np.unique(np.linspace(0, len(chosen) - 1, MAX_RAYS).astype(np.int64))]
    corners = surface.corners[samples.face[chosen]]
    normals = np.cross(corners[:, 1] - corners[:, 0], corners[:, 2] - corners[:, 0])
    inward = -depth * normals / np.linalg.norm(normals, axis=1, keepdims=True)
    at, lean = np.empty(64), np.empty(64)
    lengths = []
    for point, direction in zip(samples.points[chosen] + 1e-6 * inward, inward, strict=True):
        count = find_crossings(bvh.boxes, bvh.tree, bvh.corners, *point, *direction, at, lean)
        beyond = at[: min(count, len(at))]
        beyond = beyond[beyond > 0.0]
        if len(beyond):
            lengths.append(depth * float(beyond[0]))
    return float(np.quantile(lengths, THIN_SHARE)) if lengths else np.inf
