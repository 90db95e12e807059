# SPDX-License-Identifier: GPL-3.0-or-later
"""Colliders and bodies that start in each other, jump, close or are no numbers: `make validate`, or

python -m pytest -s tests/validate_contact_robust.py
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from fixtures import closed_surfaces as shapes
from fixtures.claim_table import reach
from fixtures.contact_scenes import RUBBER, pinched, surface_body
from fixtures.energy_measures import kinetic_energy
from fixtures.penetration_measures import DeepestEver
from fixtures.rigid_fit import away_from_rest
from fixtures.scenes import Run, block, pose
from sinew.solver.mesh.geometry.closest_point import closest_points
from sinew.solver.mesh.geometry.triangle_bvh import build_bvh
from sinew.solver.runtime.errors import BadInput, SinewError
from sinew.solver.scene.scene import Collider, Meshing, Scene, Settings

SECTION = "Contact"
GROUND = Collider("ground", "Ground")
SOFT = replace(RUBBER, youngs_modulus=1.0e5, mass_damping=0.5)
DAMPED = replace(SOFT, stiffness_damping=0.05, mass_damping=1.0)


def height_energy(run) -> float:
    """Returns the energy of all bodies in gravity [J]."""
    return float(9.81 * run.built.model.mass @ run.state.x[:, 2])


def unexplained(run, frames: int) -> tuple[float, float]:
    """Moves on; returns how much more kinetic energy there was after the first second than gravity had given, over
    what lifts all bodies by their own height, and the fastest node ever [m/s]."""
    start, most, fastest = height_energy(run), -np.inf, 0.0
    scale = 9.81 * run.built.model.mass.sum() * np.ptp(run.state.x[:, 2])
    for frame in range(frames):
        run.advance()
        fastest = max(fastest, float(np.linalg.norm(run.state.v, axis=1).max()))
        if frame >= 23:
            most = max(most, (kinetic_energy(run) - max(start - height_energy(run), 0.0)) / scale)
    return most, fastest


def rows(name: str, run, frames: int, most_speed: float) -> None:
    """Adds the rows that all of these have."""
    more, fastest = unexplained(run, frames)
    line = f"{name}: kinetic energy after a second above what gravity gave, over m g h"
    reach(SECTION, line, f"{more:.3%}", "0.1 %", more < 1e-3)
    reach(SECTION, f"{name}: fastest node", f"{fastest:.2f} m/s", f"{most_speed:g} m/s", fastest < most_speed)


def named(problem: SinewError, *names: str) -> bool:
    """Whether a sentence names all of these."""
    return all(f'"{name}"' in str(problem) for name in names)


def ball(radius: float, at=(0.0, 0.0, 0.0), **settings) -> Collider:
    """Returns a round collider."""
    vertices, triangles = shapes.sphere(10, radius)
    return Collider("ball", "Ball", "mesh", vertices + at, triangles, **settings)


@pytest.mark.parametrize(("radius", "at"), [(0.2, (0.0, 0.0, 0.5)), (0.4, (0.35, 0.1, 0.9))], ids=["inside", "partly"])
@pytest.mark.parametrize("deforms", [False, True], ids=["rigid", "deforming"])
def test_a_collider_starts_inside_a_body(tmp_path, radius, at, deforms):
    collider = ball(radius, at)
    tracks = {"collider__ball__vertices": ([0.0], collider.vertices[None])} if deforms else {}
    body = block((6, 6, 6), at=(-0.5, -0.5, 0.0), material=SOFT)
    where = "wholly" if radius < 0.3 else "partly"
    name = f"{'deforming' if deforms else 'rigid'} ball that starts {where} inside a body"
    try:
        run = Run(tmp_path, Scene((body,), (GROUND, collider)), **tracks)
    except BadInput as problem:
        reach(SECTION, f"{name}: the sentence", f"{str(problem)[:70]}…", "names both", named(problem, "Ball", "Block"))
        return
    rows(name, run, 60, 5.0)


@pytest.mark.parametrize("deforms", [False, True], ids=["rigid", "deforming"])
def test_a_collider_jumps_into_a_body(tmp_path, deforms):
    collider = ball(0.3)
    body = block((6, 6, 6), at=(-0.5, -0.5, 0.0), material=SOFT)
    times, places = np.array([0.0, 0.5, 0.5 + 1 / 24]), np.array([[3.0, 0, 0.5], [3.0, 0, 0.5], [0.45, 0.1, 0.6]])
    if deforms:
        tracks = {"collider__ball__vertices": (times, places[:, None] + collider.vertices)}
        collider = replace(collider, vertices=collider.vertices + places[0])
    else:
        tracks = {"collider__ball__matrix": (times, [pose(move=place) for place in places], "rigid")}
    run = Run(tmp_path, Scene((body,), (GROUND, collider)), **tracks)
    rows(f"{'deforming' if deforms else 'rigid'} ball that jumps 2.5 m into a body in a frame", run, 72, 5.0)


@pytest.mark.parametrize("deforms", [False, True], ids=["rigid", "deforming"])
def test_a_collider_jumps_by_less_than_its_size(tmp_path, deforms):
    """A box of 2 m that is elsewhere by 0.5 m from one frame to the next, 0.4 m in a body."""
    vertices, triangles = shapes.cube(3)
    collider = Collider("ball", "Ball", "mesh", 2.0 * vertices, triangles)
    times, places = np.arange(8) / 24.0, np.array([[-1.6, 0.0, 1.01]] * 4 + [[-1.1, 0.0, 1.01]] * 4)
    if deforms:
        tracks = {"collider__ball__vertices": (times, places[:, None] + collider.vertices)}
        collider = replace(collider, vertices=collider.vertices + places[0])
    else:
        tracks = {"collider__ball__matrix": (times, [pose(move=place) for place in places], "rigid")}
    body = block((5, 5, 5), at=(-0.5, -0.5, 0.0), material=SOFT)
    run = Run(tmp_path, Scene((body,), (GROUND, collider)), **tracks)
    rows(f"{'deforming' if deforms else 'rigid'} box of 2 m that jumps 0.4 m into a body in a frame", run, 60, 5.0)


def test_plates_close_completely(tmp_path):
    scene, tracks = pinched(0.0, E=1.0e5)
    run = Run(tmp_path, scene, **tracks)
    X, fastest = run.state.x.copy(), 0.0
    for _ in range(132):
        run.advance()
        fastest = max(fastest, float(np.linalg.norm(run.state.v, axis=1).max()))
    finite = bool(np.isfinite(run.state.x).all())
    reach(SECTION, "plates that close completely: fastest node", f"{fastest:.1f} m/s", "30 m/s", fastest < 30.0)
    off = away_from_rest(X, run.state.x) if finite else np.inf
    reach(SECTION, "plates that close completely: away from its rest shape after", f"{off:.2%}", "2 %", off < 0.02)


@pytest.mark.parametrize("kind", ["matrix", "vertices"])
def test_no_numbers_in_the_animation_of_a_collider(tmp_path, kind):
    collider = ball(0.3, (0.0, 0.0, 2.0) if kind == "vertices" else (0.0, 0.0, 0.0))
    times = np.arange(25) / 24.0
    values = np.repeat((collider.vertices if kind == "vertices" else pose(move=(0, 0, 2.0)))[None], 25, axis=0)
    values[12, 0, 0] = np.nan
    track = (times, values) if kind == "vertices" else (times, values, "rigid")
    text = ""
    try:
        run = Run(tmp_path, Scene((block(),), (collider,)), **{f"collider__ball__{kind}": track})
        run.advance(24)
    except SinewError as problem:
        text = str(problem)
    line = f"no number in the {kind} of a collider at frame 13"
    holds = '"Ball"' in text and "frame 13" in text
    reach(SECTION, line, f"{text[:70]}…" if text else "no error", "names both", holds)


@pytest.mark.parametrize("by", [0.1, 0.5, 1.0])
def test_two_bodies_start_overlapped(tmp_path, by):
    bodies = tuple(
        block((4, 4, 4), at=(i * (1.0 - by) - 0.5, -0.5 + 0.1 * i, 0.0), key=key, material=SOFT)
        for i, key in enumerate(("a", "b"))
    )
    name = f"two bodies of 1 m that start overlapped by {by:.0%}"
    try:
        run = Run(tmp_path, Scene(bodies, (GROUND,)))
        more, fastest = unexplained(run, 96)
    except SinewError as problem:
        reach(SECTION, f"{name}: the sentence", f"{str(problem)[:70]}…", "names both", named(problem, "A", "B"))
        return
    ever = DeepestEver(run)
    ever.look(run)
    told = any(body.warnings for body in run.built.bodies)
    line = f"{name}: kinetic energy after a second above what gravity gave, over m g h"
    reach(SECTION, line, f"{more:.3%}", "0.1 %", more < 1e-3)
    reach(SECTION, f"{name}: fastest node", f"{fastest:.2f} m/s", "3 m/s", fastest < 3.0)
    reach(SECTION, f"{name}: left in each other after four seconds", ever, "1 %", ever.depth < 0.01 or told)


@pytest.mark.parametrize("E", [3.0e4, 1.0e6])
@pytest.mark.parametrize("by", [0.1, 0.3, 0.5])
def test_two_bodies_start_overlapped_without_gravity(tmp_path, by, E):
    bodies = tuple(
        block((4, 4, 4), at=(i * (1.0 - by), 0.1 * i, 0.0), key=key, material=replace(RUBBER, youngs_modulus=E))
        for i, key in enumerate(("a", "b"))
    )
    run = Run(tmp_path, Scene(bodies, (), Settings(gravity=(0.0, 0.0, 0.0))))
    run.advance(96)
    ever, mass = DeepestEver(run), run.built.model.mass
    ever.look(run)
    own = [(mass[b.range.nodes] @ run.state.v[b.range.nodes]) / mass[b.range.nodes].sum() for b in run.built.bodies]
    speed = float(np.linalg.norm(own[1] - own[0]))
    name = f"two bodies of 1 m, E = {E:g} Pa, that start overlapped by {by:.0%} without gravity, after four seconds"
    reach(SECTION, f"{name}: speed apart", f"{1e3 * speed:.1f} mm/s", "20 mm/s", speed < 0.02)
    reach(SECTION, f"{name}: in each other", ever, "1 %", ever.depth < 0.01)


@pytest.mark.parametrize(("stiffness", "cells"), [(1.0e4, 1), (1.0e-4, 1), (1.0, 10), (1.0e4, 10), (1.0e-4, 10)])
def test_bodies_of_different_stiffness_and_tets(tmp_path, stiffness, cells):
    """A box of 0.5 m falls on one of 1 m, whose tets are of 0.5 m."""
    E = 3.0e4 * np.array([max(1.0 / stiffness, 1.0), max(stiffness, 1.0)])
    below, above = (
        block((count,) * 3, (size,) * 3, at=at, key=key, material=replace(DAMPED, youngs_modulus=float(each)))
        for key, count, size, at, each in (
            ("below", 2, 1.0, (-0.5, -0.5, 0.0), E[0]), ("above", cells, 0.5, (-0.22, -0.27, 1.1), E[1])
        )
    )  # fmt: skip
    run = Run(tmp_path, Scene((below, above), (GROUND,)))
    ever = DeepestEver(run)
    for _ in range(72):
        run.advance()
        ever.look(run)
    tets = [body.mesh.report.tet_size for body in run.built.bodies]
    speed = float(np.linalg.norm(run.state.v, axis=1).max())
    name = f"stiffness 1 : {stiffness:g}, tet size {tets[0] / tets[1]:.0f} : 1"
    reach(SECTION, f"{name}: deepest in each other", ever, "1 %", ever.depth < 0.01)
    reach(SECTION, f"{name}: speed after three seconds", f"{1e3 * speed:.1f} mm/s", "20 mm/s", speed < 0.02)
    steps = sum(report.not_converged for report in run.reports)
    reach(SECTION, f"{name}: steps that did not converge", f"{steps} of {4 * len(run.reports)}", "3", steps <= 3)


def test_no_gap_is_seen_where_tets_are_coarser_than_the_surface(tmp_path):
    """A fine ball of coarse tets lies on a fine, coarse-tet block: its lowest vertex is at the block's surface."""
    vertices, triangles = shapes.sphere(16, 0.3)
    tet = 0.2
    lower, faces = shapes.cube(12)
    fine = surface_body(
        "ball", vertices + [0.02, 0.03, 0.81], triangles, material=replace(SOFT, youngs_modulus=3e5),
        meshing=Meshing(tet_size=tet),
    )  # fmt: skip
    under = surface_body(
        "under", lower * [1.2, 1.2, 0.5] + [0, 0, 0.25], faces, material=SOFT, meshing=Meshing(tet_size=tet)
    )
    run = Run(tmp_path, Scene((fine, under), (GROUND,)))
    ever = DeepestEver(run)
    for _ in range(72):
        run.advance()
        ever.look(run)
    bvh = build_bvh(run.render["under"], faces)
    gap = float(closest_points(bvh, run.render["ball"]).distance.min())
    ground = float(run.render["under"][:, 2].min())
    name = f"fine surfaces on tets of {tet} m, at rest"
    reach(SECTION, f"{name}: gap between them", f"{1e3 * gap:.2f} mm", f"{500 * tet:g} mm", gap < 0.5 * tet)
    reach(SECTION, f"{name}: deepest in each other on the way", ever, "1 %", ever.depth < 0.01)
    reach(SECTION, f"{name}: above the ground", f"{1e3 * ground:.2f} mm", "half a tet", abs(ground) < 0.5 * tet)
