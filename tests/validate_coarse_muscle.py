# SPDX-License-Identifier: GPL-3.0-or-later
"""A fine muscle on a coarse lattice: fibres and tendon are carried over by volume, after Sifakis (2007), section 2.6.

python -m pytest -s tests/validate_coarse_muscle.py

The muscle is a spindle one metre long with a belly of 24 cm. It has tendon by length at both ends, or a sheet of tendon
in its belly that is thinner than a coarse tet. The same scene is built with fine tets and with coarse ones,
ten times fewer at least. What is compared is what the muscle term reads: fibre directions and shares of tendon, with
the volume of each tet that is inside the surface. The sheet was of 1 cm at first: fine tets, each with 8 points of
quadrature, made it 19 % too large, and coarse ones, with 101, 10 % too small.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
from scipy.spatial import cKDTree

from fixtures.muscle_bodies import angles
from sinew.solver.mesh import shapes
from sinew.solver.mesh.geometry.triangle_bvh import build_bvh
from sinew.solver.mesh.tet_averages import are_inside, sample_tets
from sinew.solver.runtime.arrays import Floats
from sinew.solver.scene.fibres import Fibres, TendonMesh
from sinew.solver.scene.scene import Scene
from sinew.solver.scene.tracks import MemoryTracks
from sinew.solver.simulation.build import build
from sinew.solver.simulation.features.muscles import Muscles
from test_scene_diagnostics import LENGTH, spindle

SECTION = "Muscle: fine meshes on coarse tets"
FINE, COARSE = 0.022, 0.06  # tet sizes [m]
LEAST_RATIO = 10.0  # of the numbers of tets
TENDONS = 0.15, 0.25  # lengths at origin and insertion [m]
SHEET = (0.03, 0.14, 0.3)  # sides of the box of tendon in the belly [m]
MOST_DEGREES, MOST_TENDON_ERROR = 3.0, 0.05


@dataclass(frozen=True)
class BuiltMuscle:
    """What a muscle term reads: centroids [m], (k, 3), volumes inside of the surface [m³], fibres, shares of tendon."""

    centroids: Floats
    volumes: Floats
    direction: Floats
    tendon: Floats

    def tendon_share(self, low: float, high: float) -> float:
        """Returns the share of tendon in the volume between two heights."""
        chosen = (self.centroids[:, 2] >= low) & (self.centroids[:, 2] < high)
        return float(self.volumes[chosen] @ self.tendon[chosen] / self.volumes.sum())


def built_muscle(tet_size: float, has_sheet: bool) -> BuiltMuscle:
    vertices, triangles = shapes.box(size=SHEET)
    sheet = TendonMesh(vertices - vertices.mean(axis=0) + np.array([0.0, 0.0, 0.5 * LENGTH]), triangles, "Sheet")
    fibres = Fibres(tendon_mesh=sheet) if has_sheet else Fibres()
    lengths = (0.0, 0.0) if has_sheet else TENDONS
    body = spindle(tet_size=tet_size, origin_tendon=lengths[0], insertion_tendon=lengths[1], fibres=fibres)
    body = replace(body, meshing=replace(body.meshing, method="robust"))
    built = build(Scene((body,)), MemoryTracks({}, {}), lambda *stage: None)
    mesh = built.bodies[0].mesh
    arrays = next(feature for feature in built.features if isinstance(feature, Muscles)).arrays
    corners = mesh.nodes[mesh.tets]
    surface = build_bvh(body.vertices, body.triangles)
    points = sample_tets(mesh, surface).at_points(mesh.nodes, np.arange(len(mesh.tets), dtype=np.int64))
    inside = are_inside(surface, points).mean(axis=1)
    volumes = np.abs(np.linalg.det(corners[:, 1:] - corners[:, :1])) / 6.0 * inside
    return BuiltMuscle(corners.mean(axis=1), volumes, arrays.direction, arrays.tendon)


def mean_angle(fine: BuiltMuscle, coarse: BuiltMuscle) -> float:
    """Returns by how much the fibre of each fine tet differs from that of the nearest coarse one [°]."""
    _, nearest = cKDTree(coarse.centroids).query(fine.centroids)
    off = angles(coarse.direction[nearest], fine.direction)
    return float(np.average(off, weights=fine.volumes))


def test_fibres_and_tendon_by_length_on_coarse_tets(reach):
    fine, coarse = built_muscle(FINE, False), built_muscle(COARSE, False)
    ratio = len(fine.tendon) / len(coarse.tendon)
    counts = f"{len(fine.tendon):,} on {len(coarse.tendon):,} tets"
    reach(SECTION, f"{counts}: ratio of their numbers", f"{ratio:.1f}", "at least 10", ratio >= LEAST_RATIO)
    angle = mean_angle(fine, coarse)
    reach(SECTION, f"{counts}: mean angle between fibres", f"{angle:.2f}°", "3°", angle < MOST_DEGREES)
    for name, span in (("origin", (-1.0, 0.5 * LENGTH)), ("insertion", (0.5 * LENGTH, 2.0 * LENGTH))):
        wanted, found = fine.tendon_share(*span), coarse.tendon_share(*span)
        off = abs(found / wanted - 1.0)
        text = f"{counts}: tendon at the {name}, of the volume, {100 * wanted:.2f} % with fine tets"
        value = f"{100 * found:.2f} %, off by {100 * off:.1f} %"
        reach(SECTION, text, value, "5 %", off < MOST_TENDON_ERROR)


def test_a_sheet_of_tendon_thinner_than_a_coarse_tet(reach):
    fine, coarse = built_muscle(FINE, True), built_muscle(COARSE, True)
    wanted, found = (each.tendon_share(-LENGTH, 2.0 * LENGTH) for each in (fine, coarse))
    off = abs(found / wanted - 1.0)
    text = (
        f"a sheet of tendon of 3 cm on tets of {100 * COARSE:.0f} cm, {100 * wanted:.2f} % of the volume with fine ones"
    )
    reach(SECTION, text, f"{100 * found:.2f} %, off by {100 * off:.1f} %", "5 %", off < MOST_TENDON_ERROR)
