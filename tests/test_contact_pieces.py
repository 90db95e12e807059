# SPDX-License-Identifier: GPL-3.0-or-later
"""Pieces of what broke meet each other from the moment that they part, and what they remember goes along."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from fixtures.contact_scenes import NOTHING
from fixtures.energy_measures import kinetic_energy
from fixtures.penetration_measures import depths
from fixtures.scenes import Run, block, rotation
from sinew.solver.contact.detection.persistent_contacts import PersistentContacts, remap_contacts, resolving_contacts
from sinew.solver.contact.surfaces.collision_surfaces import vertex_positions
from sinew.solver.integrators.step_report import StepReport
from sinew.solver.mechanics.state_fields import HALVINGS_FIELD
from sinew.solver.scene.scene import Body, Collider, Fracture, Material, Scene, Settings
from sinew.solver.simulation import step_halving
from sinew.solver.simulation.fracture_topology import apply_topology
from sinew.solver.simulation.step_attempt import StepAttempt
from sinew.solver.simulation.step_interval import StepPart
from sinew.solver.simulation.tet_face_separation import separate_faces

HARD = Material(1.0e7, 0.3, 1000.0, stiffness_damping=0.0005)
NEVER = Fracture(breaking_stress=1.0e20)
GROUND = (Collider("ground", "Ground"),)
TURN = rotation([1, 0, 0], 0.9) @ rotation([0, 0, 1], 0.7)


def plate(fracture: Fracture, height: float, cells=(8, 8, 2), **settings) -> Body:
    """Returns a plate of 1 m on one of its corners, so high above the ground."""
    body = block(
        cells,
        (1.0, 1.0, 0.125 * cells[2]),
        turn=TURN,
        key="plate",
        material=HARD,
        fracture=fracture,
        **settings,
    )
    lift = [0.0, 0.0, height - body.vertices[:, 2].min()]
    return replace(body, vertices=body.vertices + lift, tet_nodes=body.tet_nodes + lift)


def part(run: Run, size: float) -> None:
    """Parts a plate along a grid of cubes of `size` [m]."""
    built = run.built
    assert built.fracture is not None
    flat = run.built.model.X @ TURN
    middle = flat[built.model.tets].mean(axis=1) - flat.min(axis=0)
    cube = np.floor(middle / size).astype(int) @ [10_000, 100, 1]
    across = built.fracture.neighbours.tet
    parted = (across >= 0) & (cube[:, None] != cube[np.maximum(across, 0)])
    separate_faces(run.simulation, parted)


def deepest(run: Run) -> float:
    """Returns how deep a vertex of a piece is in another, in tet sizes."""
    skins, model = run.built.contact_materials.surfaces, run.built.model
    x = vertex_positions(skins, model, run.state.x)
    piece = np.searchsorted(model.pattern.island_start, skins.nodes[:, 0], side="right")
    of_triangle, worst = piece[skins.triangles[:, 0]], 0.0
    for each in np.unique(of_triangle):
        worst = max(worst, float(depths(x[piece != each], x, skins.triangles[of_triangle == each]).max()))
    return worst / float(skins.size[0])


def test_parted_faces_lie_on_each_other_and_stay(tmp_path: Path) -> None:
    run = Run(tmp_path, Scene((plate(NEVER, 0.5),), (), Settings(gravity=NOTHING)))
    assert run.built.contact_materials is not None
    run.advance()
    part(run, 0.25)
    skins = run.built.contact_materials.surfaces
    assert skins.may_touch[0, 0] and run.built.model.pattern.island_count == 16
    X = run.state.x.copy()
    run.advance(4)
    assert np.abs(run.state.x - X).max() < 1e-6
    # every piece is closed: of each edge the two sides run opposite ways
    sides = np.stack([skins.triangles, np.roll(skins.triangles, -1, axis=1)], axis=2).reshape(-1, 2)
    forward, back = (np.unique(edges, axis=0, return_counts=True) for edges in (sides, sides[:, ::-1]))
    assert np.array_equal(forward[0], back[0]) and np.array_equal(forward[1], back[1])


@pytest.mark.slow
def test_a_plate_in_pieces_piles_up(tmp_path: Path) -> None:
    run = Run(tmp_path, Scene((plate(NEVER, 0.1, initial_velocity=(0.0, 0.0, -2.0)),), GROUND))
    part(run, 0.25)
    mass = run.built.model.mass
    energy = lambda: kinetic_energy(run) + 9.81 * float(mass @ run.state.x[:, 2])  # noqa: E731
    start = energy()
    for _ in range(65):
        run.advance()
        assert energy() < 1.001 * start
    assert deepest(run) < 0.1
    assert kinetic_energy(run) < 1e-6 * start
    assert run.reports[-1].contacts > 100


def test_no_piece_is_driven_by_the_friction_of_the_step_before(tmp_path: Path) -> None:
    """A constant friction threw splinters through the scene at 100 m/s: a spring gives no more than it holds."""
    run = Run(tmp_path, Scene((plate(NEVER, 0.02, initial_velocity=(1.0, 0.0, -2.0)),), GROUND))
    part(run, 0.25)
    slid = 0
    for _ in range(6):
        run.advance()
        begin = run.state.time
        attempt = StepAttempt(run.simulation, run.built.model, StepPart(begin, begin + 0.01), None)
        contacts = attempt.contacts
        assert contacts is not None and attempt.is_in_pieces
        state, pushed = contacts.contact_state, contacts.previous_normal_force > 0.0
        slid += int((pushed & (state.kappa > 0.0) & (state.kappa < 0.3 * state.k)).sum())
        assert not state.sliding_friction.any()
        points, pairs = contacts.spring_forces()
        assert np.isfinite(points.force).all() and np.isfinite(pairs.force).all()
    assert slid > 5


def test_unsettled_steps_begin_as_short_as_the_last_one_ended(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A whole step and halves that would be taken back are not tried again and again; the next frame tries anew."""
    run = Run(tmp_path, Scene((plate(NEVER, 0.02, initial_velocity=(0.0, 0.0, -6.0)),), GROUND))
    part(run, 0.125)
    tried: list[tuple[int, int | None]] = []

    class Attempt(StepAttempt):
        def __init__(self, simulation, model, step_part, pose_path):
            known = simulation.state.fields.get(HALVINGS_FIELD)
            tried.append((step_part.halvings, None if known is None else int(known[0])))
            super().__init__(simulation, model, step_part, pose_path)

    monkeypatch.setattr(step_halving, "StepAttempt", Attempt)
    known = 0
    for _ in range(3):
        begin = len(tried)
        run.advance()
        assert tried[begin] == (0, None)
        asked = [(halvings, least) for halvings, least in tried[begin:] if least is not None]
        assert all(halvings >= least for halvings, least in asked)
        known += len(asked)
    assert known > 0


