# SPDX-License-Identifier: GPL-3.0-or-later
"""What the fibres of a muscle are made from, as part of a scene: a lattice, curves, paint, and where they are tendon.

All places are in world space in the rest pose [m].
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Annotated

import numpy as np

from ..runtime.arrays import Floats, Indices
from .serialisation.schema_constraints import OneOf, RowsOf, at_least, points, shape, shape_or_empty
from .serialisation.sequence_coercion import convert_sequences
from .settings.fibre_settings import FIBRE_AXIS, FIBRE_SOURCE, PENNATION_ANGLE, TENDON_DEPTH, TENDON_ONLY

HARMONIC_SOURCE, LATTICE_SOURCE, CURVE_SOURCE = FIBRE_SOURCE.words
LATTICE_AXES = FIBRE_AXIS.words
# Blender's interpolation between points of a lattice, as `mechanics/muscle/fibres/lattice_basis.py` calls it
LATTICE_INTERPOLATIONS = "linear", "cardinal", "catmull-rom", "b-spline"
PointCount = Annotated[int, at_least(1)]
Interpolation = Annotated[str, OneOf(LATTICE_INTERPOLATIONS)]


@dataclass(frozen=True)
class FibreLattice:
    """A Blender Lattice.

    Attributes:
        rest, deformed: Its points in its own space, u fastest and w slowest, (k, 3) each.
        matrix: World [m] ← that space, (4, 4).
        counts: Points along u, v and w.
        interpolation: Along u, v and w.
        name: For people.
    """

    rest: Annotated[Floats, points("k", 3)]
    deformed: Annotated[Floats, points("k", 3)]
    matrix: Annotated[Floats, shape(4, 4)]
    counts: tuple[PointCount, PointCount, PointCount]
    interpolation: tuple[Interpolation, Interpolation, Interpolation] = ("b-spline", "b-spline", "b-spline")
    name: str = "Lattice"

    def __post_init__(self) -> None:
        """Takes lists for arrays."""
        convert_sequences(self)


@dataclass(frozen=True)
class FibreCurves:
    """Polylines, such as hair strands.

    Attributes:
        points: Of all of them, one after the other [m], (p, 3).
        sizes: Numbers of points, (c,).
        name: For people.
    """

    points: Annotated[Floats, points("p", 3)]
    sizes: Annotated[Indices, shape("c")]
    name: str = "Curves"

    def __post_init__(self) -> None:
        """Takes lists for arrays."""
        convert_sequences(self)

    @property
    def polylines(self) -> list[Floats]:
        """The points of each, (k, 3)."""
        return np.split(self.points, np.cumsum(self.sizes, dtype=np.int64)[:-1])


@dataclass(frozen=True)
class TendonMesh:
    """A closed mesh inside which a muscle is tendon.

    Attributes:
        vertices: [m], (n, 3).
        triangles: (t, 3).
        name: For people.
    """

    vertices: Annotated[Floats, points("n", 3)]
    triangles: Annotated[Indices, shape("t", 3), RowsOf("vertices")]
    name: str = "Tendon"

    def __post_init__(self) -> None:
        """Takes lists for arrays."""
        convert_sequences(self)


@dataclass(frozen=True)
class Fibres:
    """Which way the fibres of a muscle run, and where they are tendon beside the tendons at its ends.

    Attributes:
        source: "harmonic": from origin to insertion; "lattice": along an axis of a lattice; "curves": along curves.
        axis: "u", "v" or "w" of the lattice.
        pennation: Angle by which fibres turn towards the tendon inside the muscle [rad].
        direction: At the render vertices, of any length and sign, (n, 3), zero for no correction; or (0, 3).
        direction_paint: How far fibres turn towards `direction`, 0 to 1, (n,), or (0,) for 1 everywhere.
        tendon_paint: Share of tendon at the render vertices, (n,), or (0,) for none.
        tendon_depth: How deep this tendon reaches below the surface [m]; 0: without end.
        tendon_only: Whether all of it is tendon.
        lattice, curves, tendon_mesh: None where there is none.
    """

    source: Annotated[str, OneOf(FIBRE_SOURCE.words)] = HARMONIC_SOURCE
    axis: Annotated[str, OneOf(LATTICE_AXES)] = LATTICE_AXES[2]
    pennation: Annotated[float, PENNATION_ANGLE.limits] = PENNATION_ANGLE.default
    direction: Annotated[Floats, shape_or_empty("n", 3)] = field(default_factory=lambda: np.zeros((0, 3)))
    direction_paint: Annotated[Floats, shape_or_empty("n")] = field(default_factory=lambda: np.zeros(0))
    tendon_paint: Annotated[Floats, shape_or_empty("n")] = field(default_factory=lambda: np.zeros(0))
    tendon_depth: Annotated[float, TENDON_DEPTH.limits] = TENDON_DEPTH.default
    tendon_only: bool = TENDON_ONLY.default
    lattice: FibreLattice | None = None
    curves: FibreCurves | None = None
    tendon_mesh: TendonMesh | None = None

    def __post_init__(self) -> None:
        """Takes lists for arrays."""
        convert_sequences(self)
