# SPDX-License-Identifier: GPL-3.0-or-later
"""Bodies that begin in each other come out gently, or a sentence says that there is no way."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from fixtures import closed_surfaces as shapes
from fixtures.contact_scenes import NOTHING, RUBBER
from fixtures.energy_measures import kinetic_energy
from fixtures.penetration_measures import DeepestEver
from fixtures.scenes import Run, block
from sinew.solver.contact.initial.resolve_overlap import initial_overlaps
from sinew.solver.contact.overlap_damping import FIELD, SEPARATION_DAMPING_TIME, damp_separation, damped_velocities
from sinew.solver.contact.surfaces.collision_surfaces import vertex_positions
from sinew.solver.mechanics.topology_state import TETS_FIELD
from sinew.solver.mesh.geometry.triangle_bvh import build_bvh
from sinew.solver.mesh.geometry.winding_number import winding_numbers
from sinew.solver.runtime.errors import BadInput
from sinew.solver.scene.scene import Collider, Scene, Settings

pytestmark = pytest.mark.slow

SOFT = replace(RUBBER, youngs_modulus=1.0e5, mass_damping=0.5)


def two(by: float, sizes=(1.0, 1.0), cells=4, aside: float = 0.1) -> tuple:
    """Returns two boxes, the second of which begins `by` of the first one's length inside it."""
    first = block((cells,) * 3, (sizes[0],) * 3, key="a", material=SOFT)
    at = (sizes[0] * (1.0 - by), aside, 0.0)
    return first, block((cells,) * 3, (sizes[1],) * 3, at=at, key="b", material=SOFT)


@pytest.mark.parametrize("by", [0.1, 0.5])
def test_overlapped_bodies_come_out_gently(tmp_path, by):
    run = Run(tmp_path, Scene(two(by), (Collider("ground", "Ground"),)))
    mass, fastest = run.built.model.mass.sum(), 0.0
    for _ in range(36):
        run.advance()
        fastest = max(fastest, float(np.linalg.norm(run.state.v, axis=1).max()))
    ever = DeepestEver(run)
    ever.look(run)
    a, b = (run.state.x[body.range.nodes, 0].mean() for body in run.built.bodies)
    assert b - a > 0.95
    assert ever.depth < 0.01
    assert fastest < 3.0
    assert kinetic_energy(run) < 1e-3 * 9.81 * mass


@pytest.mark.parametrize("by", [0.1, 0.3, 0.5])
def test_without_gravity_they_part_and_stay(tmp_path, by):
    """No damping but that while they part; momentum is none all the time."""
    free = replace(SOFT, mass_damping=0.0)
    bodies = tuple(replace(body, material=free) for body in two(by))
    run = Run(tmp_path, Scene(bodies, (), Settings(gravity=NOTHING)))
    mass, most = run.built.model.mass, 0.0
    for _ in range(40):
        run.advance()
        most = max(most, kinetic_energy(run))
        assert np.linalg.norm(mass @ run.state.v) < 1e-3 * mass.sum()
    ever = DeepestEver(run)
    ever.look(run)
    assert ever.depth < 1e-3
    own = [(mass[b.range.nodes] @ run.state.v[b.range.nodes]) / mass[b.range.nodes].sum() for b in run.built.bodies]
    assert np.linalg.norm(own[1] - own[0]) < 0.02
    assert kinetic_energy(run) < 1e-3 * most


@pytest.mark.parametrize("by", [0.3, 0.5])
def test_what_comes_out_faster_than_it_is_let_is_not_forgotten(tmp_path, by):
    """Stiff bodies do: points that their contacts no longer knew stayed in each other for ever."""
    hard = replace(SOFT, youngs_modulus=1.0e6, mass_damping=0.0)
    bodies = tuple(replace(body, material=hard) for body in two(by))
    run = Run(tmp_path, Scene(bodies, (), Settings(gravity=NOTHING)))
    run.advance(30)
    ever = DeepestEver(run)
    ever.look(run)
    assert ever.depth < 1e-3


def test_what_parts_falls_as_ever(tmp_path):
    run = Run(tmp_path, Scene(tuple(replace(b, material=replace(SOFT, mass_damping=0.0)) for b in two(0.3)), ()))
    mass = run.built.model.mass
    run.advance(4)
    assert (mass @ run.state.v)[2] / mass.sum() == pytest.approx(-9.81 * 4 / 24, rel=1e-3)


def test_only_what_parts_is_damped_against_its_common_motion(tmp_path):
    third = block((1, 1, 1), at=(9.0, 0.0, 0.0), key="c", material=SOFT)
    run = Run(tmp_path, Scene((*two(0.3), third), (), Settings(gravity=NOTHING)))
    model, rng = run.built.model, np.random.default_rng(1)
    v = rng.normal(size=model.X.shape)
    out = damped_velocities(model, np.array([[0.0, 1.0, 0.5]]), v, 0.01)
    parts = np.ones(len(v), bool)
    parts[model.bodies[2].nodes] = False
    common = model.mass[parts] @ v[parts] / model.mass[parts].sum()
    assert np.array_equal(out[~parts], v[~parts])
    assert np.allclose(out[parts] - common, np.exp(-0.5 * 0.01 / SEPARATION_DAMPING_TIME) * (v[parts] - common))