@pytest.mark.parametrize(
    ("known", "solves", "settled", "wanted"),
    [(2, 16, True, 1), (2, 17, True, 2), (2, 16, False, 2), (1, 8, True, None), (1, 9, True, 1)],
)
def test_parts_get_longer_again_once_they_settle_within_few_solves(
    known: int, solves: int, settled: bool, wanted: int | None, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    run = Run(tmp_path, Scene((plate(NEVER, 0.02, cells=(2, 2, 1)),), GROUND))
    simulation, fields = run.simulation, run.state.fields
    fields[HALVINGS_FIELD] = np.array([known], np.int32)
    taken: list[int] = []

    def take_parts(*given: Any) -> tuple[StepReport, None]:
        taken.append(len(given[4]))
        report = StepReport(iterations=0, residual=0.0, converged=True, solves=solves, settled=settled)
        return report, None

    monkeypatch.setattr(step_halving, "_take_parts", take_parts)
    step_halving.take_step(simulation, run.built.model, StepPart(0.0, 0.01), lambda progress: None, None)
    now = simulation.state.fields.get(HALVINGS_FIELD)
    assert taken == [2**known]
    assert (None if now is None else int(now[0])) == wanted


def test_a_resumed_bake_has_the_same_skins(tmp_path: Path) -> None:
    run = Run(tmp_path, Scene((plate(NEVER, 0.5),), GROUND))
    whole = run.built
    part(run, 0.25)
    part(run, 0.125)
    one, other = run.built.contact_materials.surfaces, apply_topology(whole, run.state).contact_materials.surfaces
    for name in ("rest", "tet", "weights", "nodes", "triangles", "vertex_key", "triangle_key", "may_touch", "area"):
        assert np.array_equal(getattr(one, name), getattr(other, name)), name
    assert (np.diff(one.vertex_key) > 0).all() and (np.diff(one.triangle_key) > 0).all()


def test_contacts_find_their_points_again_when_more_breaks(tmp_path: Path) -> None:
    run = Run(tmp_path, Scene((plate(NEVER, 0.5),), GROUND))
    part(run, 0.25)
    before = run.built.contact_materials.surfaces
    part(run, 0.125)
    now = run.built.contact_materials.surfaces
    random = np.random.default_rng(0)
    point = np.sort(random.choice(before.vertex_count, 40, replace=False))
    triangle = random.integers(len(before.triangles), size=40)
    memory = resolving_contacts(point + 1000, triangle, np.arange(40.0))
    found = remap_contacts(memory, before, now, 1000, 2000)
    assert 20 < len(found.id) <= 40 and (np.diff(found.id) > 0).all()
    assert found.triangle is not None
    kept = (-found.shift).astype(int)
    assert np.array_equal(now.vertex_key[found.id - 2000], before.vertex_key[point[kept]])
    has_triangle = found.triangle >= 0
    assert has_triangle.any()
    keys = before.triangle_key[triangle[kept]]
    assert np.array_equal(now.triangle_key[found.triangle[has_triangle]], keys[has_triangle])
    assert len(remap_contacts(PersistentContacts.empty(), before, now, 0, 0).id) == 0


def test_a_crack_that_closes_bears_what_presses_on_it(tmp_path: Path) -> None:
    """A crack half through a block, all of which is one piece, while the block hits the ground."""
    soft = Material(2.0e5, 0.3, 1000.0, stiffness_damping=0.002)
    body = block(
        (4, 4, 4), at=(0.0, 0.0, 0.001), key="plate", material=soft, fracture=NEVER, initial_velocity=(0.0, 0.0, -3.0)
    )
    run = Run(tmp_path, Scene((body,), GROUND))
    built = run.built
    assert built.fracture is not None
    middle = built.model.X[built.model.tets].mean(axis=1)
    across, is_low = built.fracture.neighbours.tet, middle[:, 2] < 0.501
    is_cut = (is_low[:, None] != is_low[np.maximum(across, 0)]) & (middle[:, :1] < 0.5)
    parted = (across >= 0) & is_cut & (middle[np.maximum(across, 0), 0] < 0.5)
    separate_faces(run.simulation, parted)
    model = run.built.model
    assert model.pattern.island_count == 1
    upper = np.unique(model.tets[~is_low])
    X = np.round(model.X, 6)
    sides = [
        (low, high) for low in np.setdiff1d(np.unique(model.tets[is_low]), upper) for high in upper
        if X[low, 2] == 0.501 and (X[low] == X[high]).all()
    ]  # fmt: skip
    assert len(sides) > 5
    low, high = np.array(sides).T
    deepest, pressed = 0.0, 1.0
    for _ in range(8):
        run.advance()
        x = run.state.x
        deepest = max(deepest, float((x[low, 2] - x[high, 2]).max()))
        pressed = min(pressed, float(np.ptp(x[:, 2])))
    assert pressed < 0.97, (pressed, deepest)
    assert deepest < 0.1 * 0.25, deepest
