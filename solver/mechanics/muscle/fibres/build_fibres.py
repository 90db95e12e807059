# SPDX-License-Identifier: GPL-3.0-or-later
"""From what an artist has drawn, painted and set to the fibres of every tet of a muscle.

The source of the directions is a lattice, or curves, or else the harmonic coordinate. Then follow extrapolation to
tets of which the source says nothing, tendon that runs along the aponeurosis, pennation, which leaves tendon as it is,
and the painted correction.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

import numpy as np

from ....linalg.mesh_laplacian import shape_gradients
from ....mesh.geometry.connected_components import mesh_components
from ....mesh.tet_averages import TetSamples
from ....runtime.arrays import Bools, Floats
from ....runtime.errors import BadInput
from .aponeurosis_planes import APONEUROSIS_SHARE, lay_in_sheet, sheet_planes
from .curve_fibres import curve_fibres, strand_points
from .direction_tensors import align, extrapolate_directions
from .fibre_adjustments import blend_directions, rotate_towards
from .fibre_field import FibreField
from .fibre_lengths import fibre_lengths, tendon_shares
from .harmonic_coordinate import harmonic_coordinate
from .harmonic_fibres import harmonic_fibres
from .lattice_fibres import lattice_fibres
from .lattice_solid import LatticeSolid
from .muscle_region import MuscleRegion

TETS_PER_CELL = 12.0  # of the body-centred lattice, whose edge is the size of a tet


@dataclass(frozen=True, eq=False)
class LatticeSource:
    """A lattice whose axis is the fibre direction.

    Attributes:
        name: Of the lattice, for people.
        solid: The lattice, in the space of the muscle.
        axis: 0, 1 or 2 for u, v or w.
    """

    name: str
    solid: LatticeSolid
    axis: int


@dataclass(frozen=True, eq=False)
class CurveSource:
    """Curves that run along the fibres, drawn in either direction.

    Attributes:
        curves: Points of polylines [m], (p, 3) each.
        name: Of the curves, for people.
    """

    curves: Sequence[Floats]
    name: str = "Curves"


@dataclass(frozen=True, eq=False)
class TendonSource:
    """Where a muscle is tendon.

    Attributes:
        at_origin, at_insertion: Lengths along the fibres from both ends [m].
        painted: Share of tendon of each tet in addition, (k,), or (0,) for none.
        samples: Points of the tets: of those that the surface of the muscle cuts, the part inside counts; None: whole.
    """

    at_origin: float = 0.0
    at_insertion: float = 0.0
    painted: Floats = field(default_factory=lambda: np.zeros(0))
    samples: TetSamples | None = None


@dataclass(frozen=True, eq=False)
class FibreCorrection:
    """What is changed about the directions of a source.

    Attributes:
        painted: Directions, (k, 3), zero where none is painted, or (0, 3).
        weight: Of these, (k,).
        pennation: Angle by which fibres are turned [rad], one or (k,).
        towards: Where they turn to, (k, 3), such as the normals of a surface; (0, 3): to the painted aponeurosis.
    """

    painted: Floats = field(default_factory=lambda: np.zeros((0, 3)))
    weight: Floats = field(default_factory=lambda: np.zeros(0))
    pennation: Floats | float = 0.0
    towards: Floats = field(default_factory=lambda: np.zeros((0, 3)))


def build_fibres(
    region: MuscleRegion,
    source: LatticeSource | CurveSource | None = None,
    tendon: TendonSource | None = None,
    correction: FibreCorrection | None = None,
) -> FibreField:
    """Returns the fibres of a muscle.

    Args:
        region: Its tets and attachments. A lattice, or curves without pennation, need no attachments unless tendon has
            lengths.
        source: A lattice or curves; None: the harmonic coordinate alone.
        tendon: Where it is tendon; None: nowhere.
        correction: None: nothing.

    Raises:
        BadInput: Fibres are not determined; the sentence says by what.
        SolveFailed: The harmonic coordinate does not converge.
    """
    tendon, correction = tendon or TendonSource(), correction or FibreCorrection()
    painted = tendon.painted if len(tendon.painted) else np.zeros(len(region.tets))
    has_lengths, has_pennation = tendon.at_origin > 0.0 or tendon.at_insertion > 0.0, bool(np.any(correction.pennation))
    has_side = isinstance(source, LatticeSource) or not has_pennation  # pennation needs to know which way fibres run
    is_attached = bool(region.is_origin.any() or region.is_insertion.any())
    coordinate = None
    if source is None or has_lengths or is_attached or not has_side:
        coordinate = harmonic_coordinate(region)
    direction, is_defined, t = _directions(region, source, coordinate, painted)
    share = painted if coordinate is None else np.maximum(painted, _tendon_by_length(region, coordinate, tendon))
    direction = _correct(region, direction, painted, share, correction)
    return FibreField(direction, share, t, ~is_defined)


def _directions(
    region: MuscleRegion, source: LatticeSource | CurveSource | None, coordinate: Floats | None, tendon: Floats
) -> tuple[Floats, Bools, Floats]:
    """Returns directions, (k, 3), where the source says them, (k,), and t of the tets, (k,) or (0,)."""
    upwards, t, places = np.zeros((len(region.tets), 3)), np.zeros(0), region.centroids
    if coordinate is not None:
        upwards, is_defined = harmonic_fibres(region, coordinate)
        upwards, t = extrapolate_directions(region, upwards, is_defined), coordinate[region.tets].mean(axis=1)
        if source is None:
            return upwards, is_defined, t
    if isinstance(source, LatticeSource):
        direction, along = lattice_fibres(source.solid, source.axis, places, region.name, source.name)
        return align(direction, upwards), np.ones(len(places), np.bool_), t if len(t) else along
    assert source is not None
    spacing = float(np.cbrt(TETS_PER_CELL * shape_gradients(region.nodes, region.tets)[1].mean()))
    points = strand_points(source.curves, spacing, region.name, source.name)
    away = float(points.search.nearest(places, 1)[0].min())
    if away > np.linalg.norm(np.ptp(region.nodes, axis=0)):
        raise BadInput("fibre-curves-far", name=region.name, curves=source.name, distance=f"{away:.3g}")
    direction, is_defined = curve_fibres(points, places, tendon, spacing)
    _check_defined(region, is_defined)
    return align(extrapolate_directions(region, direction, is_defined), upwards), is_defined, t


def _check_defined(region: MuscleRegion, is_defined: Bools) -> None:
    """Raises BadInput unless every piece of the muscle has a tet with a direction, from which others take theirs."""
    piece = mesh_components(region.tets, len(region.nodes))[region.tets[:, 0]]
    is_lost = np.bincount(piece[is_defined], minlength=int(piece.max()) + 1)[piece] == 0
    if is_lost.any():
        raise BadInput("fibres-undefined", name=region.name, count=int(is_lost.sum()), all=len(is_lost))


def _tendon_by_length(region: MuscleRegion, coordinate: Floats, tendon: TendonSource) -> Floats:
    """Returns the share of tendon of each tet that follows from the lengths at the ends, (k,)."""
    if not (tendon.at_origin > 0.0 or tendon.at_insertion > 0.0):
        return np.zeros(len(region.tets))
    lengths = fibre_lengths(region, coordinate)
    share = tendon_shares(lengths, region.tets, tendon.at_origin, tendon.at_insertion, tendon.samples)
    if (share >= 1.0).all():
        longest = float((lengths.from_origin + lengths.from_insertion).max())
        raise BadInput("tendon-without-muscle", name=region.name, length=f"{longest:.3g}")
    return share


def _correct(
    region: MuscleRegion, direction: Floats, painted_tendon: Floats, share: Floats, correction: FibreCorrection
) -> Floats:
    """Returns directions, (k, 3), along the aponeurosis within it, with pennation elsewhere, and then as painted."""
    towards, is_aponeurosis = correction.towards, painted_tendon >= APONEUROSIS_SHARE
    if is_aponeurosis.any():
        planes = sheet_planes(region, is_aponeurosis)
        direction = lay_in_sheet(direction, planes, is_aponeurosis)
        towards = towards if len(towards) else planes.normal
    if np.any(correction.pennation):
        if len(towards) == 0:
            raise BadInput("pennation-without-aponeurosis", name=region.name)
        direction = rotate_towards(direction, towards, correction.pennation * (1.0 - share))
    if len(correction.painted):
        direction = blend_directions(direction, correction.painted, correction.weight)
    return direction
