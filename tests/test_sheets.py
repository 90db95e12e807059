# SPDX-License-Identifier: GPL-3.0-or-later
"""Sheets: membrane and bending against slow twins, patch tests, rigid motions, steps."""

import dataclasses

import numpy as np
import pytest
import scipy.linalg

from fixtures.sheets import (
    CLOTH,
    check_clamped_tangent,
    check_tangent,
    crossed_grid,
    dense,
    energy_of,
    forces_of,
    grid,
    random_grid,
    right_grid,
    sheet_model,
    tangent_of,
    with_hinges_alone,
)
from reference import sheets as twin
from sinew.solver.mechanics.hyperelastic.hyperelastic_bodies import tet_arrays
from sinew.solver.mechanics.hyperelastic.rayleigh_damping import damping_matrix
from sinew.solver.mechanics.model import Part, make_model
from sinew.solver.mechanics.sheets.hinge_records import bent_hinges
from sinew.solver.mechanics.sheets.sheet_elements import SheetMaterial, axes_from_uv, make_sheet_elements
from sinew.solver.mechanics.sheets.sheet_part import sheet_part
from sinew.solver.mechanics.submodel import make_submodel
from sinew.solver.runtime.errors import BadInput
from sinew.solver.scene.scene import Material

# both parts of the energy are of one size: 1 mm thick, they would differ by 1e5
THICK = dataclasses.replace(CLOTH, thickness=0.2)
NEO = dataclasses.replace(THICK, law="stable-neo-hookean")
WOVEN = dataclasses.replace(THICK, across=0.3e6, shear_modulus=0.1e6)
LAWS = pytest.mark.parametrize("material", [THICK, NEO, WOVEN], ids=["stvk", "neo-hookean", "orthotropic"])


def crumpled(seed=0, size=0.12):
    """Returns a curved sheet, its triangles, and where its nodes are: turned, and far from rest."""
    rng = np.random.default_rng(seed)
    nodes, triangles = grid((3, 2), (1.0, 0.8))
    nodes[:, 2] = 0.2 * np.sin(4.0 * nodes[:, 0]) + 0.1 * nodes[:, 1] ** 2
    turn = np.linalg.qr(rng.normal(size=(3, 3)))[0]
    turn[:, 0] *= np.linalg.det(turn)
    return nodes, triangles, (nodes + size * rng.normal(size=nodes.shape)) @ turn.T


def axes_of(triangles):
    return np.tile([1.0, 0.3, 0.0], (len(triangles), 1))


@LAWS
def test_membrane_energy_is_the_twins(material):
    material = dataclasses.replace(material, bending_stiffness=0.0)
    X, triangles, x = crumpled()
    axes = axes_of(triangles)
    expected = twin.membrane_energy(X, x, triangles, material, axes)
    assert energy_of(sheet_model(X, triangles, material, axes=axes), x) == pytest.approx(expected, rel=1e-12)


@pytest.mark.parametrize("material", [THICK, WOVEN], ids=["isotropic", "orthotropic"])
def test_bending_energy_is_the_twins(material):
    X, triangles, x = crumpled()
    axes = axes_of(triangles)
    whole = energy_of(sheet_model(X, triangles, material, axes=axes), x)
    bending = whole - twin.membrane_energy(X, x, triangles, material, axes)
    assert bending == pytest.approx(twin.bending_energy(X, x, triangles, material, axes), rel=1e-9)


def test_which_way_round_triangles_go_says_nothing():
    X, triangles, x = crumpled()
    turned = triangles.copy()
    turned[::3] = turned[::3, [1, 0, 2]]
    energies = [energy_of(sheet_model(X, each, THICK, axes=axes_of(each)), x) for each in (triangles, turned)]
    assert energies[1] == pytest.approx(energies[0], rel=1e-9)


@LAWS
def test_forces_are_differences_of_the_energy(material):
    X, triangles, x = crumpled()
    model = sheet_model(X, triangles, material, axes=axes_of(triangles))
    expected = -twin.gradient(lambda y: energy_of(model, y), x, 1e-4)
    assert np.abs(forces_of(model, x) - expected).max() < 1e-6 * np.abs(expected).max()


