# SPDX-License-Identifier: GPL-3.0-or-later
"""Surface detail under Exact contact: dents grow within a step, and what is drawn of them never intersects anything."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from fixtures.exact_checks import advance_and_count
from fixtures.scenes import Run, block
from fixtures.stamps import GAP, TET, StampScene, stamped
from sinew.solver.contact.exact.pair_search import PairSearch
from sinew.solver.contact.surface_detail.particles import ParticleTargets, depths
from sinew.solver.mechanics.state import State
from sinew.solver.mesh.geometry.triangle_intersections import surface_intersections
from sinew.solver.mesh.shapes import box
from sinew.solver.runtime.arrays import Floats
from sinew.solver.runtime.threads.thread_count import using_threads
from sinew.solver.scene.scene import Body, Material, Scene, Settings
from sinew.solver.scene.surface_detail import SurfaceDetail
from sinew.solver.simulation.exact_contact.exact_dents import YieldingDents, with_dents
from sinew.solver.simulation.features.surface_dents import SurfaceDents
from sinew.solver.simulation.simulation import Simulation

DEPTH = 0.004  # of the stamp [m]
STAMP = 0.044  # its side [m]; vertices of the clay are 5 mm apart
WEIGHTLESS = Settings(contact="exact", gravity=(0.0, 0.0, 0.0), frame_end=40)


def pressed(contact: str = "exact") -> StampScene:
    """Returns clay of 80 mm, and a square that presses it down and goes up again."""
    made = stamped(4, 2, DEPTH)
    vertices, triangles = box((STAMP, STAMP, 0.02), 1, (0.0, 0.0, made.top + GAP + 0.01))
    stamp = replace(made.scene.colliders[0], vertices=vertices, triangles=triangles)
    settings = replace(made.scene.settings, contact=contact)
    return replace(made, scene=replace(made.scene, colliders=(stamp, made.scene.colliders[1]), settings=settings))


def run_of(folder: Path, made: StampScene) -> Run:
    return Run(folder, made.scene, **made.tracks)


def intersections(run: Run) -> int:
    """Returns how many triangles of what is drawn and of the stamp intersect, and vertices are below the ground."""
    clay, stamp = run.scene.bodies[0], run.scene.colliders[0]
    at = run.tracks.sample("collider.stamp.matrix", run.state.time)[:3, 3]
    drawn = run.simulation.positions()["clay"]
    meshes = {"clay": (drawn, clay.triangles), "stamp": (stamp.vertices + at, stamp.triangles)}
    return len(surface_intersections(meshes)) + int((drawn[:, 2] < 0.0).sum())


def deepest(run: Run, number: int = 0) -> float:
    """Returns the depth of the deepest dent of a body with surface detail [m]."""
    body = run.built.feature(SurfaceDents).bodies[number]
    return float(depths(body, ParticleTargets.from_state(body, run.state)).max(initial=0.0))


def sunk(run: Run, drawn: Floats) -> Floats:
    """Returns how deep vertices under the middle of the stamp are [m]."""
    at = run.scene.bodies[0].vertices
    under = (np.abs(at[:, :2]).max(axis=1) < 0.25 * STAMP) & (at[:, 2] > 2.0 * TET - 1e-9)
    return (at - drawn)[under, 2]


@pytest.mark.slow
@pytest.mark.long
def test_a_stamp_leaves_a_dent_and_intersects_nothing_that_is_drawn(tmp_path: Path) -> None:
    run, found = run_of(tmp_path / "exact", pressed()), []
    run.advance(13, before_step=lambda: found.append(intersections(run)))
    assert len(found) == 52 and sum(found) == 0 == intersections(run)
    assert not any(report.unsettled or report.let_in for report in run.reports)
    gap, held = run.built.exact_contact.options.barrier.gap, sunk(run, run.render["clay"])
    assert DEPTH < held.min() and held.max() < DEPTH + 1.25 * gap  # 1 gap before it was seen: it begins ¼ gap higher
    run.advance(11)
    left = sunk(run, run.render["clay"])
    fast = run_of(tmp_path / "fast", pressed("fast"))
    fast.advance(24)
    assert np.abs(left - sunk(fast, fast.render["clay"])).max() < 1.5 * gap
    assert (
        deepest(fast) < deepest(run) < 1.5 * DEPTH
    )  # faces go around its edges; within a fifth of Fast's was asked first


def test_what_touches_nothing_is_where_fast_contact_has_it(tmp_path: Path) -> None:
    ends, gap = [], 0.0
    for contact in ("exact", "fast"):
        made = pressed(contact)
        clay = replace(made.scene.bodies[0], pinned=np.arange(4, dtype=np.int32), pin_weights=np.ones(4))
        run = Run(tmp_path / contact, replace(made.scene, bodies=(clay,), colliders=()))
        run.advance(4)
        ends.append(run.render["clay"])
        gap = run.built.exact_contact.options.barrier.gap if contact == "exact" else gap
    assert np.abs(ends[0] - clay.vertices).max() > gap
    assert np.abs(ends[0] - ends[1]).max() < 0.05 * gap


def hitting(folder: Path) -> Run:
    """Returns clay with surface detail in space that a small hard cube hits at 3 m/s."""
    clay = stamped(4, 2, detail=SurfaceDetail(4, 4e-3)).scene.bodies[0]
    hard = Material(2.0e7, 0.3, 4000.0, stiffness_damping=0.01)
    ball = block((2, 2, 2), (0.03,) * 3, (-0.012, -0.016, 2.0 * TET + 0.006), key="ball", material=hard)
    run = Run(folder, Scene((clay, ball), (), WEIGHTLESS))
    run.state.v[run.built.model.bodies[1].nodes, 2] = -3.0
    return run


@pytest.mark.slow
def test_a_fast_hit_leaves_a_dent_and_keeps_momentum(tmp_path: Path) -> None:
    run = hitting(tmp_path)
    mass = run.built.model.mass
    before = mass @ run.state.v
    assert advance_and_count(run, 11) == 0
    # in the step of the impact the dent is not as deep yet as it gets; 0 before steps told that
    assert deepest(run) > 2.0e-4 and sum(report.unsettled for report in run.reports) <= 1
    assert np.abs(mass @ run.state.v - before).max() < 1e-9 * np.abs(before).max()


@pytest.mark.slow
def test_dents_give_the_same_bytes_after_resume_and_with_two_threads(tmp_path: Path) -> None:
    run = run_of(tmp_path, pressed())
    with using_threads(1):
        run.advance(5)
        arrays = {name: values.copy() for name, values in run.state.to_arrays().items()}
        run.advance(2)
    state = State.from_arrays(arrays)
    again = Simulation(run.scene, run.tracks, run.built, state)
    with using_threads(2):
        for _ in range(2):
            again.advance()
    assert deepest(run) > 5e-4
    first, second = run.state.to_arrays(), again.state.to_arrays()
    assert first.keys() == second.keys()
    assert all(first[name].tobytes() == second[name].tobytes() for name in first)


@pytest.mark.slow
def test_a_particle_that_would_go_into_something_stops_before_it(tmp_path: Path) -> None:
    run = run_of(tmp_path, pressed())
    run.advance(8)
    surfaces, model, state = run.built.exact_contact, run.built.model, run.state
    dents = run.built.feature(SurfaceDents)
    held = (None, state.x)
    bound, motion = surfaces.motion(run.tracks, state.time, state.time, held)
    bound = with_dents(bound, surfaces, dents, model, state)
    y = bound.positions(state.x, motion.end)
    drawn = run.simulation.positions()["clay"]
    used = np.unique(run.scene.bodies[0].triangles)
    np.testing.assert_allclose(y[used], drawn[used], atol=1e-15)  # what is kept apart is what is drawn
    yielding = YieldingDents(run.simulation, surfaces, dents, model)
    own, before = yielding._bodies[0], yielding.targets["clay"]
    by = np.zeros((len(own.body.part.rest), 3))
    by[before.particle, 2] = 2e-3  # upwards, through the stamp
    search = PairSearch(bound.mesh, surfaces.options.barrier.gap, 1e-3, begin=y)
    now = yielding._give_way(own, by, bound, search, state.x, motion.end)
    assert now is not bound
    way = (now.positions(state.x, motion.end) - y)[own.vertices, 2].max()
    yielding.store(state)
    assert 0.0 < way < 1e-3 and intersections(run) == 0


def test_bodies_with_seams_have_one_particle_for_all_vertices_at_a_place(tmp_path: Path) -> None:
    made = pressed()
    clay: Body = made.scene.bodies[0]
    split = clay.vertices[clay.triangles].reshape(-1, 3)  # three vertices for each face
    apart = replace(clay, vertices=split, triangles=np.arange(len(split), dtype=np.int32).reshape(-1, 3))
    whole, seams = (
        Run(tmp_path / name, replace(made.scene, bodies=(body,)), **made.tracks).built.exact_contact.bound
        for name, body in (("whole", clay), ("seams", apart))
    )
    own = [np.flatnonzero(bound.tet >= 0) for bound in (whole, seams)]
    areas = [bound.mesh.point_area[rows].sum() for bound, rows in zip((whole, seams), own, strict=True)]
    assert areas[0] == pytest.approx(areas[1], rel=1e-9)
    assert SurfaceDetail().particles_per_tet == 4 and len(own[1]) > len(own[0])


@pytest.mark.slow
@pytest.mark.long
def test_a_step_in_which_more_would_give_way_is_told_as_unsettled(tmp_path: Path) -> None:
    made, ends = pressed(), {}
    for most in (0, 40):
        run = run_of(tmp_path / str(most), made)
        surfaces = run.built.exact_contact
        object.__setattr__(surfaces, "options", replace(surfaces.options, max_yields=most))
        run.advance(7)
        ends[most] = sum(report.unsettled for report in run.reports)
    assert ends[40] == 0 < ends[0]
