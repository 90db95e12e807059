# SPDX-License-Identifier: GPL-3.0-or-later
"""The fibres of the muscle in a body, from what its scene says of them."""

from __future__ import annotations

import math

import numpy as np

from ...mechanics.muscle.fibres.build_fibres import (
    CurveSource,
    FibreCorrection,
    LatticeSource,
    TendonSource,
    build_fibres,
)
from ...mechanics.muscle.fibres.fibre_field import FibreField
from ...mechanics.muscle.fibres.lattice_solid import make_lattice_solid
from ...mechanics.muscle.fibres.muscle_region import MuscleRegion
from ...mesh.geometry.closedness import has_inside
from ...mesh.geometry.closest_point import closest_points
from ...mesh.geometry.triangle_bvh import build_bvh
from ...mesh.geometry.winding_number import winding_numbers
from ...mesh.tet_mesh import TetMesh
from ...mesh.tet_paint_values import extrapolate_to_tets
from ...runtime.arrays import Floats, floats
from ...runtime.errors import BadInput
from ...scene.fibres import CURVE_SOURCE, HARMONIC_SOURCE, LATTICE_AXES, LATTICE_SOURCE, FibreLattice, TendonMesh
from ...scene.muscle import Muscle
from ...scene.scene import Body

SOURCE_WORDS = {LATTICE_SOURCE: "a lattice", CURVE_SOURCE: "curves"}
INSIDE_WINDING = 0.5  # winding number above which a place is inside a mesh


def needs_ends(muscle: Muscle) -> bool:
    """Whether the fibres of a muscle are undetermined without an origin and an insertion."""
    fibres = muscle.fibres
    has_lengths = (muscle.origin_tendon > 0.0 or muscle.insertion_tendon > 0.0) and not fibres.tendon_only
    knows_way = fibres.source == LATTICE_SOURCE or (fibres.source == CURVE_SOURCE and fibres.pennation == 0.0)
    return has_lengths or not knows_way


def check_fibre_source(body: Body, muscle: Muscle) -> None:
    """Raises BadInput where the lattice or the curves that give the fibres are not there, or miss points."""
    fibres = muscle.fibres
    if fibres.source == HARMONIC_SOURCE:
        return
    found = fibres.lattice if fibres.source == LATTICE_SOURCE else fibres.curves
    if found is None:
        raise BadInput("fibre-source-missing", name=body.name, source=SOURCE_WORDS[fibres.source])
    if isinstance(found, FibreLattice):
        wanted, given = math.prod(found.counts), len(found.rest)
    else:
        wanted, given = int(found.sizes.sum()), len(found.points)
    if wanted != given:
        raise BadInput("fibre-source-points", name=body.name, source=found.name, wanted=wanted, given=given)


def muscle_fibres(body: Body, muscle: Muscle, mesh: TetMesh, region: MuscleRegion) -> FibreField:
    """Returns the fibres of all tets of a body.

    Args:
        body: The body.
        muscle: Its muscle.
        mesh: Its tets.
        region: The same with their ends.

    Raises:
        BadInput: Fibres are not determined; the sentence says by what.
        SolveFailed: A linear solve does not converge.
    """
    fibres = muscle.fibres
    tendon = (
        TendonSource(painted=np.ones(len(mesh.tets)))
        if fibres.tendon_only
        else TendonSource(muscle.origin_tendon, muscle.insertion_tendon, _painted_tendon(body, muscle, mesh))
    )
    return build_fibres(region, _source(muscle), tendon, _correction(body, muscle, mesh))


def _source(muscle: Muscle) -> LatticeSource | CurveSource | None:
    """Returns what gives the directions; None: the harmonic coordinate."""
    fibres = muscle.fibres
    if fibres.source == LATTICE_SOURCE:
        own = fibres.lattice
        assert own is not None
        solid = make_lattice_solid(own.rest, own.deformed, own.counts, own.interpolation, own.matrix)
        return LatticeSource(own.name, solid, LATTICE_AXES.index(fibres.axis))
    if fibres.source == CURVE_SOURCE:
        assert fibres.curves is not None
        return CurveSource(fibres.curves.polylines, fibres.curves.name)
    return None


def _painted_tendon(body: Body, muscle: Muscle, mesh: TetMesh) -> Floats:
    """Returns the share of tendon that the paint and the mesh of tendon say, (m,), or (0,) for none."""
    fibres = muscle.fibres
    found = []
    if len(fibres.tendon_paint):
        found += extrapolate_to_tets(body, mesh, fibres.tendon_paint)
        if fibres.tendon_depth > 0.0:
            centroids = floats(mesh.nodes[mesh.tets].mean(axis=1))
            below = closest_points(build_bvh(body.vertices, body.triangles), centroids).distance
            found[0] = np.where(below <= fibres.tendon_depth, found[0], 0.0)
    if fibres.tendon_mesh is not None:
        found.append(_share_inside(body, fibres.tendon_mesh, mesh))
    return np.maximum.reduce(found) if found else np.zeros(0)


def _share_inside(body: Body, around: TendonMesh, mesh: TetMesh) -> Floats:
    """Returns 1 in tets whose centroid is inside a closed mesh, 0 elsewhere, (m,)."""
    if not len(around.triangles) or not has_inside(around.vertices, around.triangles):
        raise BadInput("tendon-mesh-open", name=around.name, body=body.name)
    centroids = floats(mesh.nodes[mesh.tets].mean(axis=1))
    winding = winding_numbers(build_bvh(around.vertices, around.triangles), centroids)
    is_inside = np.abs(winding) > INSIDE_WINDING  # whichever way its faces look
    if not is_inside.any():
        raise BadInput("tendon-mesh-empty", name=around.name, body=body.name)
    return is_inside.astype(np.float64)


def _correction(body: Body, muscle: Muscle, mesh: TetMesh) -> FibreCorrection:
    fibres = muscle.fibres
    if not len(fibres.direction):
        return FibreCorrection(pennation=fibres.pennation)
    paints = extrapolate_to_tets(body, mesh, fibres.direction_paint, *fibres.direction.T)
    return FibreCorrection(np.stack(paints[1:], axis=1), paints[0], fibres.pennation)