@LAWS
@pytest.mark.parametrize("seed", [0, 1, 2])
def test_the_tangent_is_the_difference_of_forces(material, seed):
    X, triangles, x = crumpled(seed)
    model = sheet_model(X, triangles, material, axes=axes_of(triangles))
    check_tangent(with_hinges_alone(model), x)


@pytest.mark.parametrize("height", [1e-2, 1e-4, 1e-7])
def test_triangles_of_hardly_any_area_leave_bending_definite(height):
    X, triangles = grid((6, 4), (1.0, 0.7))
    a, b, c = triangles[10]
    X = np.concatenate([X, [(0.5 * (1.0 - height)) * (X[a] + X[b]) + height * X[c]]])
    last = len(X) - 1
    caps = np.array([[a, b, last], [b, c, last], [c, a, last]], np.int32)
    flexibility = sheet_model(X, np.concatenate([np.delete(triangles, 10, axis=0), caps])).sheets.flexibility
    own = flexibility.bends
    S = np.array([flexibility.moments(row) for row in np.eye(len(own))[own]])[:, own]
    stiffness = np.linalg.eigvalsh(0.5 * (S + S.T))
    assert np.abs(S - S.T).max() < 1e-6 * stiffness[-1] and stiffness[0] > -1e-12 * stiffness[-1]


@pytest.mark.parametrize("poisson_ratio", [0.0, 0.3, 0.45])
@pytest.mark.parametrize("mesh", [grid, right_grid, crossed_grid, random_grid])
def test_the_tangent_bends_about_as_hard_as_the_sheet(mesh, poisson_ratio):
    """Angles resist together, in the tangent each for itself: Newton's method then still leaves at most 0.9."""
    X, triangles = mesh((6, 4), (0.6, 0.4))
    model = sheet_model(X, triangles, dataclasses.replace(CLOTH, poisson_ratio=poisson_ratio))
    step, columns = 1e-5, []
    for node in range(len(X)):
        d = np.zeros_like(X)
        d[node, 2] = step
        columns.append((forces_of(model, X - d) - forces_of(model, X + d))[:, 2] / (2.0 * step))
    K, own = np.array(columns), tangent_of(model, X, False)[2::3, 2::3]
    rigid = np.linalg.qr(np.column_stack([np.ones(len(X)), X[:, :2]]))[0]
    basis = np.linalg.svd(rigid, full_matrices=True)[0][:, 3:]
    range_of = scipy.linalg.eigvalsh(basis.T @ K @ basis, basis.T @ own @ basis)
    assert range_of[0] > 0.1 and range_of[-1] < 1.9


@pytest.mark.parametrize("poisson_ratio", [0.0, 0.3])
@pytest.mark.parametrize("curvature", [(1.0, 0.0, 0.0), (0.0, 1.0, 0.0), (0.0, 0.0, 1.0)])
def test_patch_of_any_triangles_bears_a_uniform_moment(curvature, poisson_ratio):
    """Far from free edges, whose influence halves from edge to edge, moments are those of the plate."""
    nodes, triangles = random_grid((32, 32), (1.0, 1.0))
    nodes = nodes @ np.array([[1.0, 0.0, 0.0], [0.4, 0.9, 0.0], [0.0, 0.0, 1.0]])  # skewed
    material = dataclasses.replace(CLOTH, poisson_ratio=poisson_ratio)
    model = sheet_model(nodes, triangles, material)
    k = np.array([[curvature[0], curvature[2]], [curvature[2], curvature[1]]])
    x, small = nodes.copy(), 1e-6
    x[:, 2] = 0.5 * small * np.einsum("ni,ij,nj->n", nodes[:, :2], k, nodes[:, :2])
    found = bent_hinges(model.sheets, model.tets, x).moment
    hinges = model.tets[model.sheets.tets]
    along = nodes[hinges[:, 1], :2] - nodes[hinges[:, 0], :2]
    plate = material.youngs_modulus * material.thickness**3 / 12.0 / (1.0 - poisson_ratio**2)
    moments = plate * ((1.0 - poisson_ratio) * k + poisson_ratio * np.trace(k) * np.eye(2))
    n = np.stack([along[:, 1], -along[:, 0]], axis=1) / np.linalg.norm(along, axis=1)[:, None]
    expected = small * np.linalg.norm(along, axis=1) * np.einsum("hi,ij,hj->h", n, moments, n)
    middle = np.linalg.norm(x[hinges[:, :2], :2].mean(axis=1) - nodes[:, :2].mean(axis=0), axis=1) < 0.12
    error = np.abs(np.abs(found) - np.abs(expected))[middle].max() / np.abs(expected).max()
    assert middle.sum() > 20 and error < 2e-3
    force = np.abs(forces_of(model, x)[:, 2])  # along the sheet they are those of the membrane
    assert force[np.unique(hinges[middle, :2])].max() < 2e-3 * force.max()