def test_syrup_ends_and_is_in_the_state(tmp_path):
    run = Run(tmp_path, Scene(two(0.1), (), Settings(gravity=NOTHING)))
    run.advance(2)
    assert run.state.fields[FIELD].tolist() == [[0.0, 1.0, 1.0]]
    run.advance(90)
    assert FIELD not in run.state.fields


def test_pieces_fly(tmp_path):
    """What is let out after a break is not slowed down."""
    run = Run(tmp_path, Scene(two(0.1), (), Settings(gravity=NOTHING)))
    run.advance()
    contacts, state = run.simulation.contacts, run.state.copy()
    state.fields.pop(FIELD)
    state.fields[TETS_FIELD] = run.built.model.tets
    before = state.v.copy()
    damp_separation(contacts, state)
    assert np.array_equal(state.v, before) and FIELD not in state.fields
    del state.fields[TETS_FIELD]
    damp_separation(contacts, state)
    assert not np.array_equal(state.v, before) and FIELD in state.fields


def test_what_only_touches_is_left_alone(tmp_path):
    run = Run(tmp_path, Scene(two(0.0, aside=0.0), (), Settings(gravity=NOTHING)))
    X = run.state.x.copy()
    run.advance(4)
    assert np.abs(run.state.x - X).max() < 1e-9


@pytest.mark.parametrize("by", [0.6, 1.0])
def test_one_inside_another_is_told_with_both_names(tmp_path, by):
    with pytest.raises(BadInput) as problem:
        Run(tmp_path, Scene(two(by, (1.0, 0.4), aside=0.3), (), Settings(gravity=NOTHING)))
    assert problem.value.kind == "bodies-overlap"
    assert '"A"' in str(problem.value) and '"B"' in str(problem.value)


def test_bodies_that_ignore_each_other_may_overlap(tmp_path):
    scene = Scene(two(0.6, (1.0, 0.4), aside=0.3), (), Settings(gravity=NOTHING), ignored_pairs=(("a", "b"),))
    run = Run(tmp_path, scene)
    X = run.state.x.copy()
    run.advance(2)
    assert np.abs(run.state.x - X).max() < 1e-9


def test_depths_are_those_along_the_way_out(tmp_path):
    run = Run(tmp_path, Scene(two(0.4, cells=2, aside=0.0)))
    built = run.built
    assert built.contact_materials is not None
    skins, model = built.contact_materials.surfaces, built.model
    at = vertex_positions(skins, model, built.initial.x)
    middles = {number: model.X[model.tets[body.tets]].mean(axis=1) for number, body in enumerate(model.bodies)}
    found = initial_overlaps(skins, ["A", "B"], at, middles, 0)
    assert len(found.id) > 0
    assert np.allclose(found.shift, -0.4)
    assert found.triangle is not None
    assert (np.diff(found.id) > 0).all()
    # through the ends that look along x, and no others
    ends = at[skins.triangles[found.triangle]][:, :, 0]
    assert np.allclose(ends, ends[:, :1])


def test_what_has_come_out_rubs(tmp_path):
    """A block that begins 0.05 m in another lies on it on a slope: it slips while it comes out, and then no more."""
    hard = replace(SOFT, youngs_modulus=1.0e6)
    below = block((4, 4, 2), (2.0, 2.0, 0.5), at=(-1.0, -1.0, 0.0), key="a", material=hard)
    above = block((3, 3, 3), (0.6, 0.6, 0.6), at=(-0.3, -0.3, 0.45), key="b", material=hard)
    ground, slope = Collider("ground", "Ground", friction=1.0), (9.81 * np.sin(0.2), 0.0, -9.81 * np.cos(0.2))
    run = Run(tmp_path, Scene((below, above), (ground,), Settings(gravity=slope)))
    run.advance(36)
    assert (run.simulation.contacts.contact_state.lift == 0.0).all()
    assert np.abs(run.state.v).max() < 0.01


def test_a_collider_that_deforms_is_left_on_one_way(tmp_path):
    """A ball whose middle is below the upper corner of a block: it is pressed down, and does not come around it."""
    vertices, triangles = shapes.sphere(10, 0.4)
    ball = Collider("ball", "Ball", "mesh", vertices + [0.35, 0.1, 0.9], triangles)
    body = block((4, 4, 4), at=(-0.5, -0.5, 0.0), material=SOFT)
    scene = Scene((body,), (Collider("ground", "Ground"), ball))
    run, fastest = Run(tmp_path, scene, collider__ball__vertices=([0.0], ball.vertices[None])), 0.0
    for _ in range(36):
        out = run.advance()
        fastest = max(fastest, float(np.linalg.norm(run.state.v, axis=1).max()))
    assert fastest < 3.0
    assert kinetic_energy(run) < 1e-3 * 9.81 * run.built.model.mass.sum()
    assert np.linalg.norm(out - [0.35, 0.1, 0.9], axis=1).min() > 0.35
    around = winding_numbers(build_bvh(out, body.triangles), np.array([[0.35, 0.1, 0.9]]))
    assert run.state.x[:, 2].mean() < 0.5 and around[0] < 0.5
    assert run.reports[-1].inverted_tets == 0
