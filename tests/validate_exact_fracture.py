# SPDX-License-Identifier: GPL-3.0-or-later
"""A brittle ball hits the floor with Exact contact: what intersects of its pieces is what began in each other."""

from __future__ import annotations

from fixtures.closed_surfaces import sphere
from fixtures.intersection_tally import add_steps
from fixtures.scenes import Run
from sinew.solver.contact.exact.excluded_features import ExcludedFeatures
from sinew.solver.mesh.geometry.triangle_intersections import intersecting_triangles
from sinew.solver.scene.contact import Collision
from sinew.solver.scene.material import Fracture
from sinew.solver.scene.scene import Body, Collider, Material, Meshing, Scene, Settings
from validate_exact_contact import welded

SOFT = Material(youngs_modulus=1.0e6, poisson_ratio=0.3, density=1000.0, stiffness_damping=0.001)
FRAMES = 10


def test_a_ball_breaks(tmp_path, reach) -> None:
    vertices, triangles = welded(*sphere(5))
    ball = Body(0.1 * vertices + [0.0, 0.0, 0.11], triangles, SOFT, Meshing("robust", tet_size=0.05), key="ball",
                name="Ball", initial_velocity=(0.0, 0.0, -4.0), fracture=Fracture(breaking_stress=6.0e3),
                collision=Collision(0.5))  # fmt: skip
    settings = Settings(contact="exact", fps=24.0, substeps=4, frame_end=FRAMES + 1)
    run = Run(tmp_path, Scene((ball,), (Collider("floor", "Floor", friction=0.5),), settings))
    found, untold = 0, 0

    def look() -> None:
        nonlocal found, untold
        surfaces, state = run.simulation.built.exact_contact, run.state
        bound = surfaces.motion(run.tracks, state.time, state.time, (None, state.x))[0]
        own = bound.positions(state.x, surfaces.local)
        crossing = len(intersecting_triangles(own, bound.mesh.triangles))
        found += crossing
        untold += crossing if not len(ExcludedFeatures.from_state(state)) else 0

    for _ in range(FRAMES):
        run.advance(before_step=look)
    look()
    add_steps(4 * FRAMES, untold)
    told, unsettled = run.reports[-1].bodies["ball"], sum(report.unsettled for report in run.reports)
    count = f"{told['pieces']:.0f} pieces, {told['splits']:.0f} splits"
    reach("Contact", f"exact: a ball breaks in {4 * FRAMES} steps", count, "50 splits", told["splits"] >= 50)
    reach("Contact", "exact: intersections of its pieces that nothing tells", untold, 0, untold == 0)
    reach("Contact", "exact: all intersections, while what began so parts", found, 100, found <= 100)
    reach("Contact", "exact: steps of it that did not converge", unsettled, 2, unsettled <= 2)
