# SPDX-License-Identifier: GPL-3.0-or-later
"""Brittle bodies move as rigid ones, and fall apart where hits break them."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import sinew
from fixtures.brittle_scenes import GLASS_FRACTURE, SCRATCHED_GLASS, dropped_slab, glass_box
from fixtures.rigid_bodies import FLOOR, rigid_box
from sinew.solver.brittle import static_equilibrium
from sinew.solver.live.live_run import LiveRun
from sinew.solver.runtime.arrays import Floats
from sinew.solver.runtime.errors import BadInput, SolveFailed
from sinew.solver.scene.rigid_core import Core
from sinew.solver.scene.scene import Fracture, Meshing, Scene, Settings
from sinew.solver.scene.tracks import MemoryTracks
from sinew.solver.scene.validation import check_scene
from sinew.solver.simulation.brittle import body_in_pieces, break_pieces, broken_piece
from sinew.solver.simulation.brittle.motions_after_breaking import largest_share
from sinew.solver.simulation.simulation import Simulation
from sinew.solver.simulation.tet_face_separation import pieces_at_limit

GRAVITY = 9.81


def run(scene: Scene) -> Simulation:
    simulation = Simulation(scene)
    for _ in simulation.run():
        pass
    return simulation


def piece_count(simulation: Simulation) -> int:
    assert simulation.built.pieces is not None
    return simulation.built.pieces.bodies[0].cracked.piece_count


def momentum(simulation: Simulation) -> tuple[Floats, Floats]:
    mass, state = simulation.built.model.mass, simulation.state
    return mass @ state.v, mass @ np.cross(state.x, state.v)


def energy(simulation: Simulation, gravity: float = 0.0) -> float:
    mass, state = simulation.built.model.mass, simulation.state
    return float(0.5 * mass @ (state.v**2).sum(axis=1) + gravity * mass @ state.x[:, 2])


@pytest.mark.slow
def test_glass_is_whole_after_a_fall_of_five_millimetres_and_in_pieces_after_one_of_three_metres() -> None:
    assert piece_count(run(dropped_slab(0.005))) == 1
    assert piece_count(run(dropped_slab(3.0, frames=3))) > 1


def test_what_rests_is_never_solved_for_stress(monkeypatch: pytest.MonkeyPatch) -> None:
    def never(*_: Any) -> None:
        raise AssertionError("a stress was solved")

    monkeypatch.setattr(broken_piece, "break_into", never)
    box = glass_box((0.2, 0.12, 0.03), (0.0, 0.0, 0.015), np.eye(3))
    simulation = run(Scene((box,), (FLOOR,), Settings(frame_end=20)))
    assert np.abs(simulation.state.v).max() < 1e-3


def test_a_whole_body_moves_as_a_rigid_one() -> None:
    body = replace(glass_box((0.2, 0.12, 0.03), (0.0, 0.0, 1.0)), initial_spin=(3.0, 1.0, 2.0))
    rigid = replace(body, fracture=None)
    ends = [run(Scene((each,), (), Settings(frame_end=12))).positions()["glass"] for each in (body, rigid)]
    # the inertia of tets that stick out of the surface is a little larger; 2.6 mm were seen before the bound was set
    assert np.abs(ends[0] - ends[1]).max() < 4e-3


def two_in_the_air(speed: float) -> Scene:
    """Returns a slab of glass at rest and a heavy ball-like box that flies at it, without gravity."""
    slab = glass_box((0.2, 0.2, 0.03), (0.0, 0.0, 0.0), np.eye(3))
    box = rigid_box((0.06, 0.06, 0.06), (0.02, 0.01, 0.1), key="box", initial_velocity=(0.0, 0.0, -speed))
    return Scene((slab, box), (), Settings(frame_end=8, gravity=(0.0, 0.0, 0.0)))


def test_momentum_stays_and_energy_never_grows_where_a_body_is_hit() -> None:
    simulation = Simulation(two_in_the_air(20.0))
    simulation.start()
    before, available = momentum(simulation), energy(simulation)
    first = available
    while simulation.frame < 8:
        step = simulation.step()
        assert step.settled
        now = momentum(simulation)
        assert np.abs(now[0] - before[0]).max() < 1e-9 * np.abs(before[0]).max()
        assert energy(simulation) <= available + 1e-8 * first  # contacts of a later step bring 1e-9 of it
        available = energy(simulation)
    assert piece_count(simulation) > 1


def test_breaking_keeps_angular_momentum() -> None:
    """The momenta of both bodies before the step, where the step has brought them: the hit is at these places."""
    simulation = Simulation(two_in_the_air(20.0))
    simulation.start()
    while piece_count(simulation) == 1:
        mass, before = simulation.built.model.mass, simulation.state.copy()
        simulation.step()
    wanted = np.zeros(3)
    for body, nodes in zip(("glass", "box"), (slice(0, 4), slice(4, 8)), strict=True):
        m, v, now = mass[nodes], before.v[nodes], simulation.built.model
        own = next(each.nodes for each in now.bodies if each.key == body)
        centre = now.mass[own] @ simulation.state.x[own] / now.mass[own].sum()
        arms = before.x[nodes] - m @ before.x[nodes] / m.sum()
        wanted += np.cross(centre, m @ v) + m @ np.cross(arms, v)
    found = momentum(simulation)[1]
    assert np.abs(found - wanted).max() < 1e-9 * np.abs(wanted).max()


@pytest.mark.slow
def test_energy_never_grows_on_the_ground() -> None:
    """Where it breaks; later contacts let out what has sunk into the ground, as they do with rigid bodies."""
    simulation = Simulation(dropped_slab(3.0, frames=8))
    simulation.start()
    first, breaks = energy(simulation, GRAVITY), 0
    for _ in range(28):
        available, count = energy(simulation, GRAVITY), piece_count(simulation)
        simulation.step()
        now, breaks = energy(simulation, GRAVITY), breaks + (piece_count(simulation) > count)
        # where it breaks, all is used up to round-off
        assert now <= available + (1e-12 if piece_count(simulation) > count else 1e-3) * first
    assert breaks > 0


@pytest.mark.slow
def test_the_load_at_the_first_crack_is_the_same_for_any_substeps(monkeypatch: pytest.MonkeyPatch) -> None:
    loads: dict[int, float] = {}
    whole = broken_piece.break_into
    for substeps in (1, 2, 4, 8, 16):

        def noted(*given: Any, substeps: int = substeps) -> Any:
            made = whole(*given)
            loads.setdefault(substeps, made.first_crack_share * float(made.peak_forces.max()))
            return made

        monkeypatch.setattr(broken_piece, "break_into", noted)
        assert piece_count(run(dropped_slab(3.0, substeps, frames=3))) > 1
    assert max(loads.values()) / min(loads.values()) < 1.05, loads


@pytest.mark.slow
def test_a_body_in_as_many_pieces_as_it_may_have_is_told() -> None:
    few = replace(GLASS_FRACTURE, most_pieces=2)
    limited, free = (run(dropped_slab(3.0, frames=5, fracture=each)) for each in (few, GLASS_FRACTURE))
    assert piece_count(limited) > 1 and piece_count(free) > 1
    assert pieces_at_limit(limited) == {"glass": {"name": "Glass", "count": piece_count(limited)}}
    assert pieces_at_limit(free) == {}


def test_the_largest_share_leaves_as_much_energy_as_there_is() -> None:
    rng = np.random.default_rng(3)
    mass, v, w = rng.uniform(1.0, 2.0, 6), rng.normal(size=(6, 3)), 3.0 * rng.normal(size=(6, 3))

    def of(share: float) -> float:
        return float(0.5 * mass @ ((v + share * (w - v)) ** 2).sum(axis=1))

    available = 0.5 * (of(0.0) + of(1.0))
    share = largest_share(mass, v, w, available)
    assert 0.0 < share < 1.0 and of(share) == pytest.approx(available)
    assert largest_share(mass, v, w, 2.0 * of(1.0)) == 1.0
    assert of(largest_share(mass, v, w, 0.5 * of(0.0))) == pytest.approx(of(0.0))  # never less than the step left


@pytest.mark.slow
def test_a_bake_that_was_cut_off_and_one_that_ran_through_have_the_same_bytes(tmp_path: Path) -> None:
    scene = dropped_slab(3.0, substeps=2, frames=14)
    whole = sinew.bake(scene, tmp_path / "whole.sinew")
    for last in (1, 11):  # while it is whole, and after it broke
        first = replace(scene, settings=replace(scene.settings, frame_end=last))
        sinew.bake(first, tmp_path / "parts.sinew", resume=last > 1)
    parts = sinew.bake(scene, tmp_path / "parts.sinew", resume=True)
    for frame in range(1, 15):
        assert np.array_equal(whole.read_frame(frame).x, parts.read_frame(frame).x)
    assert whole.play_path("glass").read_bytes() == parts.play_path("glass").read_bytes()
    results = [(tmp_path / name / "result" / "glass.pc2").read_bytes() for name in ("whole.sinew", "parts.sinew")]
    assert results[0] == results[1]


@pytest.mark.slow
def test_the_mesh_of_a_bake_comes_apart_as_the_pieces_do(tmp_path: Path) -> None:
    scene = dropped_slab(3.0, substeps=2, frames=4)
    cache = sinew.bake(scene, tmp_path / "glass.sinew")
    made = cache.read_result("glass")
    assert made is not None
    assert len(np.unique(made["piece"])) == piece_count(run(scene))


@pytest.mark.parametrize(
    "change",
    [
        {"core": Core()},
        {"pinned": [0], "pin_weights": [0.5]},
        {"simulated_scale": 2.0},
        {"attributes": ("stress",)},
        {"animated": True},
    ],
    ids=str,
)
def test_what_a_brittle_body_cannot_do_is_told_with_its_name(change: dict[str, Any]) -> None:
    scene = Scene((replace(glass_box((0.1, 0.1, 0.1), (0.0, 0.0, 1.0)), **change),), (FLOOR,))
    with pytest.raises(BadInput) as caught:
        Simulation(scene)
    assert caught.value.kind == "brittle-combined" and '"Glass"' in caught.value.sentence
    check_scene(replace(scene, bodies=(glass_box((0.1, 0.1, 0.1), (0.0, 0.0, 1.0)),)))


def test_brittle_bodies_are_refused_where_they_cannot_be_by_name() -> None:
    scene = dropped_slab(3.0)
    soft = rigid_box((0.1, 0.1, 0.1), (1.0, 0.0, 1.0), key="soft", meshing=Meshing("robust"), fracture=Fracture())
    for wrong, kind in ((replace(scene, bodies=(*scene.bodies, soft)), "brittle-beside"),):
        with pytest.raises(BadInput) as caught:
            Simulation(wrong)
        assert caught.value.kind == kind and '"Glass"' in caught.value.sentence
    with pytest.raises(BadInput) as caught:
        LiveRun(scene, MemoryTracks({}, {}))
    assert caught.value.kind == "brittle-live" and '"Glass"' in caught.value.sentence


def test_a_stress_that_is_not_found_is_told_with_the_name_of_the_body(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(static_equilibrium, "FACTOR_AFTER", 1)
    monkeypatch.setattr(static_equilibrium, "MAX_ITERATIONS", 1)
    with pytest.raises(SolveFailed) as caught:
        run(dropped_slab(3.0, frames=3))
    assert caught.value.kind == "brittle-stress-not-found" and '"Glass"' in caught.value.sentence


def test_no_piece_that_hits_could_break_is_left_out() -> None:
    """What is told without geometry is at least the sum of all hits of a piece, by their true curvatures and masses."""
    simulation = Simulation(dropped_slab(3.0, frames=4))
    checked: list[tuple[float, float]] = []
    whole = break_pieces.hits_on_piece

    def noted(body: Any, points: Any, *rest: Any) -> Any:
        hits = whole(body, points, *rest)
        pieces = simulation.built.pieces
        assert pieces is not None
        own = pieces.bodies[0]
        # some pieces have as many tets
        number = next(
            n for n, tets in enumerate(own.tets_of_pieces) if np.array_equal(own.body.volume[tets], body.volume)
        )
        speed, mass = max(hit.impact.speed for hit in hits), own.masses[number].mass
        bound = len(hits) ** 0.4 * own.stiffest_contacts[number] ** 0.4 * (2.5 * mass * speed**2) ** 0.6
        checked.append((sum(hit.impact.peak_force for hit in hits), bound))
        # and by the stiffest contact that there can be
        checked.append((max(hit.impact.stiffness for hit in hits), own.stiffest_contacts[number]))
        return hits

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(break_pieces, "hits_on_piece", noted)
        for _ in simulation.run():
            pass
    assert len(checked) > 5
    above = [(force, bound) for force, bound in checked if force > (1.0 + 1e-12) * bound]
    assert not above


@pytest.mark.slow
def test_pieces_that_are_left_out_would_not_have_broken() -> None:
    """What hits give to pieces is solved for all of them, and the same faces part as where most are left out."""

    def parted(*changes: tuple[Any, str, Any]) -> tuple[Any, int]:
        simulation = Simulation(dropped_slab(3.0, frames=6, fracture=SCRATCHED_GLASS))
        solved, whole = [0], broken_piece.break_into

        def counted(*given: Any) -> Any:
            solved[0] += 1
            return whole(*given)

        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(broken_piece, "break_into", counted)
            for change in changes:
                patch.setattr(*change)
            for _ in simulation.run():
                pass
        pieces = simulation.built.pieces
        assert pieces is not None
        return pieces.bodies[0].cracked.is_parted, solved[0]

    few, some = parted()
    all_of_them, most = parted((body_in_pieces, "SAFE_BENDING_SHARE", 1e-6))
    assert some < most
    assert (few == all_of_them).all()
