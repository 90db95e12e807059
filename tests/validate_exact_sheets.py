# SPDX-License-Identifier: GPL-3.0-or-later
"""A cloth falls over a ball of jelly and a sharp pyramid with Exact contact: no triangles intersect after any step."""

from __future__ import annotations

import numpy as np

from fixtures.closed_surfaces import sphere
from fixtures.exact_checks import advance_and_count
from fixtures.hybrid_scenes import cloth
from fixtures.scenes import JELLY, Run
from sinew.solver.scene.contact import Collision
from sinew.solver.scene.scene import Body, Collider, Meshing, Scene, Settings
from validate_exact_contact import welded

FRAMES = 40
PYRAMID = np.array([[0.16, 0.0, 0.18], [0.14, -0.02, -0.069], [0.18, -0.02, -0.069], [0.16, 0.02, -0.069]])
FACES = np.array([[0, 1, 2], [0, 2, 3], [0, 3, 1], [1, 3, 2]], np.int32)


def test_a_cloth_over_a_ball_of_jelly_and_a_pyramid(tmp_path, reach) -> None:
    vertices, triangles = welded(*sphere(6))
    ball = Body(0.1 * vertices + [0.0, 0.0, 0.102], triangles, JELLY, Meshing("smooth", tet_size=0.05), key="ball",
                name="Ball", collision=Collision(0.3))  # fmt: skip
    sheet = cloth((0.4, 0.4), (24, 24), np.array([-0.2, -0.2, 0.23]), "cloth", collision=Collision(0.3, 0.0, True))
    colliders = (Collider("floor", "Floor", friction=0.5), Collider("pyramid", "Pyramid", "mesh", PYRAMID, FACES))
    settings = Settings(contact="exact", fps=24.0, substeps=4, frame_end=FRAMES + 1)
    run, found, unsettled, contacts = Run(tmp_path, Scene((sheet, ball), colliders, settings)), 0, 0, 0
    for _ in range(FRAMES):
        found += advance_and_count(run, 1, {"pyramid": (PYRAMID, FACES)})
        unsettled, contacts = unsettled + run.reports[-1].unsettled, max(contacts, run.reports[-1].contacts)
    line = f"exact: intersections, a cloth of {len(sheet.triangles)} triangles over jelly and a tip, {4 * FRAMES} steps"
    reach("Contact", line, found, 0, found == 0 and contacts > 50)
    reach("Contact", "exact: steps of it that did not converge", unsettled, 0, unsettled == 0)
    lowest = float(run.render["cloth"][:, 2].min())
    reach("Contact", "exact: lowest vertex of it above the floor", f"{1e3 * lowest:.2f} mm", "0 mm", lowest > 0.0)
