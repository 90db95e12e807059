# SPDX-License-Identifier: GPL-3.0-or-later
"""What holds of every cut surface, checked from its arrays alone; and ways to break tets apart."""

from __future__ import annotations

import numpy as np


def shattered(nodes, tets, count, seed, is_split=None):
    """Nodes of tets that belong to the cells of random points; only split nodes have a copy in every cell."""
    centres = nodes[tets].mean(axis=1)
    sites = centres[np.random.default_rng(seed).choice(len(tets), count, replace=False)]
    cell = ((centres[:, None] - sites) ** 2).sum(axis=2).argmin(axis=1)
    copies = np.broadcast_to(cell[:, None], tets.shape)
    if is_split is not None:
        copies = np.where(is_split[tets], copies, 0)
    return np.unique(copies * len(nodes) + tets, return_inverse=True)[1].reshape(-1, 4).astype(np.int32)


def sides(cut):
    """Vertices at the beginning and end of every side."""
    return cut.corners, cut.corners[cut.next_corner]


def broken_rules(cut, nodes, tets, parted, vertices, triangles, face_of_triangle):
    """Names of the rules that a cut surface breaks; empty where it is right. Positions are right to 1e-12."""
    wrong = []
    rule = lambda name, holds: None if holds else wrong.append(name)  # noqa: E731
    size = float(np.ptp(vertices, axis=0).max())
    a, b = sides(cut)
    forward, back = (np.sort(x * len(cut.rest) + y) for x, y in ((a.astype(int), b), (b.astype(int), a)))
    rule("every edge has two faces, which run along it opposite ways", (forward == back).all())
    rule("no edge twice", (forward[1:] != forward[:-1]).all())
    rule("no face has a vertex twice", no_repeats(cut))
    rule("one fan round each vertex", fans(cut) == len(cut.rest))
    rule("a vertex in one piece", (spread(cut.corners, cut.piece[cut.face_of_corner]) == 0).all())
    bound = np.einsum("kj,kji->ki", cut.weights, nodes[tets[cut.tet]])
    rule("vertices are in place", np.abs(bound - cut.rest).max(initial=0) <= 1e-12 * size)
    rule("weights sum to one", np.abs(cut.weights.sum(axis=1) - 1).max(initial=0) <= 1e-12)
    is_source = cut.source_vertex >= 0
    rule("vertices stay", (cut.rest[is_source] == vertices[cut.source_vertex[is_source]]).all())
    on = cut.corner_triangle >= 0
    rule("corners know their triangle", (on == (cut.source_face >= 0)[cut.face_of_corner]).all())
    from_triangle = np.einsum("ck,cki->ci", cut.corner_weights[on], vertices[triangles[cut.corner_triangle[on]]])
    rule("corners lie on it", np.abs(from_triangle - cut.rest[cut.corners[on]]).max(initial=0) <= 1e-12 * size)
    of_corner = face_of_triangle[cut.corner_triangle[on]]
    rule("of the face they are of", (of_corner == cut.source_face[cut.face_of_corner][on]).all())
    rule("weights on triangles", cut.corner_weights.min(initial=0) >= -1e-12)
    wrong += broken_pairs(cut, size)
    wrong += wrong_areas(cut, vertices, triangles, face_of_triangle)
    wrong += loose_motion(cut, nodes, tets, parted, size)
    return wrong


def no_repeats(cut):
    key = cut.face_of_corner.astype(np.int64) * len(cut.rest) + cut.corners
    return len(np.unique(key)) == len(key)


def fans(cut):
    """Number of fans of faces round vertices: corners that follow each other round a vertex are one."""
    before = np.argsort(cut.next_corner)
    a, b = sides(cut)
    key, twin = a.astype(np.int64) * len(cut.rest) + b, b.astype(np.int64) * len(cut.rest) + a
    order = np.argsort(key)
    # the corner after which the same edge is left the other way starts the next face of the fan
    turn = order[np.searchsorted(key[order], twin[before])]
    seen, count = np.zeros(len(turn), bool), 0
    for start in range(len(turn)):
        if not seen[start]:
            count += 1
            while not seen[start]:
                seen[start] = True
                start = turn[start]
    return count


def spread(group, value):
    """Greatest minus least value in each group."""
    least, most = np.full(group.max() + 1, np.iinfo(int).max), np.full(group.max() + 1, -1)
    np.minimum.at(least, group, value)
    np.maximum.at(most, group, value)
    return np.where(most >= 0, most - least, 0)


def area_vectors(cut):
    """Area times outward normal of every face."""
    start = cut.rest[cut.corners[cut.face_start[:-1]]][cut.face_of_corner]
    a, b = (cut.rest[x] - start for x in sides(cut))
    out = np.zeros((cut.face_count, 3))
    np.add.at(out, cut.face_of_corner, np.cross(a, b) / 2)
    return out