@LAWS
def test_the_clamped_tangent_is_semidefinite_and_the_true_one_at_rest(material):
    X, triangles, x = crumpled()
    model = sheet_model(X, triangles, material, axes=axes_of(triangles))
    check_clamped_tangent(model, x, X)


@LAWS
def test_rigid_motion_makes_no_force_and_forces_make_no_torque(material):
    X, triangles, x = crumpled()
    model = sheet_model(X, triangles, material, axes=axes_of(triangles))
    f = forces_of(model, x)
    size = np.abs(f).max()
    rigid = crumpled(size=0.0)[2] + [3.0, 1.0, -2.0]
    assert np.abs(forces_of(model, rigid)).max() < 1e-10 * size
    assert np.abs(f.sum(axis=0)).max() < 1e-12 * size and np.abs(np.cross(x, f).sum(axis=0)).max() < 1e-11 * size


def test_damping_is_semidefinite_and_damps_no_rigid_motion():
    X, triangles, x = crumpled()
    model = sheet_model(X, triangles, THICK, damping=(0.0, 0.02))
    values = np.empty((model.pattern.block_count, 9))
    damping_matrix(model, x, values, tet_arrays(model.pattern))
    D = dense(model, values)
    size = np.abs(D).max()
    v = np.cross([0.3, -1.0, 2.0], x) + [1.0, 2.0, 3.0]
    assert np.abs(D @ v.ravel()).max() < 1e-11 * size
    assert np.linalg.eigvalsh(D)[0] > -1e-10 * size
    damping_matrix(model, X, values, tet_arrays(model.pattern))  # at rest it is β times the stiffness
    K = tangent_of(model, X, False)
    assert np.abs(dense(model, values) - 0.02 * K).max() < 1e-10 * 0.02 * np.abs(K).max()


@pytest.mark.parametrize("material", [CLOTH, dataclasses.replace(CLOTH, law="stable-neo-hookean")])
def test_patch_of_any_triangles_bears_a_uniform_strain(material):
    nodes, triangles = grid((4, 3), (1.0, 0.7))
    inner = (nodes[:, :2] > 1e-9).all(axis=1) & (nodes[:, 0] < 1.0 - 1e-9) & (nodes[:, 1] < 0.7 - 1e-9)
    nodes[inner, :2] += 0.03 * np.random.default_rng(0).normal(size=(inner.sum(), 2))
    model = sheet_model(nodes, triangles, material)
    x = nodes @ np.array([[1.05, 0.02, 0.0], [0.01, 0.98, 0.0], [0.0, 0.0, 1.0]]).T
    f = forces_of(model, x)
    assert np.abs(f[inner]).max() < 1e-12 * np.abs(f).max()


def test_narrowing_of_a_stretched_strip_is_poissons():
    material = dataclasses.replace(CLOTH, across=0.4e6, poisson_ratio=0.2)
    nodes, triangles = grid((3, 3), (1.0, 1.0))
    stretch = 1e-6
    model = sheet_model(nodes, triangles, material, axes=np.tile([1.0, 0.0, 0.0], (len(triangles), 1)))
    f = forces_of(model, nodes * [1.0 + stretch, 1.0 - 0.2 * stretch, 1.0])
    pull = f[nodes[:, 0] == 0.0, 0].sum()
    assert pull == pytest.approx(material.youngs_modulus * material.thickness * stretch, rel=1e-5)
    assert np.abs(f[:, 1]).max() < 1e-5 * pull


