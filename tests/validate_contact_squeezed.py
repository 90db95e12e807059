# SPDX-License-Identifier: GPL-3.0-or-later
"""Pinched between plates, and twisted until it coils: `make validate`, or

python -m pytest -s tests/validate_contact_squeezed.py
"""

from __future__ import annotations

import numpy as np
import pytest

from fixtures.claim_table import reach
from fixtures.contact_scenes import pinched, twisted_bar
from fixtures.penetration_measures import TetOverlap
from fixtures.rigid_fit import away_from_rest
from fixtures.scenes import Run
from sinew.solver.mesh.embedding import bind

SECTION = "Contact"


@pytest.mark.parametrize("E", [1.0e4, 1.0e6])
def test_pinched_to_a_fifth(tmp_path, E):
    scene, tracks = pinched(E=E)
    run = Run(tmp_path, scene, **tracks)
    X, fastest, thinnest = run.state.x.copy(), 0.0, 1.0
    for frame in range(132):
        points = run.advance()
        fastest = max(fastest, float(np.linalg.norm(run.state.v, axis=1).max()))
        thinnest = min(thinnest, float(np.ptp(points[:, 2])))
        if frame == 34:
            least = float(np.ptp(points[:, 2]))
    off = away_from_rest(X, run.state.x)
    name = f"cube of 1 m, E = {E:.0e} Pa, between plates that close to 0.2 m"
    reach(SECTION, f"{name}: thickness while closed", f"{least:.4f} m", "0.199 to 0.205 m", 0.199 < least < 0.205)
    reach(SECTION, f"{name}: fastest node", f"{fastest:.2f} m/s", "20 m/s", fastest < 20.0)
    reach(SECTION, f"{name}: away from its rest shape afterwards", f"{off:.3%}", "1 %", off < 0.01)


def test_a_twisted_bar_coils_without_passing_through(tmp_path):
    scene, tracks = twisted_bar()
    run = Run(tmp_path, scene, **tracks)
    body = scene.bodies[0]
    overlap, deepest, at, closest, fastest = TetOverlap(body, 0.15), 0.0, 0, np.inf, 0.0
    along = bind(body.tet_nodes, body.tets, np.column_stack([np.linspace(0.0, 1.0, 101), np.zeros((101, 2))]))
    for _ in range(108):
        run.advance()
        depth = overlap.depth(run.state.x)
        if depth > deepest:
            deepest, at = depth, run.frame
        fastest = max(fastest, float(np.linalg.norm(run.state.v, axis=1).max()))
        line = np.einsum("ka,kai->ki", along.weights, run.state.x[body.tets[along.tet]])
        apart = np.linalg.norm(line[:, None] - line[None], axis=2)
        far = np.abs(np.subtract.outer(np.arange(101), np.arange(101))) > 20
        closest = min(closest, float(apart[far].min()))
    name = f"bar 1 m long, 0.06 m wide, {len(body.tets)} tets, turned once and coiled"
    value = f"{1e3 * deepest:.2f} mm (frame {at})" if deepest else "0"
    reach(SECTION, f"{name}: deepest in itself", value, "0.6 mm", deepest < 6e-4)
    value = f"{1e3 * closest:.1f} mm"
    reach(SECTION, f"{name}: middle line comes as near to itself as", value, "40 to 75 mm", 0.04 < closest < 0.075)
    reach(SECTION, f"{name}: fastest node", f"{fastest:.1f} m/s", "20 m/s", fastest < 20.0)
