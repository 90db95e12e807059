# SPDX-License-Identifier: GPL-3.0-or-later
"""The experiments of HS04, reduced: forces against a slow twin, and the paper's claims."""

from __future__ import annotations

import numpy as np
import pytest

pytest.importorskip("matplotlib", reason="make papers draws with it")

from fixtures.tet_meshes import bar
from papers import hs04_bar, hs04_cost, hs04_cube_and_bar, hs04_forces, hs04_frames
from reference import hs04_forces as twin
from sinew.solver.constraints.force import ForceStep
from sinew.solver.mechanics.elastic_moduli import lame_moduli
from sinew.solver.mechanics.model import Part, make_model
from sinew.solver.scene.scene import Material

pytestmark = pytest.mark.slow

TWINS = {
    "green": "green",
    "hybrid": "hybrid",
    "polar": "polar",
    "linear": "linear",
    "warp, least squares": "vertex-warp",
}


def cube():
    nodes, tets = bar((2, 2, 2), (1.0, 1.0, 1.0))
    model = make_model([Part("cube", nodes, tets, np.ones(len(tets)), Material(1.0e5, 0.33))])
    random = np.random.default_rng(3)
    turn = np.linalg.qr(random.normal(size=(3, 3)))[0]
    turn *= np.sign(np.linalg.det(turn))
    sheared = nodes + np.outer(nodes[:, 2], [0.4, 0.1, -0.1]) + 0.03 * random.normal(size=nodes.shape)
    return model, sheared @ turn.T


@pytest.mark.parametrize("name", TWINS)
def test_pressure_and_shear_are_those_of_the_twin(name):
    model, x = cube()
    mu, lam = lame_moduli(1.0e5, 0.33)
    found = hs04_forces.force_parts(model, hs04_cube_and_bar.METHODS[name], x)
    for part, moduli in {"whole": (mu, lam), "pressure": (0.0, lam), "shear": (mu, 0.0)}.items():
        expected = twin.forces(TWINS[name], model.X, model.tets, x, *moduli)
        np.testing.assert_allclose(found[part], expected, atol=1e-8 * np.abs(expected).max())


def test_the_deviator_is_what_a_traceless_stress_makes():
    model, x = cube()
    mu, lam = lame_moduli(1.0e5, 0.33)
    found = hs04_forces.force_parts(model, hs04_cube_and_bar.METHODS["green"], x)["deviator"]
    expected = twin.forces("green", model.X, model.tets, x, mu, -2.0 * mu / 3.0)
    np.testing.assert_allclose(found, expected, atol=1e-8 * np.abs(expected).max())


def test_the_hybrid_method_has_pressure_from_green_and_shear_from_polar():
    model, x = cube()
    found = {
        name: hs04_forces.force_parts(model, hs04_cube_and_bar.METHODS[name], x)
        for name in ("green", "hybrid", "polar")
    }
    for part, other in (("pressure", "green"), ("shear", "polar")):
        scale = np.abs(found[other][part]).max()
        np.testing.assert_allclose(found["hybrid"][part], found[other][part], atol=1e-9 * scale)


def test_errors_on_the_cube_are_in_the_order_of_the_paper():
    values = hs04_forces.run(True).values
    assert values["turned linear"] > 0.1
    for state in ("sheared", "sheared and turned"):
        error = {name: values[f"{state} {name} whole"] for name in hs04_forces.NAMES}
        warps = [value for name, value in error.items() if name.startswith("warp")]
        assert error["hybrid"] < error["polar"] < min(warps) < error["linear"]


def test_the_corner_of_the_bar_is_in_the_order_of_the_paper():
    values = hs04_bar.run(True).values
    assert hs04_bar.is_error_order_as_paper({name: values[f"mean {name}"] for name in hs04_bar.NAMES})


def test_old_rotations_lead_astray_where_the_bar_is_turned():
    cells, angle = (1, 1, 4), 2.0 * np.pi
    true = hs04_frames.run_bar("green", cells, 1, angle, np.inf)
    away = {}
    for every in (1, 16):
        found = hs04_frames.run_bar("polar", cells, every, angle, np.inf)
        away[every] = np.linalg.norm(found.corner - true.corner, axis=1).mean()
    assert away[1] < away[16]
    assert hs04_frames.run_bar(
        "warp, edge frames", cells, 128, angle, hs04_frames.UNSTABLE_SPEED_RATIO * true.speed
    ).broke
    assert not hs04_frames.run_bar("polar", cells, 16, 0.0, hs04_frames.UNSTABLE_SPEED_RATIO * true.speed).broke


def test_one_solve_is_cheaper_than_several():
    assert hs04_cost.run(True).values["green / polar"] > 1.5


def test_a_load_pulls_with_the_force_that_is_asked_for():
    simulated = hs04_cube_and_bar.upright_box(
        (2, 2, 2), (1.0, 1.0, 1.0), hs04_cube_and_bar.METHODS["polar"], force=lambda t: 7.0
    )
    load = simulated.built.forces[-1]
    points = load.point_forces(ForceStep(simulated.built.model, simulated.state, simulated.tracks, 0.0, 0.0))
    np.testing.assert_allclose(points.force.sum(axis=0), [7.0, 0.0, 0.0], atol=1e-12)
    at = points.positions(simulated.built.model.X, simulated.built.model.tets)
    assert (at[:, 2] == 1.0).all() and len(np.unique(at, axis=0)) == 9
    np.testing.assert_allclose(points.force.T @ at / 7.0, [[0.5, 0.5, 1.0], [0, 0, 0], [0, 0, 0]], atol=1e-12)
