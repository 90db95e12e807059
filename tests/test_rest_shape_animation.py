# SPDX-License-Identifier: GPL-3.0-or-later
"""Rest shapes that follow a track: where nodes are at rest, what that makes of a model, and what bodies do."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from fixtures.bone_scenes import line, rod
from fixtures.closed_surfaces import sphere
from fixtures.scenes import JELLY, Run, block, rotation
from sinew.solver.mechanics.model import rest_shape_inverses as shapes_of
from sinew.solver.runtime.errors import SolveFailed
from sinew.solver.scene.flesh import Bone, Flesh
from sinew.solver.scene.scene import Body, Fracture, Meshing, Plasticity, Scene, Settings
from sinew.solver.simulation.current_model import current_model, model_with_rest_shapes

MOTIONS = {"plain": None, "pose": Flesh(), "jiggle": Flesh(motion="dynamic")}
FLOATING = Settings(frame_end=60, gravity=(0.0, 0.0, 0.0), tolerance=1e-8, pose_tolerance=1e-6)


def rest_track(*shapes, times=None):
    return {"body__block__rest": (np.arange(len(shapes)) * 0.25 if times is None else times, np.stack(shapes))}


def a_ball(**settings) -> Body:
    vertices, triangles = sphere(8)
    settings.setdefault("meshing", Meshing("smooth", divisions=8))
    return Body(vertices, triangles.astype(np.int32), key="block", name="Block", **settings)


def nodes_at_rest(run):
    return run.state.fields["rest.block"]


@pytest.mark.parametrize("make", [block, a_ball], ids=["given", "smooth"])
def test_an_affine_change_of_the_surface_is_followed_to_round_off(tmp_path, make):
    body = make()
    A, t = rotation([1, 2, 3], 0.4) @ np.diag([1.3, 0.8, 1.1]), np.array([0.2, -0.1, 0.4])
    run = Run(tmp_path, Scene((body,), settings=FLOATING), **rest_track(body.vertices, body.vertices @ A.T + t))
    run.advance(6)
    assert np.abs(nodes_at_rest(run) - (run.built.model.X @ A.T + t)).max() < 1e-12


def test_what_is_not_affine_goes_inward_smoothly(tmp_path):
    """A swelling on one side: the surface is followed to a few per cent, inner nodes less and less."""
    body = a_ball()
    v = body.vertices
    swollen = v * (1.0 + 0.3 * np.exp(-((v - [0, 0, 1]) ** 2).sum(axis=1) / 0.5))[:, None]
    run = Run(tmp_path, Scene((body,), settings=FLOATING), **rest_track(v, swollen))
    run.advance(6)
    own, nodes, X = run.built.animated_rest_shapes[0].extension, nodes_at_rest(run), run.built.model.X
    left = np.linalg.norm(swollen - v - (own._surface_positions(nodes) - own._surface_positions(X)), axis=1)
    assert left.max() < 0.03 * 0.3 and left.mean() < 0.003 * 0.3
    moved = np.linalg.norm(nodes - X, axis=1)
    below = [moved[(np.abs(X[:, :2]) < 0.2).all(axis=1) & (np.abs(X[:, 2] - z) < 0.15)].mean() for z in (0.9, 0.5, 0.0)]
    assert below[0] > 0.2 and below[0] > 1.5 * below[1] > 2.0 * below[2]
    assert (shapes_of(nodes, run.built.model.tets)[1] > 0.0).all()


def test_the_extension_is_the_least_of_its_energy(tmp_path):
    """Against a dense solve of the same sums."""
    body = block((3, 3, 3))
    rng = np.random.default_rng(3)
    wanted = body.vertices + 0.03 * rng.standard_normal(body.vertices.shape)
    run = Run(tmp_path, Scene((body,), settings=FLOATING), **rest_track(body.vertices, wanted))
    own, X, tets = run.built.animated_rest_shapes[0].extension, run.built.model.X, run.built.model.tets
    found = own.follow(wanted, X, own.vertices)
    W = np.zeros((len(wanted), len(X)))
    np.put_along_axis(W, tets[own.binding.tet], own.binding.weights, axis=1)
    inverse, volume = shapes_of(X, tets)
    g = np.concatenate([-inverse.sum(axis=1, keepdims=True), inverse], axis=1)
    K = np.zeros((len(X), len(X)))
    for tet, gradients, size in zip(tets, g, volume, strict=True):
        K[np.ix_(tet, tet)] += size * gradients @ gradients.T
    middle, along = (
        wanted.mean(axis=0),
        np.linalg.lstsq(body.vertices - own.centroid, wanted - wanted.mean(axis=0), rcond=None)[0],
    )
    affine = (X - own.centroid) @ along + middle
    area = np.zeros(len(wanted))
    corners = body.vertices[body.triangles]
    sizes = np.linalg.norm(np.cross(corners[:, 1] - corners[:, 0], corners[:, 2] - corners[:, 0]), axis=1) / 6.0
    np.add.at(area, body.triangles, sizes[:, None])
    D = np.diag(100.0 * area / run.built.bodies[0].mesh.report.tet_size)
    d = np.linalg.solve(W.T @ D @ W + K, W.T @ D @ (wanted - W @ affine))
    assert np.abs(found - (affine + d)).max() < 1e-7


@pytest.mark.parametrize("motion", MOTIONS)
def test_a_body_whose_rest_shape_grows_by_a_tenth_ends_a_tenth_larger(tmp_path, motion):
    """Nothing but a small region of one end is held."""
    flesh = MOTIONS[motion]
    body = block((8, 4, 4), (2.0, 1.0, 1.0), flesh=flesh, material=replace(JELLY, mass_damping=20.0))
    held = np.array([0.0, 0.5, 0.5])
    v = body.vertices
    grown = held + 1.1 * (v - held)
    bone = line(held - [0.02, 0.0, 0.0], held - [0.01, 0.0, 0.0], distance=0.255, bodies=("block",))
    run = Run(tmp_path, Scene((body,), settings=FLOATING, bones=(bone,)), **rest_track(v, grown))
    x = run.advance(30)
    assert np.ptp(x, axis=0) / np.ptp(v, axis=0) == pytest.approx([1.1, 1.1, 1.1], rel=0.01)
    assert len(run.built.bones.fixed_nodes) == 5  # they stay as far apart as they were
    assert np.abs(x - grown)[v[:, 0] > 0.6].max() < 0.02
    assert run.reports[-1].converged


@pytest.mark.parametrize("motion", MOTIONS)
def test_a_free_body_that_grows_is_at_rest_in_its_new_shape(tmp_path, motion):
    """Held by one weak spring it takes the new shape to round-off: no stress is left."""
    body = block((3, 3, 3), flesh=MOTIONS[motion], material=replace(JELLY, mass_damping=30.0))
    v = body.vertices
    middle = np.array([0.5, 0.5, 0.5])
    grown = middle + (v - middle) * [1.2, 0.9, 1.05]
    bone = line(middle, middle + [0.1, 0, 0], distance=0.9, stiffness=1e-3, bodies=("block",))
    run = Run(tmp_path, Scene((body,), settings=FLOATING, bones=(bone,)), **rest_track(v, grown))
    x = run.advance(50)
    assert np.abs(x - grown).max() < 1e-3


def test_masses_stay_and_volumes_and_moduli_follow_the_shape(tmp_path):
    body = block((3, 3, 3))
    run = Run(tmp_path, Scene((body,), settings=FLOATING), **rest_track(body.vertices, 2.0 * body.vertices))
    run.advance(6)
    before, now = run.built.model, current_model(run.built, run.state)
    assert now.volume == pytest.approx(8.0 * before.volume) and now.mass is before.mass and now.mu is before.mu
    inverse, _ = shapes_of(2.0 * before.X, before.tets)
    assert now.Dm_inverse == pytest.approx(inverse, rel=1e-12)
    assert now.X is before.X and now.pattern is before.pattern


def test_without_a_track_nothing_is_made(tmp_path):
    run = Run(tmp_path, Scene((block((2, 2, 2)),)))
    run.advance()
    assert run.built.animated_rest_shapes == () and model_with_rest_shapes(run.built, run.state) is run.built.model
    assert not [name for name in run.state.fields if name.startswith("rest.")]


def test_stress_at_rest_stays_while_the_shape_grows(tmp_path):
    """A prestressed tet keeps its stretch: its new rest shape is the old one, stretched by what the shape did."""
    body = block((3, 3, 3), gravity_in_shape=True)
    low = np.flatnonzero(body.vertices[:, 2] < 0.01).astype(np.int32)
    body = replace(body, pinned=low, pin_weights=np.ones(len(low)))
    run = Run(tmp_path, Scene((body,)), **rest_track(body.vertices, 1.5 * body.vertices))
    plain, _ = shapes_of(run.built.model.X, run.built.model.tets)
    before = np.linalg.inv(plain) @ run.built.model.Dm_inverse
    assert np.abs(before - np.eye(3)).max() > 1e-4
    run.advance(6)
    grown, _ = shapes_of(1.5 * run.built.model.X, run.built.model.tets)
    assert np.linalg.inv(grown) @ model_with_rest_shapes(run.built, run.state).Dm_inverse == pytest.approx(
        before, rel=1e-9
    )


def test_plastic_flow_starts_from_the_new_shape(tmp_path):
    """A free body that grows slowly feels no strain, and nothing flows."""
    body = block(
        (2, 2, 2), plasticity=Plasticity(yield_strain=0.02, flow=50.0), material=replace(JELLY, mass_damping=5.0)
    )
    v = body.vertices
    track = rest_track(v, 1.3 * (v - 0.5) + 0.5, times=np.array([0.0, 2.0]))
    run = Run(tmp_path, Scene((body,), settings=replace(FLOATING, frame_end=61)), **track)
    x = run.advance(60)
    assert np.ptp(x, axis=0) == pytest.approx([1.3] * 3, rel=0.01)
    assert run.reports[-1].bodies["block"]["largest_plastic_strain"] < 1e-6


@pytest.mark.slow
def test_a_body_in_pieces_keeps_its_track(tmp_path):
    body = block((4, 2, 2), (2.0, 1.0, 1.0), fracture=Fracture(breaking_stress=1.0, scatter=0.0))
    ends = np.flatnonzero(np.abs(body.vertices[:, 0] - 1.0) > 0.99).astype(np.int32)
    body = replace(body, pinned=ends, pin_weights=np.ones(len(ends)))
    v = body.vertices
    shrunk = (v - [1.0, 0.5, 0.5]) * [0.7, 1.0, 1.0] + [1.0, 0.5, 0.5]
    run = Run(tmp_path, Scene((body,), settings=FLOATING), **rest_track(v, shrunk, times=np.array([0.0, 1.0])))
    run.advance(24)
    assert run.reports[-1].bodies["block"]["pieces"] > 1
    whole = run.built.unbroken.model
    nodes = (whole.X - [1.0, 0.5, 0.5]) * [0.7, 1.0, 1.0] + [1.0, 0.5, 0.5]
    assert model_with_rest_shapes(run.built, run.state).Dm_inverse == pytest.approx(
        shapes_of(nodes, whole.tets)[0], rel=1e-9
    )


def test_a_shape_that_turns_tets_inside_out_is_refused_by_name_and_frame(tmp_path):
    body = block((3, 3, 3))
    turned = body.vertices * [1.0, 1.0, -1.0]
    run = Run(
        tmp_path, Scene((body,), settings=FLOATING), **rest_track(body.vertices, turned, times=np.array([0.0, 1.0]))
    )
    with pytest.raises(SolveFailed) as told:
        run.advance(30)
    assert told.value.kind == "rest-shape-inverted" and "Block" in told.value.sentence
    assert 12.5 < told.value.details["frame"] <= 13.5 and told.value.details["count"] == 135


@pytest.mark.parametrize("broken", ["nan", "count"])
def test_a_track_without_numbers_is_told(tmp_path, broken):
    body = block((2, 2, 2))
    wrong = body.vertices * np.nan if broken == "nan" else body.vertices[1:]
    times = np.zeros(1)
    run = Run(tmp_path, Scene((body,), settings=FLOATING), **rest_track(wrong, times=times))
    with pytest.raises(SolveFailed) as told:
        run.advance()
    assert told.value.kind == "rest-shape-not-finite" and "Block" in told.value.sentence


@pytest.mark.slow
def test_going_on_from_a_state_gives_the_same_bits(tmp_path):
    """What a search begins with is in the state, so a resumed bake finds the same nodes."""
    body = a_ball(flesh=Flesh(motion="dynamic"))
    v = body.vertices
    shapes = [v, v * (1.0 + 0.2 * v[:, 2:]), v * (1.0 - 0.1 * v[:, :1])]
    bone = Bone("bone", "Bone", *rod(-0.5, 0.5, 0.2), distance=0.3)
    bone = replace(bone, vertices=bone.vertices - [0.0, 0.5, 0.5])
    scene = Scene((body,), settings=replace(FLOATING, substeps=2), bones=(bone,))
    through = Run(tmp_path / "a", scene, **rest_track(*shapes))
    through.advance(3)
    kept = type(through.state).from_arrays(through.state.to_arrays())
    through.advance(4)
    again = Run(tmp_path / "b", scene, **rest_track(*shapes))
    again.simulation.state = kept
    again.advance(4)
    assert np.array_equal(nodes_at_rest(through), nodes_at_rest(again))
    assert np.array_equal(through.state.x, again.state.x)
