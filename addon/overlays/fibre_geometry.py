# SPDX-License-Identifier: GPL-3.0-or-later
"""Geometry of the fibre overlay: a line per tet that deforms with it, its colour, and the ends. Knows no Blender."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from ...solver.mesh.boundary_faces import boundary_faces
from ...solver.runtime.arrays import Floats, Indices

LINE_LENGTH = 0.9  # of a fibre at rest, over the edge of a cube as large as its tet times five
TETS_PER_CUBE = 5.0
MAX_LINES = 40_000  # of a muscle; of more tets, evenly chosen ones get one
TENDON_COLOUR = np.array([0.98, 0.95, 0.80])
RELAXED_COLOUR, ACTIVE_COLOUR = np.array([0.55, 0.30, 0.30]), np.array([1.0, 0.10, 0.05])
SHORT_COLOUR, REST_COLOUR, LONG_COLOUR = (
    np.array([0.15, 0.35, 1.0]),
    np.array([0.75, 0.75, 0.75]),
    np.array([1.0, 0.55, 0.05]),
)
TENDON_SHARE = 0.5  # of a tet, above which it is shown as tendon
STRETCH_RANGE = 0.4  # of a stretch from 1, at which the colour no longer changes
ORIGIN_COLOUR, INSERTION_COLOUR = (0.20, 0.80, 0.35), (0.85, 0.35, 0.90)


@dataclass(frozen=True, eq=False)
class FibreGeometry:
    """The fibres of one body that have a line.

    Attributes:
        rest: Nodes of the body at rest [m], world, (n, 3).
        tets: (k, 4), by nodes of the body.
        slopes: Of the four shape functions along the fibre [1/m], (k, 4): F f = Σ slopes_a x_a.
        length: Of the line at rest [m], (k,).
        tendon: Share of tendon, (k,).
        unit: Contractile unit, (k,).
        origin, insertion: Faces of the outside at the ends, (…, 3), by nodes of the body.
        tendon_surface: Faces around what is tendon for the most part, but for those at the ends, (…, 3).
    """

    rest: Floats
    tets: Indices
    slopes: Floats
    length: Floats
    tendon: Floats
    unit: Indices
    origin: Indices
    insertion: Indices
    tendon_surface: Indices


def fibre_geometry(arrays: Mapping[str, npt.NDArray]) -> FibreGeometry | None:
    """Returns the fibres that a model of a cache or a preview has, or None where it has none."""
    if "fibre_direction" not in arrays:
        return None
    nodes, tets = np.asarray(arrays["nodes"], np.float64), np.asarray(arrays["tets"], np.int32)
    chosen = np.linspace(0, len(tets) - 1, min(len(tets), MAX_LINES)).astype(np.int64)
    own = tets[chosen]
    edges = nodes[own[:, 1:]] - nodes[own[:, :1]]  # rows: Dmᵀ
    along = np.linalg.solve(
        np.swapaxes(edges, 1, 2), np.asarray(arrays["fibre_direction"], np.float64)[chosen, :, None]
    )
    slopes = np.concatenate([-along.sum(axis=1), along[:, :, 0]], axis=1)
    volume = np.abs(np.linalg.det(edges)) / 6.0
    faces = boundary_faces(tets)
    ends = [faces[np.asarray(arrays[name], np.bool_)[faces].all(axis=1)] for name in ("is_origin", "is_insertion")]
    tendon = np.asarray(arrays["fibre_tendon"], np.float64)
    return FibreGeometry(
        nodes,
        own,
        slopes,
        LINE_LENGTH * np.cbrt(TETS_PER_CUBE * volume),
        tendon[chosen],
        np.asarray(arrays["fibre_unit"], np.int32)[chosen],
        ends[0],
        ends[1],
        _faces_beside(boundary_faces(tets[tendon > TENDON_SHARE]), np.concatenate(ends)),
    )


def _faces_beside(faces: Indices, others: Indices) -> Indices:
    """Returns the faces, (k, 3), that are not among others, (l, 3)."""
    count = int(max(faces.max(initial=0), others.max(initial=0))) + 1
    own, known = (np.sort(each, axis=1).astype(np.int64) @ [count * count, count, 1] for each in (faces, others))
    return faces[~np.isin(own, known)]


def fibre_lines(geometry: FibreGeometry, x: Floats) -> tuple[Floats, Floats]:
    """Returns the ends of the lines [m], (2 k, 3), and the stretch of each fibre, (k,), with nodes at x [m], (n, 3)."""
    corners = np.asarray(x, np.float64)[geometry.tets]
    middle, along = corners.mean(axis=1), np.einsum("ka,kai->ki", geometry.slopes, corners)
    half = 0.5 * geometry.length[:, None] * along
    return np.stack([middle - half, middle + half], axis=1).reshape(-1, 3), np.linalg.norm(along, axis=1)


def activation_colours(geometry: FibreGeometry, activation: npt.ArrayLike) -> Floats:
    """Returns the colours of fibres, (k, 4), by the activations of the units, 0 to 1; one counts for all."""
    values = np.clip(np.atleast_1d(np.asarray(activation, np.float64)), 0.0, 1.0)
    own = values[np.minimum(geometry.unit, len(values) - 1)]
    return _with_tendon(geometry, _blend(RELAXED_COLOUR, ACTIVE_COLOUR, own))


def stretch_colours(geometry: FibreGeometry, stretch: Floats) -> Floats:
    """Returns the colours of fibres, (k, 4), by their stretch, (k,): blue where short, orange where long."""
    share = np.clip((stretch - 1.0) / STRETCH_RANGE, -1.0, 1.0)
    shorter = _blend(REST_COLOUR, SHORT_COLOUR, np.maximum(-share, 0.0))
    colours = shorter + _blend(REST_COLOUR, LONG_COLOUR, np.maximum(share, 0.0)) - REST_COLOUR
    return np.concatenate([colours, np.ones((len(share), 1))], axis=1)


def _with_tendon(geometry: FibreGeometry, colours: Floats) -> Floats:
    """Returns colours, (k, 4), in which tendon has its own."""
    mixed = colours + geometry.tendon[:, None] * (TENDON_COLOUR - colours)
    return np.concatenate([mixed, np.ones((len(mixed), 1))], axis=1)


def _blend(first: Floats, second: Floats, share: Floats) -> Floats:
    return first + share[:, None] * (second - first)
