# SPDX-License-Identifier: GPL-3.0-or-later
"""Surface detail: particles on springs that yield, their dents, and what of it is stored and drawn."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from fixtures.scenes import Run, block
from fixtures.stamps import CLAY, TET, stamped
from fixtures.tiny_bakes import baked
from sinew.solver.bake.cache import CacheReader
from sinew.solver.bake.run_bake import BakeOptions, run_bake
from sinew.solver.contact.surface_detail.particles import (
    DetailBody,
    ParticleTargets,
    depths,
    move_targets,
    stored_particles,
)
from sinew.solver.mechanics.state_fields import DETAIL_PREFIX
from sinew.solver.mesh.shapes import box
from sinew.solver.runtime.errors import BadInput
from sinew.solver.scene.flesh import Flesh
from sinew.solver.scene.meshing import Meshing
from sinew.solver.scene.scene import Body, Fracture, Scene, Settings
from sinew.solver.scene.surface_detail import SurfaceDetail
from sinew.solver.scene.tracks import TrackWriter
from sinew.solver.simulation.features.surface_dents import SurfaceDents

SOFT = SurfaceDetail(4, 4.0e-4)  # yields in a blow of 0.6 m/s
SIDE = 0.03  # of what hits the clay [m]


def detail_body(run: Run) -> DetailBody:
    feature = run.built.feature(SurfaceDents)
    assert feature is not None
    return feature.bodies[0]


def all_targets(body: DetailBody, run: Run) -> ParticleTargets:
    """Returns the targets of all particles, those where their tets have them too."""
    every = np.arange(len(body.part.rest), dtype=np.int32)
    return ParticleTargets.from_state(body, run.state).with_particles(body, every)


def test_springs_carry_the_weight_and_particles_rest_on_the_ground(tmp_path: Path) -> None:
    """Σ b (x_s − x_e) = m g, with targets in the ground and particles on it."""
    made = stamped(4, 2, detail=SurfaceDetail(2, 1.0))
    clay = replace(made.scene.bodies[0], plasticity=None)
    run = Run(tmp_path, replace(made.scene, bodies=(clay,), colliders=made.scene.colliders[1:]))
    drawn = run.advance(12)
    body, state, model = detail_body(run), run.state, run.built.model
    targets, b = all_targets(body, run), run.built.contact_points.binding_stiffness
    weight = float(model.mass.sum() * 9.81)
    assert (b @ targets.drift)[2] == pytest.approx(weight, rel=1e-3)
    below = np.flatnonzero(body.part.rest[:, 2] == 0.0)
    at = np.einsum("pa,pai->pi", targets.weights, state.x[model.tets[targets.tet]])[below, 2]
    assert at.max() < 0.0 and np.abs(at + targets.drift[below, 2]).max() < 0.05 * np.abs(at).max()
    bottom = clay.vertices[:, 2] == 0.0
    assert np.abs(drawn[bottom, 2]).max() < 0.05 * np.abs(at).max()


def strained(run: Run, seed: int) -> np.ndarray:
    random = np.random.default_rng(seed)
    x = run.built.model.X @ (np.eye(3) + random.uniform(-0.3, 0.3, (3, 3)))
    return x + random.uniform(-0.05, 0.05, x.shape) * TET


def test_targets_move_as_far_as_asked_in_the_shape_of_now(tmp_path: Path) -> None:
    run = Run(tmp_path, stamped(3, 2).scene)
    body, x = detail_body(run), strained(run, 1)
    targets = all_targets(body, run)
    inward = 0.5 * body.nodes.mean(axis=0) + [0.0, 0.0, 0.25 * TET] - body.part.rest
    which = np.arange(len(body.part.rest), dtype=np.int32)
    by = 0.1 * inward @ (np.eye(3) + 0.1)
    after = move_targets(body, targets, which, by, x)

    def places(of: ParticleTargets) -> np.ndarray:
        return np.einsum("pa,pai->pi", of.weights, x[body.tets[of.tet]])

    stays = after.tet == targets.tet  # across a face the motion in the shape of now is that in the material
    moved = (after.weights != targets.weights).any(axis=1)
    assert (stays & moved).sum() > 100 and (~stays).sum() > 20
    assert np.abs(places(after) - places(targets) - by)[stays & moved].max() < 1e-14
    crossed = after.rest_positions(body) - targets.rest_positions(body)
    own = body.tets[targets.tet]
    at_rest = np.swapaxes(body.nodes[own][:, 1:] - body.nodes[own][:, :1], 1, 2)
    now = np.swapaxes(x[own][:, 1:] - x[own][:, :1], 1, 2)
    F = now @ np.linalg.inv(at_rest)
    assert np.abs(np.einsum("pij,pj->pi", F, crossed) - by)[moved].max() < 1e-12


def test_targets_stay_in_the_material_and_above_the_largest_depth(tmp_path: Path) -> None:
    run = Run(tmp_path, stamped(3, 2, detail=SurfaceDetail(4, 0.03, 0.7)).scene)
    body, x = detail_body(run), run.state.x.copy()
    targets, which = all_targets(body, run), np.arange(len(body.part.rest), dtype=np.int32)
    outward = body.part.rest - body.nodes.mean(axis=0)
    kept = move_targets(body, targets, which, outward, x)
    assert (kept.weights == targets.weights).all() and (kept.tet == targets.tet).all()
    deep = move_targets(body, targets, which, -outward, x)
    away = np.linalg.norm(deep.rest_positions(body) - body.part.rest, axis=1)
    assert away == pytest.approx(body.max_depth)
    deeper = move_targets(body, deep, which, -outward, x)
    assert (depths(body, deeper) <= body.max_depth * (1.0 + 1e-9)).all()
    assert deeper.weights.min() > -1e-6


def test_a_stamp_leaves_its_writing_in_clay_of_six_tets_across(tmp_path: Path) -> None:
    made = stamped(6, 2)
    clay, runs = made.scene.bodies[0], []
    for number, detail in enumerate((clay.surface_detail, None)):
        scene = replace(made.scene, bodies=(replace(clay, surface_detail=detail),))
        runs.append(Run(tmp_path / str(number), scene, **made.tracks))
        runs[-1].advance(14)
    assert all(report.not_converged == report.unsettled == 0 for report in runs[0].reports)
    is_top = np.abs(clay.vertices[:, 2] - made.top) < 1e-9
    under = is_top & made.under(clay.vertices, 0.0)
    beside = is_top & ~made.under(clay.vertices, -0.3 * TET) & made.under(clay.vertices, -0.8 * TET)
    sunk = [(clay.vertices - run.render["clay"])[:, 2] for run in runs]
    assert sunk[0][under] == pytest.approx(np.full(under.sum(), 0.005), abs=1e-4)  # while the stamp is in it
    assert sunk[0][beside].max() < 5e-4
    assert np.median(sunk[1][beside]) > 1.5e-3  # without detail whole tets give way
    pressed = set(stored_particles(detail_body(runs[0]), runs[0].state).tolist())
    runs[0].advance(18)
    left = (clay.vertices - runs[0].render["clay"])[:, 2]
    assert left[under].min() > 0.0044 and left[beside].max() < 2e-4
    body = detail_body(runs[0])
    on_top = np.flatnonzero(body.part.rest[:, 2] > 0.5 * made.top)
    stored = np.intersect1d(stored_particles(body, runs[0].state), on_top)
    dented = np.flatnonzero((all_targets(body, runs[0]).weights != body.part.weights).any(axis=1))
    assert set(stored.tolist()) <= set(dented.tolist()) & pressed  # nothing of particles that the stamp has let go
    numbers = runs[0].reports[-1].bodies["clay"]
    assert 0.0044 < numbers["deepest_dent"] < 0.005 and numbers["detail_particles"] >= len(stored)


def test_dents_of_thin_bodies_end_before_their_middle(tmp_path: Path) -> None:
    made = stamped(4, 1, detail=SurfaceDetail(4, 0.03, 3.0))
    body = detail_body(Run(tmp_path, made.scene))
    inner = np.abs(body.part.rest[:, :2]).max(axis=1) < 1.9 * TET
    assert body.max_depth[inner] == pytest.approx(np.full(inner.sum(), 0.4 * TET), rel=1e-4)


def test_what_is_pressed_deeper_than_dents_may_be_bends_the_tets(tmp_path: Path) -> None:
    made = stamped(6, 2, 0.005, SurfaceDetail(4, 0.03, 0.1))
    run = Run(tmp_path, made.scene, **made.tracks)
    drawn = run.advance(14)
    vertices = made.scene.bodies[0].vertices
    under = (np.abs(vertices[:, 2] - made.top) < 1e-9) & made.under(vertices, 1e-4)
    assert (vertices - drawn)[under, 2] == pytest.approx(np.full(under.sum(), 0.005), abs=2e-4)
    assert run.reports[-1].bodies["clay"]["deepest_dent"] == pytest.approx(detail_body(run).max_depth.max())


def hit(kind: str) -> Scene:
    """Returns clay in space that something hits off its middle at 0.6 m/s."""
    made = stamped(6, 2, detail=SOFT)
    corner, velocity = (0.004 - SIDE / 2, 0.003 - SIDE / 2, made.top + 0.002), (0.1, 0.05, -0.6)
    if kind == "rigid":
        vertices, triangles = box((SIDE, SIDE, SIDE), 4, (0.004, 0.003, corner[2] + SIDE / 2))
        material = replace(CLAY.material, density=5000.0)
        other = Body(vertices, triangles, material, Meshing("rigid"), key="hit", name="Hit", initial_velocity=velocity)
    else:
        detail = SOFT if kind == "detailed" else None
        material = replace(CLAY.material, youngs_modulus=2.0e6 if detail else 1.0e8)
        other = block(
            (3, 3, 3), (SIDE,) * 3, at=corner, key="hit", material=material, initial_velocity=velocity,
            surface_detail=detail,
        )  # fmt: skip
    settings = Settings(1, 20, tolerance=1e-12, max_iterations=5000)
    return Scene((made.scene.bodies[0], other), settings=settings)


@pytest.mark.parametrize("kind", ["soft", "rigid", "detailed"])
def test_momentum_stays_when_bodies_dent_each_other(tmp_path: Path, kind: str) -> None:
    run = Run(tmp_path, hit(kind), gravity=([0.0], [np.zeros(3)]))
    mass, hitting = run.built.model.mass, run.built.model.bodies[1].nodes
    before = mass @ run.state.v
    run.advance(4)
    size = np.linalg.norm(before)
    assert np.abs(mass @ run.state.v - before).max() < 1e-9 * size
    assert np.abs(mass[hitting] @ run.state.v[hitting] - before).max() > 0.5 * size  # it was a blow
    kept = ("clay", "hit") if kind == "detailed" else ("clay",)  # the softer place of both yields
    assert max(run.reports[-1].bodies[key]["deepest_dent"] for key in kept) > 1e-3


def test_a_kept_state_goes_on_with_the_same_bytes(tmp_path: Path) -> None:
    made = stamped(4, 2)
    whole = Run(tmp_path / "whole", made.scene, **made.tracks)
    whole.advance(8)
    resumed = Run(tmp_path / "resumed", made.scene, **made.tracks)
    resumed.simulation.state = type(whole.state).from_arrays(whole.state.to_arrays())
    whole.advance(8)
    resumed.advance(8)
    names = [name for name in whole.state.fields if name.startswith(DETAIL_PREFIX)]
    assert len(names) == 4 and len(whole.state.fields["detail.clay.particle"]) > 50
    assert whole.state.x.tobytes() == resumed.state.x.tobytes()
    for name in names:
        assert whole.state.fields[name].tobytes() == resumed.state.fields[name].tobytes()
    assert whole.render["clay"].tobytes() == resumed.render["clay"].tobytes()


def bake(cache: Path, last: int, **options: bool) -> None:
    made = stamped(3, 2)
    if not options:
        made.scene.save(cache / "scene")
        writer = TrackWriter(cache / "scene")
        for name, samples in made.tracks.items():
            writer.append(name.replace("__", "."), *samples)
        writer.close()
    run_bake(cache, lambda event: None, options=BakeOptions(frame_end=last, **options))


def test_a_resumed_bake_has_the_same_bytes_and_draws_dents_again(tmp_path: Path) -> None:
    bake(tmp_path / "through", 12)
    bake(tmp_path / "stopped", 9)
    bake(tmp_path / "stopped", 12, resume=True)
    assert baked(tmp_path / "stopped") == baked(tmp_path / "through")
    bake(tmp_path / "lost", 9)
    (tmp_path / "lost" / "play" / "clay.pc2").unlink()
    bake(tmp_path / "lost", 12, resume=True)
    samples, wanted = (CacheReader(tmp_path / each).read_samples("clay", 0, 12) for each in ("lost", "through"))
    assert np.abs(samples - wanted).max() < 2e-7
    assert (wanted[0] - wanted[-1])[:, 2].max() > 0.003


@pytest.mark.parametrize(
    ("changes", "feature"),
    [
        ({"flesh": Flesh(), "plasticity": None}, "Flesh"),
        ({"plasticity": None, "fracture": Fracture()}, "Fracture"),
        ({"meshing": Meshing("rigid")}, "Rigid"),
        ({"meshing": Meshing("sheet"), "plasticity": None}, "Sheet"),
    ],
)
def test_what_it_does_not_support_is_refused_by_name(tmp_path: Path, changes: dict, feature: str) -> None:
    scene = stamped(2, 2).scene
    scene = replace(scene, bodies=(replace(scene.bodies[0], **changes),))
    with pytest.raises(BadInput, match=rf'"Clay".*(Surface Detail.*{feature}|{feature}.*Surface Detail)'):
        Run(tmp_path, scene)


def test_a_mesh_too_coarse_for_its_dents_is_told(tmp_path: Path) -> None:
    fine = stamped(2, 2).scene
    vertices, triangles = box((2 * TET, 2 * TET, 2 * TET), 1, (0.0, 0.0, TET))
    coarse = replace(fine, bodies=(replace(fine.bodies[0], vertices=vertices, triangles=triangles),))
    kinds = [
        [warning.kind for warning in Run(tmp_path / str(n), scene).built.bodies[0].warnings]
        for n, scene in enumerate((fine, coarse))
    ]
    assert "surface-detail-coarse" not in kinds[0] and "surface-detail-coarse" in kinds[1]