def test_axes_follow_the_uv():
    nodes, triangles = grid((2, 2), (1.0, 1.0))
    turned = np.array([[np.cos(0.3), np.sin(0.3)], [-np.sin(0.3), np.cos(0.3)]])  # u is 0.3 from x
    axes = axes_from_uv(nodes, triangles, (nodes[:, :2] @ turned.T)[triangles], "Sheet")
    assert np.allclose(axes, [np.cos(0.3), np.sin(0.3), 0.0])
    with pytest.raises(BadInput) as raised:
        axes_from_uv(nodes, triangles, np.zeros((len(triangles), 3, 2)), "Sheet")
    assert raised.value.kind == "sheet-no-uv-area"


def test_a_hem_that_is_folded_flat_at_rest_stays_so_on_both_sides_of_half_a_turn():
    """The angle of a hinge jumps by a turn there, which is no bending."""
    X = np.array([[0.0, 0.0, 0.0], [1.0, 0.0, 0.0], [0.5, 1.0, 0.0], [0.5, 1.0, 0.0]])
    model = sheet_model(X, np.array([[0, 1, 2], [1, 0, 3]], np.int32), CLOTH)
    energies = []
    for height in (1.0e-4, -1.0e-4):
        x = X.copy()
        x[3, 2] = height
        energies.append(energy_of(model, x))
    assert max(energies) < 1.0e-9, "[J]; a turn would be 1e-3"
    assert energies[0] == pytest.approx(energies[1], rel=1e-6) and min(energies) > 0.0


def test_sheets_without_area_are_refused_by_name():
    nodes, triangles = grid((2, 2), (1.0, 1.0))
    for X, t, kind in (
        (nodes * [1.0, 0.0, 1.0], triangles, "sheet-no-area"),
        (nodes, triangles[:0], "sheet-no-area"),
        (nodes, triangles[:1], "sheet-one-triangle"),
    ):
        with pytest.raises(BadInput) as raised:
            make_sheet_elements(X, t, CLOTH, name="Veil")
        assert raised.value.kind == kind and "Veil" in raised.value.sentence


def test_every_triangle_counts_once_also_where_none_or_several_meet():
    nodes = np.array([[0, 0, 0], [1, 0, 0], [0, 1, 0], [0, -1, 0], [0, 0, 1], [3, 0, 0], [4, 0, 0], [3, 1, 0]], float)
    triangles = np.array([[0, 1, 2], [1, 0, 3], [0, 1, 4], [5, 6, 7]], np.int32)
    material = SheetMaterial(1e-3, 1e6)
    model = sheet_model(nodes, triangles, material)
    assert model.mass.sum() == pytest.approx(1000.0 * 1e-3 * 2.0, rel=1e-12)
    flexible = dataclasses.replace(material, bending_stiffness=0.0)
    x = nodes + 0.1 * np.random.default_rng(0).normal(size=nodes.shape)
    expected = twin.membrane_energy(nodes, x, triangles, material, nodes[triangles[:, 1]] - nodes[triangles[:, 0]])
    assert energy_of(sheet_model(nodes, triangles, flexible), x) == pytest.approx(expected, rel=1e-12)


def test_a_sheet_beside_a_solid_is_the_same_as_alone():
    X, triangles, x = crumpled()
    box = np.array([[0, 0, 0], [1, 0, 0], [0, 1, 0], [0, 0, 1]], float)
    solid = Part("box", box, np.array([[0, 1, 2, 3]], np.int32), np.ones(1), Material())
    sheets = [sheet_part(key, X, triangles, THICK) for key in ("one", "two")]
    whole, alone = make_model([sheets[0], solid, sheets[1]]), sheet_model(X, triangles, THICK)
    part = make_submodel(whole, [2]).model
    assert np.array_equal(part.mass, alone.mass) and np.array_equal(forces_of(part, x), forces_of(alone, x))
    together = np.concatenate([x, box, x])
    f, own = forces_of(whole, together), forces_of(alone, x)
    assert np.abs(f[: len(x)] - own).max() < 1e-12 * np.abs(own).max()
    assert np.abs(f[-len(x) :] - own).max() < 1e-12 * np.abs(own).max()
    assert len(whole.solid_tets) == 1