def piece_volumes(cut):
    """Signed volume of every piece."""
    middle = cut.rest.mean(axis=0)
    start = cut.rest[cut.corners[cut.face_start[:-1]]][cut.face_of_corner] - middle
    a, b = (cut.rest[x] - middle for x in sides(cut))
    six = np.einsum("ci,ci->c", start, np.cross(a, b))
    return np.bincount(cut.piece[cut.face_of_corner], six / 6, minlength=cut.piece_count)


def broken_pairs(cut, size):
    broken = np.flatnonzero(cut.is_broken)
    other = cut.partner[broken]
    if (cut.partner[~cut.is_broken] != -1).any() or (other < 0).any():
        return ["only broken faces have partners"]
    wrong = [] if (cut.partner[other] == broken).all() and (other != broken).all() else ["partners are mutual"]
    areas = area_vectors(cut)
    if np.abs(areas[broken] + areas[other]).max(initial=0) > 1e-12 * size**2:
        wrong.append("partners have opposite areas")
    return wrong


def wrong_areas(cut, vertices, triangles, face_of_triangle):
    """Faces of the mesh whose parts have another area vector than they; parts of a triangle do not overlap."""
    corner = vertices[triangles]
    whole = np.cross(corner[:, 1] - corner[:, 0], corner[:, 2] - corner[:, 0]) / 2
    wanted = np.zeros((face_of_triangle.max() + 1, 3))
    np.add.at(wanted, face_of_triangle, whole)
    found, lengths = np.zeros_like(wanted), np.zeros(len(wanted))
    own = ~cut.is_broken
    areas = area_vectors(cut)[own]
    np.add.at(found, cut.source_face[own], areas)
    np.add.at(lengths, cut.source_face[own], np.linalg.norm(areas, axis=1))
    scale = np.ptp(vertices, axis=0).max() ** 2
    wrong = [] if np.abs(found - wanted).max() <= 1e-12 * scale else ["parts of a face have its area"]
    flat = np.bincount(face_of_triangle) == 1
    if np.abs(lengths - np.linalg.norm(wanted, axis=1))[flat].max(initial=0) > 1e-9 * scale:
        wrong.append("no part of a triangle lies on another")
    return wrong


def loose_motion(cut, nodes, tets, parted, size):
    """Nodes move at random: a face in one tet moves with that tet, all others are whole faces or triangles."""
    origin = np.zeros(parted.max() + 1, int)
    origin[parted] = tets
    moved = nodes[origin] + np.random.default_rng(0).normal(0.0, size, (len(origin), 3))
    places = np.einsum("kj,kji->ki", cut.weights, moved[parted[cut.tet]])
    tet = cut.face_tet[cut.face_of_corner]
    corner = nodes[tets[tet]]
    rows = np.linalg.inv(np.swapaxes(corner[:, 1:] - corner[:, :1], 1, 2))
    rows = np.concatenate([-rows.sum(axis=1, keepdims=True), rows], axis=1)  # gradients of the weights
    weights = np.einsum("ckj,cj->ck", rows, cut.rest[cut.corners] - corner[:, 0]) + [1.0, 0.0, 0.0, 0.0]
    depth = (weights / np.linalg.norm(rows, axis=2)).min(axis=1)
    is_inside = np.ones(cut.face_count, bool)
    np.logical_and.at(is_inside, cut.face_of_corner, depth > -1e-9 * np.ptp(nodes, axis=0).max())
    wrong = []
    if not is_inside[cut.is_broken].all():
        wrong.append("a broken face lies in its tet")
    is_part = is_inside[cut.face_of_corner]
    own = np.einsum("kj,kji->ki", weights, moved[parted[tet]])
    # a flat tet turns a distance from it into a motion the larger the flatter it is
    tied = nodes[tets[cut.tet[cut.corners]]]
    steepness = sum(size * np.linalg.norm(np.linalg.inv(e[:, 1:] - e[:, :1]), axis=(1, 2)) for e in (corner, tied))
    if (np.abs(own - places[cut.corners]).max(axis=1) / steepness)[is_part].max(initial=0) > 1e-8 * size:
        wrong.append("a face moves with its tet")
    return wrong


def whole_faces(cut, triangles, face_of_triangle):
    """Which faces of a cut surface are all of a face of the mesh: as many corners on vertices as that has."""
    has = np.zeros(face_of_triangle.max() + 1, int)
    key = np.unique(np.repeat(face_of_triangle, 3) * (triangles.max() + 1) + triangles.ravel())
    np.add.at(has, key // (triangles.max() + 1), 1)
    found = np.zeros(cut.face_count, int)
    np.add.at(found, cut.face_of_corner, (cut.source_vertex >= 0)[cut.corners])
    return ~cut.is_broken & (found == has[np.maximum(cut.source_face, 0)])
