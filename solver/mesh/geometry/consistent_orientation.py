# SPDX-License-Identifier: GPL-3.0-or-later
"""Turns neighbouring faces the same way round."""

from __future__ import annotations

import numpy as np

from ...runtime.arrays import Bools, Floats, Indices
from .connected_components import connected_components
from .face_edges import Edges, adjacent_sides, face_edges


def consistent_faces(faces: Indices, areas: Floats) -> tuple[Indices, Indices]:
    """Turns faces so that neighbours agree, changing as little area as possible.

    A piece (faces connected through edges) whose sides cancel is closed as it came, and stays; so do pieces that
    touch themselves along an edge. In any other piece, faces that meet two at an edge are made to agree.

    Args:
        faces: Welded faces, (t, 3).
        areas: Their areas [m²], (t,).

    Returns:
        The faces, (t, 3), and the shell that each belongs to, (t,): a piece that is closed, or else the faces of a
        piece that are connected through edges with two faces.
    """
    edges = face_edges(faces)
    piece = _components(edges, np.ones(edges.count, np.bool_), len(faces))
    is_open = _open_components(edges, piece)[piece]
    turned = faces.copy()
    if is_open.any():
        turn = _faces_to_flip(edges, areas) & is_open
        turned[turn] = turned[turn][:, ::-1]
        edges = face_edges(turned)
        is_open = _open_components(edges, piece)[piece]
    patch = _components(edges, edges.faces_at == 2, len(faces))
    _, shell = np.unique(np.where(is_open, patch + piece.max(initial=0) + 1, piece), return_inverse=True)
    return turned, shell.ravel()


def _components(edges: Edges, is_chosen: Bools, face_count: int) -> Indices:
    """Returns the connected piece of each face, through chosen edges, (t,)."""
    a, b = adjacent_sides(edges, is_chosen)
    return connected_components(a // 3, b // 3, face_count)


def _open_components(edges: Edges, piece: Indices) -> Bools:
    """Returns which pieces have an edge whose sides do not cancel, (pieces,)."""
    is_open = np.zeros(piece.max(initial=-1) + 1, np.bool_)
    is_open[piece[np.flatnonzero(edges.balance[edges.edge]) // 3]] = True
    return is_open


def _faces_to_flip(edges: Edges, areas: Floats) -> Bools:
    """Returns which faces to turn so that those that meet two at an edge agree, the smaller area of each patch, (t,).

    Each face stands twice in a graph, as it is and turned; neighbours are linked in the states that agree. A patch
    then falls into two halves that mirror each other, or, if it has one side only, into one: that is left alone.
    """
    count = len(areas)
    a, b = adjacent_sides(edges, edges.faces_at == 2)
    differs = edges.direction[a] == edges.direction[b]
    f, g = a // 3, b // 3
    state = connected_components(
        np.concatenate([f, f + count]),
        np.concatenate([np.where(differs, g + count, g), np.where(differs, g, g + count)]),
        2 * count,
    )
    kept, turned = state[:count], state[count:]
    area = np.bincount(kept, areas, minlength=state.max() + 1)
    # ties go to the half that holds the patch's first face as it is, the half numbered first
    return (area[turned] > area[kept]) | ((area[turned] == area[kept]) & (turned < kept))
