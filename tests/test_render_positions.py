# SPDX-License-Identifier: GPL-3.0-or-later
"""Render vertices of several bodies, which are computed at once."""

from __future__ import annotations

import numpy as np
import pytest

from fixtures.scenes import Run, block
from sinew.solver.scene.scene import Scene, Settings


@pytest.mark.parametrize("count", [1, 3])
def test_render_vertices_are_those_of_each_body_in_its_own_tets(tmp_path, count):
    bodies = tuple(block((1 + k, 1, 2), (0.2, 0.2, 0.3), at=(0.5 * k, 0.0, 0.4), key=f"b{k}") for k in range(count))
    run = Run(tmp_path, Scene(bodies, (), Settings()))
    run.state.x = run.state.x + np.random.default_rng(0).normal(size=run.state.x.shape) * 0.05
    render = run.simulation.positions()
    assert list(render) == [body.key for body in bodies]
    for body in run.built.bodies:
        corners = run.state.x[run.built.model.tets[body.range.tets]][body.binding.tet]
        expected = np.einsum("ka,kai->ki", body.binding.weights, corners)
        np.testing.assert_allclose(render[body.key], expected, rtol=0.0, atol=1e-15)
