# SPDX-License-Identifier: GPL-3.0-or-later
"""Attachments between surfaces: distances and their derivatives, energies, momentum, free sliding, errors."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from fixtures.bone_scenes import line
from fixtures.scenes import Run, block
from fixtures.sliding_scenes import attachment_energy, attachments_of, check_felt_forces, openings, potential_of
from reference.fascia_correction import ALPHA, wanted_changes
from reference.signed_distances import moved_tree, signed_distances
from sinew.solver.constraints.attachments.link_energy import link_energy
from sinew.solver.mesh.geometry.signed_distance_derivatives import MovingSurface
from sinew.solver.quasistatic.attachment_forces import (
    MAX_MOVING_EVALUATIONS,
    MIN_MOVING_EVALUATIONS,
    AttachmentForces,
)
from sinew.solver.runtime.errors import BadInput, SolveFailed
from sinew.solver.scene.attachment import NOTHING, AttachedSurface, Attachment
from sinew.solver.scene.flesh import Flesh
from sinew.solver.scene.scene import Body, Collider, Scene, Settings
from sinew.solver.scene.validation import check_scene

WEIGHTLESS = Settings(frame_end=20, gravity=(0.0, 0.0, 0.0), tolerance=1e-8)


def stacked(kind: str = "sliding", reach: float = 0.1, **settings) -> list[Body]:
    """Returns a cube that lies on a slab, and may be attached to it."""
    cube = block((2, 2, 2), at=(0.0, 0.0, 0.02), key="cube", **settings)
    slab = block((4, 3, 1), (4.0, 2.0, 0.5), at=(-0.5, -0.5, -0.5), key="slab", **settings)
    return [replace(cube, attachments=(Attachment("slab", kind, reach),)), slab]


def test_the_distance_from_a_cube_is_that_of_its_formula() -> None:
    """On faces, edges and corners, outside and inside; its slope is n, and its curvature that of the formula."""
    cube = block((1, 1, 1), (2.0, 2.0, 2.0), at=(-1.0, -1.0, -1.0))
    surface = MovingSurface(cube.vertices, cube.triangles)
    at = surface.at(cube.vertices)
    points = np.random.default_rng(3).uniform(-2.0, 2.0, (400, 3))
    found = at.distances(points)
    beyond = np.abs(points) - 1.0
    exact = np.linalg.norm(np.maximum(beyond, 0.0), axis=1) + np.minimum(beyond.max(axis=1), 0.0)
    assert found.distance == pytest.approx(exact, abs=1e-12)
    assert len(np.unique((beyond > 0.0).sum(axis=1))) == 4, "all kinds of places"
    outside, step = exact > 0.05, 1.0e-5
    for axis in np.eye(3):
        ahead, behind = (at.distances(points + sign * step * axis) for sign in (1.0, -1.0))
        assert (ahead.distance - behind.distance) / (2 * step) == pytest.approx(found.normal @ axis, abs=1e-4)
        turn = (ahead.normal - behind.normal) / (2 * step)
        curvature = np.einsum("kji,kj->ki", found.curved, found.curved @ axis) / found.distance[:, None]
        same_kind = outside & (np.abs(beyond).min(axis=1) > 2 * step)
        assert turn[same_kind] == pytest.approx(curvature[same_kind], abs=1e-4)


def test_distances_from_a_surface_that_has_moved_are_those_of_the_reference() -> None:
    cube = block((4, 3, 5), (2.0, 2.0, 2.0), at=(-1.0, -1.0, -1.0))
    random = np.random.default_rng(5)
    moved = cube.vertices @ random.normal(size=(3, 3)) + random.normal(scale=0.1, size=cube.vertices.shape)
    at = MovingSurface(cube.vertices, cube.triangles).at(moved)
    points = np.concatenate([random.normal(scale=3.0, size=(3000, 3)), moved, at.corners.mean(axis=1)])
    assert np.array_equal(at.boxes, moved_tree(at).boxes)
    found, reference = at.distances(points), signed_distances(at, points)
    zeros = (reference.weights <= 1e-9).sum(axis=1)
    assert np.bincount(zeros)[:3].min() > 100, "places in faces, on edges and at corners"
    for name in ("triangle", "weights"):
        assert np.array_equal(getattr(found, name), getattr(reference, name))
    for name in ("distance", "normal", "curved"):
        assert getattr(found, name) == pytest.approx(getattr(reference, name), abs=1e-12), name


def test_the_force_of_a_link_is_the_slope_of_its_energy() -> None:
    s, reach, k, step = np.linspace(-3.0, 2.0, 501), 0.8, np.full(501, 7.0), 1.0e-6
    energy, secant = link_energy(s, k, reach)
    slope = (link_energy(s + step, k, reach)[0] - link_energy(s - step, k, reach)[0]) / (2 * step)
    assert secant * s == pytest.approx(slope, abs=1e-5)  # W'' jumps at −r
    assert (secant >= 0.0).all() and (np.diff(energy)[s[:-1] >= 0.0] >= 0.0).all()
    assert secant[s > reach] == pytest.approx(0.0) and np.ptp(energy[s > reach]) == pytest.approx(0.0, abs=1e-12)
    inner = (s > -reach) & (s <= 0.5 * reach)
    assert secant[inner] == pytest.approx(k[inner])


@pytest.mark.parametrize("kind", ["sliding", "spring", "fixed"])
def test_forces_and_stiffness_are_derivatives_of_the_energy(kind, tmp_path) -> None:
    run = Run(tmp_path, Scene(tuple(stacked(kind)), settings=WEIGHTLESS))
    potential, model, rng = potential_of(run), run.built.model, np.random.default_rng(0)
    x, still, step = model.X + 0.01 * rng.normal(size=model.X.shape), np.zeros_like(model.X), 1.0e-6
    found = potential.forces_at(x)
    force = found.nodal_forces(still, model.tets)
    assert np.abs(force.sum(axis=0)).max() < 1e-12 * np.abs(force).sum(), "no momentum"
    assert np.abs(np.cross(x, force).sum(axis=0)).max() < 1e-12 * np.abs(np.cross(x, force)).sum()
    for way in rng.normal(size=(10, *x.shape)):
        ahead, behind = (attachment_energy(potential, x + sign * step * way) for sign in (1.0, -1.0))
        slope = -(ahead - behind) / (2 * step)
        assert slope == pytest.approx(float((force * way).sum()), abs=1e-7 * np.abs(force * way).sum())
    # the stiffness leaves out how normals and places follow each other, and what would be negative: it is whole for
    # the cube alone over the flat slab
    own, cube = np.zeros_like(x), model.bodies[0].nodes
    own[cube] = rng.normal(size=x.shape)[cube]
    x = model.X + 0.01 * own
    found, force = potential.forces_at(x), potential.forces_at(x).nodal_forces(still, model.tets)
    change = potential.forces_at(x + step * own).nodal_forces(still, model.tets)
    change -= potential.forces_at(x - step * own).nodal_forces(still, model.tets)
    linear = (found.nodal_forces(own, model.tets) - force)[cube]
    assert linear == pytest.approx(change[cube] / (2 * step), abs=1e-6 * np.abs(linear).max())
    # of bodies at rest the same, as blocks of the matrix and couplings
    at_rest, values, again = AttachmentForces(model, potential), np.zeros((model.pattern.block_count, 9)), still.copy()
    assert at_rest.add(x, values, again) == pytest.approx(at_rest.energies(x))
    assert again == pytest.approx(force, abs=1e-9 * np.abs(force).max()) and at_rest.couplings() is not None


def test_closest_places_stay_as_planes_once_a_solve_hardly_moves(tmp_path) -> None:
    """Else a point in a crease goes to and fro in shorter and shorter steps, and the solve ends there."""
    run = Run(tmp_path, Scene(tuple(stacked(reach=0.2)), settings=WEIGHTLESS))
    model = run.built.model
    for move, most in ((1.0e-3, MAX_MOVING_EVALUATIONS), (1.0e-6, MIN_MOVING_EVALUATIONS + 1)):
        forces, values = AttachmentForces(model, potential_of(run)), np.zeros((model.pattern.block_count, 9))
        for number in range(1, most + 1):
            assert forces.potential is forces.moving
            forces.add(model.X + number * move, values, np.zeros_like(model.X))
        assert all(each.places is not None for each in forces.potential.active)
        forces.begin()
        assert forces.potential is forces.moving


def as_baked(cube: Body, both: Run) -> Collider:
    """Returns the first body of a run as a collider, which the same attaches to the others."""
    model, own, points = both.built.model, both.built.bodies[0], both.built.contact_points
    area = points.area[points.tet < len(own.mesh.tets)].sum()
    E = np.full(len(cube.vertices), cube.material.youngs_modulus)
    thickness = 3.0 * model.volume[model.bodies[0].tets].sum() / area
    attached = AttachedSurface(cube.attachments, E, float(thickness), own.mesh.report.tet_size)
    collider = Collider("cube", "Cube", "mesh", cube.vertices, cube.triangles, rest_vertices=cube.vertices)
    return replace(collider, attached_surface=attached)


def test_dampers_leave_baked_bodies_alone(tmp_path) -> None:
    """Where these are within a step is not known, and the tets of their points are none."""
    cube, slab = stacked("spring")
    cube = replace(cube, attachments=(replace(cube.attachments[0], damping=300.0),))
    both = Run(tmp_path / "both", Scene((cube, slab), settings=WEIGHTLESS))
    alone = Run(tmp_path / "alone", Scene((slab,), (as_baked(cube, both),), settings=WEIGHTLESS))
    links = [attachments_of(run).links[0] for run in (both, alone)]
    assert links[0].damping.sum() == pytest.approx(300.0) and not len(links[1].damping)
    alone.advance(5)
    assert np.abs(alone.state.x - alone.built.model.X).max() < 1e-9, "nothing pulls at what is at rest"


@pytest.mark.parametrize("kind", ["sliding", "spring", "fixed"])
def test_a_collider_attached_to_a_body_acts_as_the_body_that_it_was(kind, tmp_path) -> None:
    """Forces and stiffness of the slab are those that it has where the cube is simulated, too, and is at rest."""
    cube, slab = stacked(kind)
    both = Run(tmp_path / "both", Scene((cube, slab), settings=WEIGHTLESS))
    collider = as_baked(cube, both)
    attached = collider.attached_surface
    assert attached is not None
    alone = Run(tmp_path / "alone", Scene((slab,), (collider,), settings=WEIGHTLESS))
    x = check_felt_forces(both, alone, 1, 1e-9)
    found, tets = potential_of(alone), alone.built.model.tets
    assert found.split([0])[0].active and attachments_of(alone).restricted_to([0]) is not None
    assert attachments_of(alone).to_arrays(alone.built.model.bodies[0].nodes) == {}
    at_rest, values = AttachmentForces(alone.built.model, found), np.zeros((alone.built.model.pattern.block_count, 9))
    again, force = np.zeros_like(x), found.forces_at(x).nodal_forces(np.zeros_like(x), tets)
    assert at_rest.add(x, values, again) == pytest.approx(at_rest.energies(x))
    assert again == pytest.approx(force, abs=1e-9 * np.abs(force).max())
    far = replace(slab, tet_nodes=slab.tet_nodes - [0.0, 0.0, 1.0], vertices=slab.vertices - [0.0, 0.0, 1.0])
    scene = Scene((far,), (collider,), settings=WEIGHTLESS)
    with pytest.raises(BadInput, match='"Cube", which stays as it is baked, is attached to "Slab"'):
        Run(tmp_path / "far", scene)
    # one of several targets may be out of reach where the others are baked, too
    own = replace(cube.attachments[0], more_targets=(NOTHING,))
    collider = replace(collider, attached_surface=replace(attached, attachments=(own,)))
    run = Run(tmp_path / "other", replace(scene, colliders=(collider,)))
    assert not any(force.kind == "attachments" for force in run.built.forces)


def test_links_pull_the_way_that_s07_corrects(tmp_path) -> None:
    run = Run(tmp_path, Scene(tuple(stacked(reach=0.2)), settings=WEIGHTLESS))
    model = run.built.model
    x = model.X + 0.01 * np.random.default_rng(2).normal(size=model.X.shape)
    (active,), links = potential_of(run).active, attachments_of(run).links[0]
    moved, _ = wanted_changes(links, x, np.zeros_like(x), model.tets)
    force = active.forces(x, model.tets).force
    assert force / links.stiffness[:, None] == pytest.approx(moved / ALPHA, abs=1e-9)


@pytest.mark.parametrize(
    "scheme", ["", pytest.param("euler", marks=pytest.mark.slow), pytest.param("newmark", marks=pytest.mark.slow)]
)
def test_surfaces_slide_freely_and_keep_their_distance(scheme, tmp_path) -> None:
    flesh = {"flesh": Flesh("dynamic", scheme=scheme)} if scheme else {}
    cube, slab = stacked(**flesh)
    cube = replace(cube, initial_velocity=(2.0, 0.0, 0.3))
    run = Run(tmp_path, Scene((cube, slab), settings=WEIGHTLESS))
    model, mass = run.built.model, run.built.model.mass
    begin, own = mass @ run.state.v, [body.nodes for body in model.bodies]
    is_below, largest = attachments_of(run).links[0].rest_distance < 0.021, 0.0
    for _ in range(8):
        run.advance()
        largest = max(largest, float(np.abs(openings(attachments_of(run), run)[is_below]).max()))
    assert all(r.converged and not r.unsettled and r.contacts == 0 for r in run.reports)
    speeds = [mass[nodes] @ run.state.v[nodes] / mass[nodes].sum() for nodes in own]
    assert speeds[0][0] == pytest.approx(2.0, rel=2e-3) and abs(speeds[1][0]) < 2e-3, "free of friction"
    assert mass @ run.state.v == pytest.approx(begin, abs=1e-9 * np.abs(begin).max())
    assert largest < 0.01, "without it the cube rises by 0.15 m"


def test_a_strength_of_zero_lets_go(tmp_path) -> None:
    cube, slab = stacked()
    cube = replace(cube, initial_velocity=(0.0, 0.0, 1.0))
    keys = np.array([0.0, 0.25]), np.array([0.0, 0.0])
    run = Run(tmp_path, Scene((cube, slab), settings=WEIGHTLESS), body__cube__attachment__0__strength=keys)
    run.advance(3)
    assert run.render["cube"][:, 2].min() == pytest.approx(0.02 + 2.0 / 24.0 + 1.0 / 24.0, abs=0.05)
    run = Run(
        tmp_path / "wrong", Scene((cube, slab), settings=WEIGHTLESS),
        body__cube__attachment__0__strength=(keys[0], np.array([-1.0, -1.0])),
    )  # fmt: skip
    with pytest.raises(SolveFailed, match=r'The Strength of an attachment of "Cube" is -1'):
        run.advance()


@pytest.mark.parametrize("kind", ["sliding", "spring", "fixed"])
def test_a_collider_that_moves_takes_along_what_is_attached(kind, tmp_path) -> None:
    """A slab that moves up and sideways: by springs the cube follows both, sliding only the first."""
    cube, slab = stacked(kind)
    board = Collider("slab", "Slab", "mesh", vertices=slab.vertices, triangles=slab.triangles)
    times, matrices = np.array([0.0, 0.5]), np.stack([np.eye(4)] * 2)
    matrices[1, :3, 3] = 0.2, 0.0, 0.3
    run = Run(tmp_path, Scene((cube,), (board,), WEIGHTLESS), collider__slab__matrix=(times, matrices))
    run.advance(12)
    moved = (run.render["cube"] - cube.vertices).mean(axis=0)
    assert moved[2] == pytest.approx(0.3, abs=0.03)
    assert moved[0] == pytest.approx(0.0 if kind == "sliding" else 0.2, abs=0.03)


@pytest.mark.slow
def test_springs_hold_flesh_that_follows_the_pose_and_sliding_does_not(tmp_path) -> None:
    for kind in ("spring", "sliding"):
        cube, slab = stacked(kind, flesh=Flesh())
        below = np.flatnonzero(slab.vertices[:, 2] < -0.4).astype(np.int32)
        slab = replace(slab, pinned=below, pin_weights=np.ones(len(below)))
        scene = Scene((cube, slab), settings=Settings(frame_end=4))
        if kind == "sliding":
            with pytest.raises(BadInput, match='nothing holds "Cube"'):
                Run(tmp_path / kind, scene).advance()
            continue
        run = Run(tmp_path / kind, scene)
        run.advance(2)
        assert run.reports[-1].converged and run.render["cube"][:, 2].min() == pytest.approx(0.0, abs=0.02)


def with_attachment(*attachments: Attachment, **flesh: Flesh) -> Scene:
    cube, slab = stacked()
    cube = replace(cube, attachments=attachments, flesh=flesh.get("cube"))
    bone = line((0.0, 0.0, 0.0), (1.0, 0.0, 0.0), key="bone", bodies=("nothing",))
    return Scene((cube, replace(slab, flesh=flesh.get("slab"))), (Collider(),), WEIGHTLESS, bones=(bone,))


@pytest.mark.parametrize(
    ("scene", "sentence"),
    [
        (with_attachment(Attachment("nowhere")), '"Cube" is attached to "nowhere", which is not in the simulation'),
        (with_attachment(Attachment("cube")), '"Cube" is attached to itself'),
        (with_attachment(Attachment("collider")), "which has no faces"),
        (with_attachment(Attachment("bone")), 'cannot slide along "Line" or hang on it'),
        (with_attachment(Attachment("slab", "glued")), 'unknown kind, "glued"'),
        (with_attachment(Attachment("slab", reach=0.0)), "Reach"),
        (with_attachment(Attachment("slab", strength=-1.0)), "Strength"),
        (with_attachment(Attachment("slab", paint=np.ones(3))), "Attachment"),
        (
            with_attachment(Attachment("slab"), cube=Flesh(), slab=Flesh("dynamic")),
            '"Cube" follows the pose, but is attached to "Slab"',
        ),
    ],
)
def test_what_cannot_be_attached_is_told(scene, sentence) -> None:
    with pytest.raises(BadInput, match=sentence):
        check_scene(scene)


@pytest.mark.parametrize(
    ("attachment", "sentence"),
    [
        (Attachment("slab", more_targets=("gone",)), '"Cube" is attached to "gone", which is not in the simulation'),
        (Attachment("slab/wrap"), '"Cube" is attached to "the Wrap of Slab"'),
        (Attachment(NOTHING, more_targets=("cube",)), '"Cube" is attached to "cube"'),
        (Attachment("slab", target_paint=np.ones(99)), 'The values of Target Group do not fit the vertices of "Cube"'),
        (Attachment("slab", paint=np.ones(3)), "The values of Attachment do not fit"),
    ],
)
def test_what_a_collider_cannot_be_attached_to_is_told(attachment, sentence) -> None:
    cube, slab = stacked()
    surface = AttachedSurface((attachment,), np.ones(len(cube.vertices)), 1.0, 1.0)
    collider = Collider("cube", "Cube", "mesh", cube.vertices, cube.triangles, rest_vertices=cube.vertices)
    with pytest.raises(BadInput, match=sentence):
        check_scene(Scene((slab,), (replace(collider, attached_surface=surface),), WEIGHTLESS))


def test_a_target_out_of_reach_is_told(tmp_path) -> None:
    cube, slab = stacked(reach=0.01)
    with pytest.raises(
        BadInput, match=r'surface of "Cube" is 0\.02 m away from "Slab", farther than the Reach of 0\.01'
    ):
        Run(tmp_path, Scene((cube, slab), settings=WEIGHTLESS))


def test_attachments_are_stored_and_change_the_digest(tmp_path) -> None:
    cube, slab = stacked()
    scene, without = Scene((cube, slab)), Scene((replace(cube, attachments=()), slab))
    scene.save(tmp_path)
    assert Scene.load(tmp_path).digest() == scene.digest() != without.digest()
    assert Scene.load(tmp_path).bodies[0].attachments[0].reach == 0.1
