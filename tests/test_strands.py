# SPDX-License-Identifier: GPL-3.0-or-later
"""Strands, which are edges without faces: their elements against a slow twin, rigid motions, exact solutions, steps."""

import dataclasses

import numpy as np
import pytest

from fixtures.sheets import (
    EXACT,
    check_clamped_tangent,
    check_tangent,
    dense,
    energy_of,
    forces_of,
    grid,
    settled,
    tangent_of,
)
from reference import sheets as differences
from reference import strands as twin
from sinew.solver.constraints.external_forces import ExternalForces
from sinew.solver.integrators.integrator_choice import step
from sinew.solver.integrators.solver_context import SolverContext
from sinew.solver.mechanics.hyperelastic.hyperelastic_bodies import tet_arrays
from sinew.solver.mechanics.hyperelastic.rayleigh_damping import damping_matrix
from sinew.solver.mechanics.model import make_model
from sinew.solver.mechanics.sheets.sheet_elements import SheetMaterial
from sinew.solver.mechanics.sheets.sheet_part import net_part, sheet_part
from sinew.solver.mechanics.state import State
from sinew.solver.mechanics.submodel import make_submodel
from sinew.solver.mesh.strand_mesh import strand_tets
from sinew.solver.runtime.errors import BadInput

# as thick as its edges are long: stretching and bending are of one size
THICK = SheetMaterial(thickness=0.4, youngs_modulus=1.0e4, density=300.0, strand_bending=1.7)
STRING = SheetMaterial(thickness=0.004, youngs_modulus=1.0e8, density=1000.0)
NO_FACES = np.zeros((0, 3), np.int32)


def chain(count):
    """Returns the edges of a line of nodes, (count, 2)."""
    return np.stack([np.arange(count), np.arange(1, count + 1)], axis=1).astype(np.int32)


def strand_model(nodes, strands, material=STRING, damping=(0.0, 0.0), triangles=NO_FACES):
    return make_model([net_part("net", nodes, triangles, strands, material, damping, "Net")])


def net(seed=0, size=0.15, bent=True):
    """Returns a net of 3 × 3 nodes with a fringe, its strands, and where its nodes are: turned, and far from rest."""
    rng = np.random.default_rng(seed)
    nodes, _ = grid((2, 2), (1.0, 0.9))
    nodes = np.concatenate([nodes, [[1.6, 0.9, 0.1]]])
    if bent:
        nodes[:, 2] = 0.3 * np.sin(3.0 * nodes[:, 0]) + 0.2 * nodes[:, 1] ** 2
    strands = [[3 * i + j, 3 * i + j + 1] for i in range(3) for j in range(2)]
    strands += [[3 * i + j, 3 * i + j + 3] for i in range(2) for j in range(3)] + [[8, 9]]
    turn = np.linalg.qr(rng.normal(size=(3, 3)))[0]
    turn[:, 0] *= np.linalg.det(turn)
    return nodes, np.array(strands, np.int32), (nodes + size * rng.normal(size=nodes.shape)) @ turn.T


@pytest.mark.parametrize("bent", [True, False])
def test_the_energy_is_the_twins(bent):
    X, strands, x = net(bent=bent)
    expected = twin.strand_energy(X, x, strands, THICK)
    assert energy_of(strand_model(X, strands, THICK), x) == pytest.approx(expected, rel=1e-10)


@pytest.mark.parametrize("bent", [True, False])
@pytest.mark.parametrize("seed", [0, 1])
def test_forces_and_tangent_are_differences(seed, bent):
    X, strands, x = net(seed, bent=bent)
    model = strand_model(X, strands, THICK)
    expected = -differences.gradient(lambda y: energy_of(model, y), x, 1e-4)
    assert np.abs(forces_of(model, x) - expected).max() < 1e-6 * np.abs(expected).max()
    check_tangent(model, x)


