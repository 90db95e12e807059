# SPDX-License-Identifier: GPL-3.0-or-later
"""Bodies that move as rigid ones and break: loads, cracks, pieces, and what they keep."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from fixtures.brittle_bodies import ball_on, brittle, pane_tets
from sinew.solver.brittle.break_body import RUN_TOLERANCE, Breakage, break_body
from sinew.solver.brittle.brittle_body import BrittleBody, brittle_body
from sinew.solver.brittle.contact_patch import contact_patch, spread_force
from sinew.solver.brittle.crack_steps import crack_on
from sinew.solver.brittle.cracked_mesh import CrackedMesh, whole_mesh
from sinew.solver.brittle.hit import forces_on_piece
from sinew.solver.brittle.impact_energy import ImpactEnergy
from sinew.solver.brittle.inertia_relief import PlacedForces
from sinew.solver.brittle.piece_stress import piece_stress
from sinew.solver.brittle.rigid_mass import RigidMotion, rigid_mass_of_tets
from sinew.solver.mesh.shapes import box_tets
from sinew.solver.mesh.tet_mesh import MeshReport, TetMesh

MOTION = RigidMotion(np.array([0.3, -0.2, 1.0]), np.array([2.0, -1.0, 3.0]))
STILL = RigidMotion(np.zeros(3), np.zeros(3))
TOP = (0.0, 0.0, 0.004)


def pane() -> BrittleBody:
    return brittle(*pane_tets(10, 0.1, 0.008))


def hit_pane(speed: float, motion: RigidMotion = STILL) -> tuple[BrittleBody, Breakage]:
    body = pane()
    return body, break_body(body, [ball_on(body, TOP, (0.0, 0.0, -1.0), speed)], motion)


@pytest.fixture(scope="module")
def shattered() -> tuple[BrittleBody, Breakage]:
    return hit_pane(6.0, MOTION)


def test_a_softer_piece_takes_less_load_and_energy_only_falls() -> None:
    energy = ImpactEnergy(2.0, 1.5, 4.0)
    peak = energy.peak_share
    assert energy.stored(peak) == pytest.approx(2.0)
    assert ImpactEnergy(2.0, 2.0, 0.0).peak_share == pytest.approx(1.0)
    for share in (0.3 * peak, peak):
        after, released = energy.at_share(share).after_crack(6.0)
        assert 0.0 < released <= 0.5 * energy.budget
        assert after.budget == pytest.approx(2.0 - released)
        assert after.peak_share < peak
        assert after.stored(after.share) <= energy.budget + 1e-12


def test_a_short_crack_releases_half_of_what_a_load_that_stays_would_do() -> None:
    """As all short cracks do: G = ½ F² dC / dA, whatever holds the body meanwhile."""
    energy = ImpactEnergy(50.0, 1.5, 4.0, 0.5)
    _, released = energy.after_crack(4.0001)
    force, softer = 3.0, (4.0001 - 4.0) / (0.5 * 3.0**2)  # ½ F² C = U
    assert released == pytest.approx(0.5 * (0.5 * force) ** 2 * softer, rel=1e-4)


def test_what_hits_moves_neither_on_nor_slower_while_a_crack_runs() -> None:
    energy = ImpactEnergy(50.0, 1.5, 4.0, 0.5)
    after, released = energy.after_crack(400.0)
    force = 3.0
    ways = [2.5 * 1.5 / force * e.share ** (2.0 / 3.0) + 2.0 * e.in_piece / force * e.share for e in (energy, after)]
    assert ways[0] == pytest.approx(ways[1])
    assert after.share < 0.02 < released, "a hinge bears next to nothing"
    assert after.motion == pytest.approx(energy.motion)


def test_a_spread_force_has_the_sum_and_moment_of_one_at_its_place() -> None:
    body = pane()
    tet = int(np.flatnonzero((body.tets == 2 * 121 + 60).any(axis=1))[0])
    at = PlacedForces(np.array([tet], np.int32), np.array([[0.1, 0.2, 0.3, 0.4]]), np.array([[10.0, 5.0, -80.0]]))
    at = replace(at, weights=(body.tets[[tet]] >= 242) / (body.tets[tet] >= 242).sum())  # on the upper face
    row, face = np.nonzero(body.neighbours.tet < 0)
    outside = row.astype(np.int32), face.astype(np.int32)
    patch = contact_patch(body, outside, at, 0.02)
    spread = spread_force(patch, at)
    assert len(spread.tet) > 20
    places = spread.places(body.nodes, body.tets)
    assert np.abs(places[:, 2] - 0.004).max() < 1e-12
    moment = np.cross(places, spread.force).sum(axis=0)
    assert spread.force.sum(axis=0) == pytest.approx(at.force[0])
    assert moment == pytest.approx(np.cross(at.places(body.nodes, body.tets)[0], at.force[0]))
    # where nothing else is near, it acts at its place
    alone = spread_force(contact_patch(body, outside, at, 1e-6), at)
    assert alone.force.sum(axis=0) == pytest.approx(at.force[0])
    assert np.ptp(alone.places(body.nodes, body.tets), axis=0).max() < 1e-9
    below = replace(at, force=-at.force)  # nothing can pull on the face
    assert spread_force(contact_patch(body, outside, below, 0.02 - 0.015), below) is below


def test_a_soft_hit_leaves_a_pane_whole() -> None:
    body, made = hit_pane(0.2)
    assert len(made.pieces) == 1 and made.crack_area == 0.0 and made.crack_steps == 1
    assert made.first_crack_share > 1.0
    assert not made.cracked.is_parted.any()
    assert made.pieces[0].mass.mass == pytest.approx(0.1 * 0.1 * 0.008 * 2500.0)


def test_the_load_at_the_first_crack_hardly_depends_on_the_speed() -> None:
    """A hit of twice the speed is a little shorter, and so a little more is borne (`static_fatigue.py`)."""
    loads = [made.first_crack_share * made.peak_forces[0] for _, made in (hit_pane(0.2), hit_pane(0.4))]
    assert 1.0 < loads[1] / loads[0] < 1.01


def test_momentum_is_kept_and_energy_is_not_gained(shattered: tuple[BrittleBody, Breakage]) -> None:
    body, made = shattered
    assert len(made.pieces) > 3
    whole = rigid_mass_of_tets(body.nodes, body.tets, body.tet_mass)
    before, about = whole.momenta(MOTION, np.zeros(3))
    after = [piece.mass.momenta(piece.motion, np.zeros(3)) for piece in made.pieces]
    given = made.impulses.sum(axis=0)
    assert np.abs(sum(p for p, _ in after) - before - given).max() < 1e-12
    moment = made.impulse_moments.sum(axis=0)
    assert np.abs(sum(turn for _, turn in after) - about - moment).max() < 1e-12
    # places of what goes on pressing on pieces are within the area of contact
    assert np.abs(moment - np.cross([0.0, 0.0, 0.004], given)).max() < 0.01 * np.linalg.norm(given)
    energy = sum(piece.mass.kinetic_energy(piece.motion) for piece in made.pieces)
    ball = 0.1
    # the ball comes down at 6 m/s against the pane's own speed at the place, and gets what the pane gets, turned round
    down = whole.velocity_at(MOTION, np.array(TOP)) - [0.0, 0.0, 6.0]
    start = whole.kinetic_energy(MOTION) + 0.5 * ball * down @ down
    left = down - given / ball
    assert energy + 0.5 * ball * left @ left + made.released_energy + made.freed_energy < start


def test_pieces_are_what_hangs_together(shattered: tuple[BrittleBody, Breakage]) -> None:
    body, made = shattered
    assert np.array_equal(np.sort(np.concatenate([piece.tets for piece in made.pieces])), np.arange(len(body.tets)))
    for piece in made.pieces:
        assert len(np.unique(made.cracked.piece[piece.tets])) == 1
        assert body.volume[piece.tets].sum() >= 0.999 * body.min_fragment_volume
    assert made.cracked.piece_count == len(made.pieces)
    assert made.crack_area == pytest.approx(made.cracked.crack_area)
    assert made.released_energy > body.material.fracture_energy * made.crack_area
    assert made.largest_residual <= RUN_TOLERANCE


def test_pieces_grow_with_the_speed(shattered: tuple[BrittleBody, Breakage]) -> None:
    counts = [len(hit_pane(speed)[1].pieces) for speed in (0.2, 2.0)] + [len(shattered[1].pieces)]
    assert counts == sorted(counts) and counts[0] == 1 < counts[-1]


@pytest.mark.slow
def test_tets_that_may_not_break_stay_together() -> None:
    nodes, tets = pane_tets(10, 0.1, 0.008)
    is_breakable = np.abs(nodes[tets].mean(axis=1)[:, 0]) < 0.012
    mesh = TetMesh(nodes, tets, np.ones(len(tets)), MeshReport(0.0, 0.0, 0.0, 0.0, 1.0))
    body = brittle_body(mesh, pane().material, is_breakable=is_breakable)
    made = break_body(body, [ball_on(body, TOP, (0.0, 0.0, -1.0), 6.0)], STILL)
    tet, face = np.nonzero(made.cracked.is_parted)
    other = body.neighbours.tet[tet, face]
    assert len(tet) and (is_breakable[tet] | is_breakable[other]).all()


def test_cracks_that_are_there_take_away_strength() -> None:
    body = pane()
    hit = ball_on(body, TOP, (0.0, 0.0, -1.0), 0.6)
    first = break_body(body, [hit], STILL)
    assert len(first.pieces) == 1
    stress = piece_stress(
        whole_mesh(body),
        np.arange(len(body.tets), dtype=np.int32),
        forces_on_piece(whole_mesh(body), first.pieces[0].tets, [hit]),
        1e-6,
    )
    step = crack_on(stress, 1.01 / stress.overload.max())
    assert step is not None and step.overload == pytest.approx(stress.overload.max())
    cracked = CrackedMesh(body, step.is_parted)
    assert cracked.is_tip.any() and cracked.piece_count == 1
    softer = piece_stress(cracked, stress.tets, forces_on_piece(cracked, stress.tets, [hit]), 1e-6, stress.known())
    assert softer.energy > stress.energy
    again = break_body(body, [hit], STILL, cracked)
    assert again.first_crack_share < first.first_crack_share


def test_tips_that_a_hard_hit_reaches_at_once_split_at_once() -> None:
    body = pane()
    hit = ball_on(body, TOP, (0.0, 0.0, -1.0), 6.0)
    whole, every = whole_mesh(body), np.arange(len(body.tets), dtype=np.int32)
    cracked, chosen = whole, []
    for _ in range(8):
        stress = piece_stress(cracked, every, forces_on_piece(cracked, every, [hit]), 1e-6)
        slow, fast, even = (crack_on(stress, 1.0, at_once) for at_once in (np.inf, 0.0, 1e9))
        assert slow is not None and fast is not None and even is not None
        assert slow.overload == fast.overload == stress.overload.max()
        assert (slow.is_parted == even.is_parted).all(), "the load does not rise that far"
        assert (fast.is_parted | slow.is_parted == fast.is_parted).all(), "what splits slowly splits fast"
        chosen.append(int(fast.is_parted.sum()) - int(slow.is_parted.sum()))
        cracked = CrackedMesh(body, slow.is_parted)
    assert max(chosen) > 0


def test_stress_of_the_run_of_a_crack_is_right_to_a_thousandth() -> None:
    body = pane()
    hit = ball_on(body, TOP, (0.0, 0.0, -1.0), 6.0)
    every = np.arange(len(body.tets), dtype=np.int32)
    cracked = whole_mesh(body)
    known = None
    for _ in range(6):
        forces = forces_on_piece(cracked, every, [hit])
        stress = piece_stress(cracked, every, forces, RUN_TOLERANCE, known)
        exact = piece_stress(cracked, every, forces, 1e-9)
        off = np.abs(stress.overload - exact.overload).max()
        assert off < 2e-3 * exact.overload.max()
        assert 0.0 <= exact.energy - stress.energy < 1e-4 * exact.energy
        known, step = stress.known(), crack_on(stress, 1.0)
        assert step is not None
        cracked = CrackedMesh(body, step.is_parted)


def test_a_bar_that_is_hit_in_its_middle_snaps_there() -> None:
    nodes, tets = box_tets((16, 3, 3), (0.32, 0.06, 0.06))
    body = brittle(nodes, tets, scatter=0.0)
    made = break_body(body, [ball_on(body, (0.16, 0.02, 0.06), (0.0, 0.0, -1.0), 6.0, 3.0, 0.05)], STILL)
    sizes = sorted(len(piece.tets) for piece in made.pieces)
    assert len(sizes) >= 2 and sizes[-2] > 0.4 * len(tets)
    middles = body.nodes[made.cracked.crack_faces].mean(axis=1)[:, 0]
    assert np.mean(np.abs(middles - 0.16) < 0.06) > 0.8
