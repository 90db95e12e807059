# SPDX-License-Identifier: GPL-3.0-or-later
"""The thick-walled sphere of Lamé under pressure, on ever finer tets: the error of the displacement falls with h²."""

from __future__ import annotations

import numpy as np

from fixtures.scenes import Run
from fixtures.shells import hollow_ball
from sinew.solver.scene.pressure import Pressure
from sinew.solver.scene.scene import Scene
from test_pressure import AT_REST, RUBBER, A, B, E, lame


def test_a_thick_walled_sphere_converges_to_lame(tmp_path):
    p, errors = 1.0e-4 * E, []
    for splits, layers in ((1, 1), (2, 2), (3, 4), (4, 8)):
        body = hollow_ball(A, B, splits, layers, material=RUBBER, pressure=Pressure(p))
        run = Run(tmp_path / str(splits), Scene((body,), settings=AT_REST))
        run.advance(6)
        model = run.built.model
        r = np.linalg.norm(model.X, axis=1)
        moved = np.einsum("ni,ni->n", run.state.x - model.X, model.X) / r
        errors.append([abs(moved[np.abs(r - each) < 1e-9].mean() / lame(each, p) - 1.0) for each in (A, B)])
        print(f"{model.tet_count:6d} tets: {100 * errors[-1][0]:.2f} % inside, {100 * errors[-1][1]:.2f} % outside")
    ratios = np.array(errors[1:-1]) / np.array(errors[2:])
    assert (ratios > 3.0).all() and np.max(errors[-1]) < 0.01