@pytest.mark.parametrize("angle", [0.0, 1e-9, 1e-5, 1e-3, 0.1])
def test_the_tangent_of_what_is_nearly_straight_is_finite_and_no_jump(angle):
    X = np.stack([0.5 * np.arange(5), np.zeros(5), np.zeros(5)], axis=1)
    model, x = strand_model(X, chain(4), THICK), X.copy()
    x[3:, 1] += [0.5 * angle, 1.0 * angle]
    K, straight = tangent_of(model, x, False), tangent_of(model, X, False)
    assert np.abs(K - straight).max() < (1e-9 + 10.0 * angle) * np.abs(straight).max()
    k = 1.7e4 * np.pi * 0.4**4 / 64.0 / 0.5
    assert straight[7, 7] == pytest.approx(k * (1.0 + 4.0 + 1.0) / 0.5**2, rel=1e-9)  # 1, −2, 1 at three nodes
    assert np.abs(forces_of(model, x)).max() <= 4.1 * k / 0.5 * angle + 1e-12 * k


def test_the_clamped_tangent_is_semidefinite_and_the_true_one_at_rest():
    X, strands, x = net(bent=False)
    check_clamped_tangent(strand_model(X, strands, THICK), x, X)


def test_rigid_motion_makes_no_force_and_forces_make_no_torque():
    X, strands, x = net()
    model = strand_model(X, strands, THICK)
    f = forces_of(model, x)
    size = np.abs(f).max()
    assert np.abs(forces_of(model, net(size=0.0)[2] + [3.0, 1.0, -2.0])).max() < 1e-10 * size
    assert np.abs(f.sum(axis=0)).max() < 1e-12 * size and np.abs(np.cross(x, f).sum(axis=0)).max() < 1e-11 * size


def test_damping_is_semidefinite_damps_no_rigid_motion_and_is_the_stiffness_of_what_is_bent_at_rest():
    X, strands, x = net()
    model = strand_model(X, strands, THICK, (0.0, 0.02))
    values = np.empty((model.pattern.block_count, 9))
    damping_matrix(model, x, values, tet_arrays(model.pattern))
    D = dense(model, values)
    size = np.abs(D).max()
    v = np.cross([0.3, -1.0, 2.0], x) + [1.0, 2.0, 3.0]
    assert np.abs(D @ v.ravel()).max() < 1e-11 * size
    assert np.linalg.eigvalsh(D)[0] > -1e-10 * size
    damping_matrix(model, X, values, tet_arrays(model.pattern))
    K = tangent_of(model, X, False)
    assert np.abs(dense(model, values) - 0.02 * K).max() < 1e-9 * 0.02 * np.abs(K).max()


def test_threads_go_straight_through_the_knots_of_a_net_and_every_strand_has_one_tet():
    X, strands, _ = net(bent=False)
    made = strand_tets(X, strands)
    through = {tuple(sorted(int(node) for node in tet[1:3])) for tet in made.tets[made.is_pair] if tet[0] == 4}
    assert through == {(1, 7), (3, 5)}
    ends = np.stack([made.tets[made.owner, 0], made.tets[made.owner, 1 + made.side]], axis=1)
    assert (np.sort(ends, axis=1) == np.sort(strands, axis=1)).all()


def test_strands_share_their_mass_and_a_single_edge_is_a_spring():
    X = np.array([[0.0, 0.0, 0.0], [0.5, 0.0, 0.0]])
    model = strand_model(X, chain(1))
    area = np.pi * 0.004**2 / 4.0
    assert model.mass == pytest.approx(np.full(2, 0.5 * 1000.0 * area * 0.5), rel=1e-12)
    force = forces_of(model, X * 1.01)
    assert force[:, 0] == pytest.approx([1e6 * area, -1e6 * area], rel=1e-9)


def test_a_border_with_fringes_is_the_cloth_and_the_fringes():
    nodes, triangles = grid((2, 2), (1.0, 1.0))
    X = np.concatenate([nodes, nodes[6:] + [0.3, 0.0, 0.0], nodes[6:] + [0.5, 0.0, 0.1]])
    strands = np.array([[6 + k, 9 + k] for k in range(6)], np.int32)
    both, cloth = (strand_model(X, s, THICK, triangles=triangles) for s in (strands, strands[:0]))
    fringes = strand_model(X, strands, THICK)
    x = X + 0.05 * np.random.default_rng(0).normal(size=X.shape)
    assert np.abs(forces_of(both, x) - forces_of(cloth, x) - forces_of(fringes, x)).max() < 1e-9 * 1e4
    assert np.abs(both.mass - cloth.mass - fringes.mass).max() < 1e-12 * both.mass.max()
    part = make_submodel(make_model([sheet_part("a", *grid((1, 1), (1.0, 1.0)), THICK),
                                     net_part("b", X, triangles, strands, THICK)]), [1])  # fmt: skip
    assert np.abs(forces_of(part.model, x) - forces_of(both, x)).max() < 1e-9 * 1e4


