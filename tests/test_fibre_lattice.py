# SPDX-License-Identifier: GPL-3.0-or-later
"""Lattices deform as Blender's do, have the derivative of a slow twin, and are inverted; what they miss is an error."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from fixtures.tet_meshes import bar
from reference.lattice_solid import bent_lattice, evaluate, to_space
from sinew.solver.mechanics.muscle.fibres.build_fibres import FibreCorrection, LatticeSource, build_fibres
from sinew.solver.mechanics.muscle.fibres.lattice_basis import COEFFICIENTS
from sinew.solver.mechanics.muscle.fibres.lattice_fibres import lattice_fibres
from sinew.solver.mechanics.muscle.fibres.lattice_inverse import material_points
from sinew.solver.mechanics.muscle.fibres.lattice_solid import LatticeSolid, make_lattice_solid
from sinew.solver.mechanics.muscle.fibres.muscle_region import muscle_region
from sinew.solver.runtime.errors import BadInput

BLENDER = {"KEY_" + name.replace("b-spline", "bspline").replace("-", "_").upper(): name for name in COEFFICIENTS}
COUNTS = (3, 4, 5)


@pytest.mark.parametrize("kind", BLENDER)
def test_a_lattice_deforms_as_blenders(kind: str):
    """Points inside, outside, and an axis of one point, to single precision."""
    bpy = pytest.importorskip("bpy")
    rng = np.random.default_rng(3)
    for counts in (COUNTS, (2, 1, 6)):
        lattice = bpy.data.lattices.new("Lattice")
        lattice.points_u, lattice.points_v, lattice.points_w = counts
        for axis in "uvw":
            setattr(lattice, f"interpolation_type_{axis}", kind)
        rest = coordinates(lattice.points, "co")
        lattice.points.foreach_set("co_deform", (rest + 0.2 * rng.normal(size=rest.shape)).ravel())
        cage = bpy.data.objects.new("Lattice", lattice)
        cage.location, cage.rotation_euler, cage.scale = (1.0, 2.0, 3.0), (0.3, 0.4, 0.5), (2.0, 1.5, 3.0)
        bpy.context.collection.objects.link(cage)
        bpy.context.view_layer.update()
        matrix = np.array(cage.matrix_world)
        solid = make_lattice_solid(rest, coordinates(lattice.points, "co_deform"), counts, (BLENDER[kind],) * 3, matrix)
        X = rng.uniform(-0.9, 0.9, (500, 3))
        mesh = bpy.data.meshes.new("Points")
        mesh.from_pydata(to_space(solid, X).tolist(), [], [])
        points = bpy.data.objects.new("Points", mesh)
        bpy.context.collection.objects.link(points)
        points.modifiers.new("Lattice", "LATTICE").object = cage
        deformed = points.evaluated_get(bpy.context.evaluated_depsgraph_get()).data.vertices
        assert np.abs(coordinates(deformed, "co") - to_space(solid, solid.evaluate(X)[0])).max() < 1e-5


def coordinates(points: object, name: str) -> np.ndarray:
    values = np.empty(3 * len(points))
    points.foreach_get(name, values)
    return values.reshape(-1, 3)


@pytest.mark.parametrize("interpolation", COEFFICIENTS)
def test_a_lattice_and_its_derivative_match_the_slow_twin(interpolation: str):
    solid = bent_lattice(COUNTS, interpolation)
    X = np.random.default_rng(4).uniform(-0.5, 0.5, (200, 3))
    F, J = solid.evaluate(X)
    F_slow, J_slow = evaluate(solid, X)
    assert np.abs(F - F_slow).max() < 1e-13 and np.abs(J - J_slow).max() < 1e-12


@pytest.mark.parametrize("interpolation", COEFFICIENTS)
def test_a_bent_lattice_is_inverted(interpolation: str):
    """And a fibre is ∂F/∂w there, in the space of the muscle."""
    solid = bent_lattice(COUNTS, interpolation)
    X = np.random.default_rng(6).uniform(-0.5, 0.5, (500, 3))
    F, J = evaluate(solid, X)
    found = material_points(solid, to_space(solid, F))
    assert found.is_reached.all() and np.abs(found.X - X).max() < 1e-9
    direction, t = lattice_fibres(solid, 2, to_space(solid, F), "Biceps", "Lattice")
    along = J[:, :, 2] @ solid.matrix[:3, :3].T
    assert np.abs(direction - along / np.linalg.norm(along, axis=1)[:, None]).max() < 1e-9
    assert np.abs(t - (X[:, 2] + 0.5)).max() < 1e-9


def test_a_muscle_without_attachments_has_the_fibres_of_its_lattice():
    """With attachments they run from origin to insertion, and t is harmonic; what is painted replaces them."""
    solid, (nodes, tets) = bent_lattice(COUNTS, "b-spline"), bar((2, 2, 4), (0.8, 0.8, 0.8))
    X, none = nodes - 0.4, np.zeros(len(nodes), bool)
    places, source = to_space(solid, solid.evaluate(X)[0]), LatticeSource("Cage", solid, 2)
    loose = build_fibres(muscle_region("Biceps", places, tets, none, none), source)
    direction, t = lattice_fibres(solid, 2, places[tets].mean(axis=1), "Biceps", "Cage")
    assert (loose.direction == direction).all() and (loose.t == t).all() and not loose.tendon.any()
    region = muscle_region("Biceps", places, tets, X[:, 2] > 0.39, X[:, 2] < -0.39)
    painted = np.where(np.arange(len(tets))[:, None] < 5, [[0.0, 3.0, 4.0]], 0.0)
    fibres = build_fibres(region, source, None, FibreCorrection(painted, np.ones(len(tets))))
    assert np.abs(fibres.direction[5:] + direction[5:]).max() < 1e-12 and np.corrcoef(fibres.t, t)[0, 1] < -0.9
    assert np.abs(np.abs(fibres.direction[:5]) - [0.0, 0.6, 0.8]).max() < 1e-12


def failure(solid: LatticeSolid, axis: int, places: np.ndarray) -> BadInput:
    with pytest.raises(BadInput) as caught:
        lattice_fibres(solid, axis, places, "Biceps", "Cage")
    assert "Biceps" in caught.value.sentence and "Cage" in caught.value.sentence
    return caught.value


def test_what_a_lattice_misses_is_an_error():
    solid = bent_lattice(COUNTS, "linear")
    places = to_space(solid, np.array([[0.0, 0.0, 0.0], [9.0, 0.0, 0.0]]))
    missed = failure(solid, 2, places)
    assert missed.kind == "fibre-lattice-too-small" and (missed.details["count"], missed.details["all"]) == (1, 2)
    flattened, mirrored = solid.displacement.copy(), solid.displacement.copy()
    flattened[..., 1] = -np.linspace(-0.5, 0.5, COUNTS[1])[:, None]
    flat = replace(solid, displacement=flattened)
    places = to_space(flat, flat.evaluate(np.array([[0.1, 0.2, -0.3]]))[0])
    assert failure(flat, 2, places).kind == "fibre-lattice-folded"
    mirrored[..., 1] -= 2.0 * (np.linspace(-0.5, 0.5, COUNTS[1])[:, None] + mirrored[..., 1])
    other = replace(solid, displacement=mirrored)
    places = to_space(other, other.evaluate(np.array([[0.1, 0.2, -0.3]]))[0])
    assert np.allclose(lattice_fibres(other, 2, places, "Biceps", "Cage")[1], 0.2)
    ends = np.array([[-0.5, 0.0, 0.0], [0.5, 0.0, 0.0]])
    line = make_lattice_solid(ends, ends, (2, 1, 1), ("linear",) * 3, np.eye(4))
    assert failure(line, 1, np.zeros((1, 3))).kind == "fibre-lattice-flat"
