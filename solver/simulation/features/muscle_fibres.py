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
from ...mesh.tet_averages import TetSamples, are_inside, meets_surface
from ...mesh.tet_paint_values import extrapolate_to_tets
from ...runtime.arrays import Floats, floats
from ...runtime.errors import BadInput
from ...scene.fibres import CURVE_SOURCE, HARMONIC_SOURCE, LATTICE_AXES, LATTICE_SOURCE, FibreLattice, TendonMesh
from ...scene.muscle import Muscle
from ...scene.scene import Body

SOURCE_WORDS = {LATTICE_SOURCE: "a lattice", CURVE_SOURCE: "curves"}


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


def muscle_fibres(body: Body, muscle: Muscle, samples: TetSamples, region: MuscleRegion) -> FibreField:
    """Returns the fibres of all tets of a body.

    Args:
        body: The body.
        muscle: Its muscle.
        samples: Points of its tets, of which those inside count.
        region: The tets with their ends.

    Raises:
        BadInput: Fibres are not determined; the sentence says by what.
        SolveFailed: A linear solve does not converge.
    """
    fibres = muscle.fibres
    tendon = (
        TendonSource(painted=np.ones(len(samples.mesh.tets)))
        if fibres.tendon_only
        else TendonSource(
            muscle.origin_tendon, muscle.insertion_tendon, _painted_tendon(body, muscle, samples), samples
        )
    )
    return build_fibres(region, _source(muscle), tendon, _correction(body, muscle, samples))


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


def _painted_tendon(body: Body, muscle: Muscle, samples: TetSamples) -> Floats:
    """Returns the share of tendon that the paint and the mesh of tendon say, (m,), or (0,) for none."""
    fibres = muscle.fibres
    found = []
    if len(fibres.tendon_paint):
        found.append(_share_painted(body, muscle, samples))
    if fibres.tendon_mesh is not None:
        found.append(_share_inside(body, fibres.tendon_mesh, samples))
    return np.maximum.reduce(found) if found else np.zeros(0)


def _share_painted(body: Body, muscle: Muscle, samples: TetSamples) -> Floats:
    """Returns the mean of the paint over each tet, which reaches as deep as its depth says, (m,)."""
    points = samples.at_points(samples.mesh.nodes)
    near = closest_points(build_bvh(body.vertices, body.triangles), floats(points.reshape(-1, 3)))
    paint = np.einsum("ka,ka->k", muscle.fibres.tendon_paint[body.triangles[near.triangle]], near.weights)
    if muscle.fibres.tendon_depth > 0.0:
        paint = np.where(near.distance <= muscle.fibres.tendon_depth, paint, 0.0)
    return samples.average(paint.reshape(points.shape[:2]))


def _share_inside(body: Body, around: TendonMesh, samples: TetSamples) -> Floats:
    """Returns the share of each tet that is inside a closed mesh, (m,)."""
    if not len(around.triangles) or not has_inside(around.vertices, around.triangles):
        raise BadInput("tendon-mesh-open", name=around.name, body=body.name)
    surface = build_bvh(around.vertices, around.triangles)
    share = are_inside(surface, samples.mesh.nodes[samples.mesh.tets].mean(axis=1)[:, None])[:, 0].astype(np.float64)
    cut = np.flatnonzero(meets_surface(samples.mesh, surface))
    share[cut] = samples.average(samples.are_inside(surface, cut).astype(np.float64), cut)
    if not share.any():
        raise BadInput("tendon-mesh-empty", name=around.name, body=body.name)
    return share


def _correction(body: Body, muscle: Muscle, samples: TetSamples) -> FibreCorrection:
    fibres = muscle.fibres
    if not len(fibres.direction):
        return FibreCorrection(pennation=fibres.pennation)
    paints = extrapolate_to_tets(body, samples.mesh, fibres.direction_paint, *fibres.direction.T)
    return FibreCorrection(np.stack(paints[1:], axis=1), paints[0], fibres.pennation)