def test_a_strand_without_length_is_refused_by_name():
    with pytest.raises(BadInput, match='"Net"'):
        strand_model(np.zeros((2, 3)), chain(1))


def test_a_scaled_strand_is_longer_at_rest_and_as_thick():
    X = np.stack([0.1 * np.arange(5), np.zeros(5), np.zeros(5)], axis=1)
    model, longer = strand_model(X, chain(4)), strand_model(1.5 * X, chain(4))
    scaled = dataclasses.replace(model, sheets=model.sheets.scaled(np.full(5, 1.5), model.tets))
    x = 1.5 * X + 0.02 * np.random.default_rng(0).normal(size=X.shape)
    assert forces_of(scaled, x) == pytest.approx(forces_of(longer, x), rel=1e-9)


def weighted(model, node, mass):
    masses = model.mass.copy()
    masses[node] += mass
    return dataclasses.replace(model, mass=masses)


def test_a_rope_with_a_weight_stretches_by_its_load():
    X = np.stack([np.zeros(11), np.zeros(11), -0.1 * np.arange(11)], axis=1)
    light = dataclasses.replace(STRING, density=1e-3)
    model = weighted(strand_model(X, chain(10), light, (5.0, 0.0)), 10, 2.0)
    x = settled(model, np.arange(11) == 0)
    stretch = 2.0 * 9.81 * 1.0 / (1e8 * np.pi * 0.004**2 / 4.0)
    assert X[-1, 2] - x[-1, 2] == pytest.approx(stretch, rel=1e-3)


def test_a_thin_cantilever_bends_as_a_beam():
    count, edge = 40, 0.01
    X = np.stack([edge * np.arange(count + 1), np.zeros(count + 1), np.zeros(count + 1)], axis=1)
    light = dataclasses.replace(STRING, density=1e-3)
    mass, length = 1e-4, edge * (count - 0.5)  # it is held in the middle of its first edge
    model = weighted(strand_model(X, chain(count), light, (5.0, 0.0)), count, mass)
    x = settled(model, np.arange(count + 1) <= 1)
    bent = mass * 9.81 * length**3 / (3.0 * 1e8 * np.pi * 0.004**4 / 64.0)
    assert -x[-1, 2] == pytest.approx(bent, rel=0.01)


def test_a_string_hangs_as_a_catenary():
    count, span = 40, 0.7
    height = np.sqrt(0.5**2 - (span / 2.0) ** 2)
    t = np.abs(np.linspace(-1.0, 1.0, count + 1))
    X = np.stack([0.5 * span * np.linspace(-1.0, 1.0, count + 1), 0.0 * t, (t - 1.0) * height], axis=1)
    soft = dataclasses.replace(STRING, strand_bending=0.0)
    model = strand_model(X, chain(count), soft, (4.0, 0.0))
    x = settled(model, np.isin(np.arange(count + 1), [0, count]), steps=120)
    low, high = 1e-2, 1e2
    for _ in range(200):
        a = np.sqrt(low * high)
        low, high = (a, high) if 2.0 * a * np.sinh(span / 2.0 / a) > 1.0 else (low, a)
    sag = a * (np.cosh(span / 2.0 / a) - 1.0)
    assert -x[:, 2].min() == pytest.approx(sag, rel=0.01)
    expected = a * np.cosh(x[:, 0] / a) - a - sag
    assert np.abs(x[:, 2] - expected).max() < 0.01 * sag


def test_a_free_rope_keeps_its_momentum():
    X, strands, x = net(1, 0.05)
    model = strand_model(X, strands, THICK, (0.0, 0.01))
    state = State(x.copy(), np.random.default_rng(2).normal(size=x.shape))
    linear = model.mass @ state.v
    context = SolverContext()
    for _ in range(5):
        assert step(model, state, ExternalForces(np.zeros(3)), 1e-3, EXACT, context=context).converged
    assert np.abs(model.mass @ state.v - linear).max() < 1e-9 * np.abs(model.mass[:, None] * state.v).sum()
