# SPDX-License-Identifier: GPL-3.0-or-later
"""Brittle bodies that pins hold: static stress on supports, cracks up to these, pieces that stay or fly."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import sinew
from fixtures.brittle_bodies import ball_on, brittle, disc_tets, glass_solid, pane_tets
from fixtures.brittle_scenes import held_pane, hit_pane
from fixtures.rigid_bodies import rigid_box
from fixtures.scenes import rotation
from sinew.solver.brittle.break_body import Breakage, break_body
from sinew.solver.brittle.brittle_body import BrittleBody
from sinew.solver.brittle.cracked_mesh import CrackedMesh, whole_mesh
from sinew.solver.brittle.held_tets import divide_held_tets
from sinew.solver.brittle.inertia_relief import PlacedForces, balanced_load
from sinew.solver.brittle.piece_stress import piece_mass, piece_stress
from sinew.solver.brittle.rigid_mass import RigidMotion
from sinew.solver.brittle.static_equilibrium import equilibrium_solver
from sinew.solver.mesh.shapes import box_tets
from sinew.solver.runtime.arrays import Bools, Floats
from sinew.solver.scene.scene import Scene, Settings
from sinew.solver.scene.tracks import MemoryTracks
from sinew.solver.simulation.brittle import broken_piece
from sinew.solver.simulation.brittle.piece_pins import nearest_rotation_of
from sinew.solver.simulation.simulation import Simulation

STILL = RigidMotion(np.zeros(3), np.zeros(3))


def held_where(nodes: Floats, tets: np.ndarray, is_held: Callable[[Floats], Bools], **settings: Any) -> BrittleBody:
    """Returns a body of glass whose tets with middles at some places are held."""
    return replace(brittle(nodes, tets, **settings), is_held=is_held(nodes[tets].mean(axis=1)))


def push(body: BrittleBody, place: tuple[float, float, float], force: tuple[float, float, float]) -> PlacedForces:
    corner = int(np.argmin(np.linalg.norm(body.nodes - np.asarray(place), axis=1)))
    tet, which = (int(each[0]) for each in np.nonzero(body.tets == corner))
    return PlacedForces(np.array([tet], np.int32), np.eye(4)[[which]], np.array([force]))


@pytest.mark.slow
def test_a_clamped_plate_bends_as_plates_do() -> None:
    """w = F / 16πD (a² − r² + 2 r² ln(r/a)) and Mᵣ = F / 4π ((1 + ν) ln(a/r) − 1): Timoshenko."""
    rings, radius, thickness, force = 12, 0.18, 0.008, 500.0
    rim = radius * (rings - 1) / rings
    body = held_where(*disc_tets(rings, radius, thickness), lambda at: np.hypot(at[:, 0], at[:, 1]) > 0.98 * rim)
    tets = np.arange(len(body.tets), dtype=np.int32)
    found = piece_stress(whole_mesh(body), tets, push(body, (0.0, 0.0, 0.004), (0.0, 0.0, -force)), 1e-8)
    nu, E = body.material.poisson_ratio, body.material.youngs_modulus
    D = E * thickness**3 / (12.0 * (1.0 - nu**2))
    corners = found.solid.mesh.nodes[: found.solid.mesh.corner_count]
    r = np.hypot(corners[:, 0], corners[:, 1])
    at = (r > 0.2 * rim) & (r < 0.8 * rim) & (np.abs(corners[:, 2]) < 1e-9)
    sag = force / (16.0 * np.pi * D) * (rim**2 - r[at] ** 2 + 2.0 * r[at] ** 2 * np.log(r[at] / rim))
    w = -found.displacements[: len(corners)][at, 2]
    assert np.abs(w - sag).max() < 0.05 * sag.max()
    at = (r > 0.2 * rim) & (r < 0.8 * rim) & (corners[:, 2] < -0.49 * thickness)
    stress = found.solid.nodal_stress(found.corner_stress)[at]
    x, y = corners[at, 0] / r[at], corners[at, 1] / r[at]
    radial = x * x * stress[:, 0] + y * y * stress[:, 1] + 2.0 * x * y * stress[:, 3]
    wanted = 6.0 / thickness**2 * force / (4.0 * np.pi) * ((1.0 + nu) * np.log(rim / r[at]) - 1.0)
    assert float(np.sqrt(np.mean((radial - wanted) ** 2))) < 0.05 * np.abs(wanted).max()


def test_the_solve_on_supports_is_that_of_a_dense_one() -> None:
    nodes, tets = pane_tets(3, 0.1, 0.02, 1)
    solid, mass = glass_solid(nodes, tets)
    is_held = np.zeros(len(solid.mesh.nodes), bool)
    is_held[solid.mesh.tets[nodes[tets].mean(axis=1)[:, 0] < -0.02]] = True
    forces = PlacedForces(
        np.array([3, 40], np.int32), np.full((2, 4), 0.25), np.array([[9.0, 5.0, 7.0], [3.0, -8.0, 1.0]])
    )
    load = balanced_load(solid, replace(mass, is_held=True), forces)
    assert load.sum(axis=0) == pytest.approx(forces.force.sum(axis=0))  # the supports bear all of it
    u = equilibrium_solver(solid, is_held).solve(load, 1e-10)
    free = np.flatnonzero(np.repeat(~is_held, 3))
    K = solid.stiffness().toarray()
    wanted = np.zeros(load.size)
    wanted[free] = np.linalg.solve(K[np.ix_(free, free)], load.ravel()[free])
    assert np.abs(u.displacements.ravel() - wanted).max() < 1e-6 * np.abs(wanted).max()
    assert u.relative_residual <= 1e-10 and not u.displacements[is_held].any()


def test_a_clamped_beam_has_its_largest_stress_at_the_clamp() -> None:
    """6 F L / b h² there, which a mean over held tets, that have no stress, would halve."""
    nodes, tets = box_tets((26, 2, 2), (0.26, 0.02, 0.02))
    body = held_where(nodes, tets, lambda at: at[:, 0] < 0.02)
    every = np.arange(len(tets), dtype=np.int32)
    found = piece_stress(whole_mesh(body), every, push(body, (0.26, 0.01, 0.02), (0.0, 0.0, -10.0)), 1e-8)
    corners = found.solid.mesh.nodes[: found.solid.mesh.corner_count]
    at_clamp = (np.abs(corners[:, 0] - 0.02) < 1e-9) & (corners[:, 2] > 0.0199)
    assert found.nodal[0][at_clamp, 2].mean() == pytest.approx(6.0 * 10.0 * 0.24 / 0.02**3, rel=0.2)
    away = (np.abs(corners[:, 0] - 0.1) < 1e-9) & (corners[:, 2] > 0.0199)
    assert found.nodal[0][away, 2].mean() == pytest.approx(6.0 * 10.0 * 0.16 / 0.02**3, rel=0.05)
    assert not found.overload[body.is_held].any()


def held_pane_body() -> BrittleBody:
    return held_where(*pane_tets(8, 0.2, 0.01), lambda at: np.abs(at[:, :2]).max(axis=1) > 0.075)


@pytest.fixture(scope="module")
def broken_pane() -> tuple[BrittleBody, Breakage]:
    body = held_pane_body()
    return body, break_body(body, [ball_on(body, (0.0, 0.0, 0.005), (0.1, 0.0, -1.0), 8.0)], STILL)


@pytest.mark.slow
def test_what_pins_take_and_what_flies_on_is_what_hits_gave(broken_pane: tuple[BrittleBody, Breakage]) -> None:
    _, made = broken_pane
    free = [piece for piece in made.pieces if not piece.mass.is_held]
    held = [piece for piece in made.pieces if piece.mass.is_held]
    assert len(free) > 1 and held
    momenta = np.sum([piece.mass.momenta(piece.motion, np.zeros(3)) for piece in free], axis=0)
    assert np.abs(momenta[0] + made.pin_impulse - made.impulses.sum(axis=0)).max() < 1e-12
    assert np.abs(momenta[1] + made.pin_moment - made.impulse_moments.sum(axis=0)).max() < 1e-12
    assert np.linalg.norm(made.pin_impulse) > 0.0
    for piece in held:
        assert not piece.motion.velocity.any() and not piece.motion.angular_velocity.any()
    energy = sum(piece.mass.kinetic_energy(piece.motion) for piece in free)
    left = np.array([0.8, 0.0, -8.0]) / np.hypot(0.1, 1.0) - made.impulses.sum(axis=0) / 0.1
    start = 0.5 * 0.1 * 64.0
    assert energy + 0.05 * left @ left + made.released_energy + made.freed_energy <= start * (1.0 + 1e-9)


def test_a_held_body_that_does_not_break_takes_the_whole_hit() -> None:
    body = held_pane_body()
    hit = ball_on(body, (0.0, 0.0, 0.005), (0.0, 0.0, -1.0), 0.2)
    made = break_body(body, [hit], STILL)
    assert len(made.pieces) == 1 and made.pieces[0].mass.is_held and made.first_crack_share > 1.0
    assert made.pieces[0].mass.inverse_effective_mass(hit.place(body), hit.direction) == 0.0


def test_held_tets_go_with_the_nearest_part_of_what_cracks_have_divided() -> None:
    nodes, tets = pane_tets(8, 0.2, 0.02, 1)
    body = held_where(nodes, tets, lambda at: np.abs(at[:, 1]) > 0.05)
    x, across = nodes[tets].mean(axis=1)[:, 0], body.neighbours.tet
    is_cut = (across >= 0) & ((x > 0.0)[:, None] != (x > 0.0)[np.maximum(across, 0)])
    free_only = is_cut & ~body.is_held[:, None] & ~body.is_held[np.maximum(across, 0)]
    assert CrackedMesh(body, free_only).piece_count == 1  # the held rims keep both halves together
    made = divide_held_tets(CrackedMesh(body, free_only))
    assert made.piece_count == 2
    for part in range(2):
        assert piece_mass(made, np.flatnonzero(made.piece == part).astype(np.int32)).is_held
    halves = np.stack([np.bincount(made.piece[side], minlength=2) for side in (x < -0.03, x > 0.03)])
    assert np.count_nonzero(halves) == 2  # away from the crack each half is one piece
    twice = divide_held_tets(made)
    assert twice is made
    whole = whole_mesh(body)
    assert divide_held_tets(whole) is whole


def test_the_least_turn_is_taken_where_points_do_not_tell_one() -> None:
    points = np.array([[0.1, 0.0, 0.0], [0.3, 0.0, 0.0]])
    R = rotation((0.0, 0.0, 1.0), 0.4)
    assert nearest_rotation_of(points, points @ R.T) == pytest.approx(R, abs=1e-6)
    assert np.array_equal(nearest_rotation_of(points[:1], points[:1] + 1.0), np.eye(3))
    spread = np.random.default_rng(2).normal(size=(5, 3))
    turn = rotation((1.0, 2.0, -1.0), 2.2)
    assert nearest_rotation_of(spread, spread @ turn.T) == pytest.approx(turn, abs=1e-7)


def pieces_of(simulation: Simulation) -> Any:
    assert simulation.built.pieces is not None
    return simulation.built.pieces.bodies[0]


@pytest.mark.slow
def test_a_held_pane_stays_where_it_is_until_it_breaks_and_what_holds_it_takes_the_momentum() -> None:
    simulation = Simulation(hit_pane(12.0))
    simulation.start()
    while pieces_of(simulation).cracked.piece_count == 1:
        assert np.array_equal(simulation.state.x[:4], simulation.built.model.X[:4])
        before = simulation.built.model.mass @ simulation.state.v
        made: list[Breakage] = []
        whole = broken_piece.break_into

        def noted(*given: Any, made: list[Breakage] = made, whole: Any = whole) -> Breakage:
            made.append(whole(*given))
            return made[-1]

        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(broken_piece, "break_into", noted)
            simulation.step()
    body, state, mass = pieces_of(simulation), simulation.state, simulation.built.model.mass
    after = mass @ state.v
    assert len(made) == 1
    # the box gives its momentum to the free pieces and to the pins, and nothing else comes or goes
    assert np.abs(before + made[0].pin_impulse * -1.0 - after).max() < 1e-9 * np.abs(before).max()
    is_held = np.array([each.is_held for each in body.masses])
    assert is_held.any() and not is_held.all()
    for piece in np.flatnonzero(is_held):
        nodes = slice(4 * piece, 4 * piece + 4)
        assert np.abs(state.v[nodes]).max() < 1e-12
    simulation.step()
    now = pieces_of(simulation)
    for piece, each in enumerate(now.masses):
        if each.is_held:
            nodes = slice(4 * piece, 4 * piece + 4)
            assert np.abs(simulation.state.x[nodes] - now.corners[piece]).max() < 1e-12


@pytest.mark.slow
def test_the_load_at_the_first_crack_of_a_held_pane_is_the_same_for_any_substeps(monkeypatch: Any) -> None:
    loads: dict[int, float] = {}
    whole = broken_piece.break_into
    for substeps in (1, 2, 4, 8, 16):

        def noted(*given: Any, substeps: int = substeps) -> Any:
            made = whole(*given)
            loads.setdefault(substeps, made.first_crack_share * float(made.peak_forces.max()))
            return made

        monkeypatch.setattr(broken_piece, "break_into", noted)
        simulation = Simulation(hit_pane(1.0, substeps=substeps))  # which breaks nothing, and is told all the same
        simulation.start()
        while substeps not in loads:
            simulation.step()
    assert max(loads.values()) / min(loads.values()) < 1.05, loads


def test_a_whole_pane_moves_as_its_pins_do_and_falls_when_they_let_go() -> None:
    body = held_pane()
    times = np.arange(13) / 24.0
    turns = [rotation((0.3, 1.0, 0.2), 1.5 * time) for time in times]
    targets = np.stack(
        [body.vertices[body.pinned] @ R.T + [time, 0.0, 0.0] for R, time in zip(turns, times, strict=True)]
    )
    holds = np.where(times < 0.3, 1000.0, 0.0)
    tracks = MemoryTracks({"body.glass.targets": (times, targets), "body.glass.pin_stiffness": (times, holds)}, {})
    simulation = Simulation(Scene((body,), (), Settings(frame_end=13, substeps=1)), tracks)
    simulation.start()
    for frame in range(1, 7):
        simulation.step()
        wanted = body.vertices @ turns[frame].T + [times[frame], 0.0, 0.0]
        assert np.abs(simulation.positions()["glass"] - wanted).max() < 1e-9
    height = simulation.positions()["glass"][:, 2].mean()
    for _ in range(5):
        simulation.step()
    moved = simulation.positions()["glass"].mean(axis=0)
    assert moved[2] < height - 0.05 and moved[0] > times[8]  # with the speed that its pins had


@pytest.mark.slow
def test_a_bake_of_a_held_pane_that_was_cut_off_has_the_same_bytes(tmp_path: Path) -> None:
    scene = hit_pane(12.0, frames=5, gravity=(0.0, 0.0, -9.81))
    whole = sinew.bake(scene, tmp_path / "whole.sinew")
    for last in (1, 3):
        first = replace(scene, settings=replace(scene.settings, frame_end=last))
        sinew.bake(first, tmp_path / "parts.sinew", resume=last > 1)
    parts = sinew.bake(scene, tmp_path / "parts.sinew", resume=True)
    for frame in range(1, 6):
        assert np.array_equal(whole.read_frame(frame).x, parts.read_frame(frame).x)
    results = [(tmp_path / name / "result" / "glass.pc2").read_bytes() for name in ("whole.sinew", "parts.sinew")]
    assert results[0] == results[1]


def test_a_held_rigid_body_does_not_move_when_another_one_falls_on_it() -> None:
    """Contacts that sank were lifted with the held body as if it were free."""
    plate = rigid_box((0.3, 0.3, 0.02), (0.0, 0.0, 0.0), key="plate", animated=True)
    turn = rotation((1.0, -1.0, 0.0), 0.955)
    ball = rigid_box((0.04, 0.04, 0.04), (0.01, 0.005, 0.06), turn, initial_velocity=(0.0, 0.0, -12.0))
    simulation = Simulation(Scene((plate, ball), (), Settings(frame_end=3)))
    simulation.start()
    for _ in range(8):
        simulation.step()
        assert np.abs(simulation.state.v[:4]).max() < 1e-9
