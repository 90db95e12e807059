# SPDX-License-Identifier: GPL-3.0-or-later
"""Contacts after cuts: pieces lie on each other and on their cut faces, and contacts go on where their points are."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from fixtures.cut_runs import CutRun
from fixtures.energy_measures import energy
from fixtures.scenes import JELLY, Run, block
from sinew.solver.contact.detection.persistent_contacts import PersistentContacts
from sinew.solver.mechanics.state import State
from sinew.solver.runtime.errors import BadInput
from sinew.solver.runtime.threads.thread_count import using_threads
from sinew.solver.scene.contact import Collider
from sinew.solver.scene.scene import Scene, Settings
from sinew.solver.simulation.cutting.body_cut import stored_cut
from sinew.solver.simulation.cutting.cut_bodies import apply_cuts
from sinew.solver.simulation.cutting.cut_contacts import present_skin
from sinew.solver.simulation.cutting.cut_skin import keyed_skin
from sinew.solver.simulation.simulation import Simulation

GROUND = Collider("ground", "Ground")
LEVEL, UPRIGHT = ([0.5, 0.1, 1.0], 0.85), ([0.0, 1.0, 0.15], 0.6)


def stack(folder: Path) -> CutRun:
    """Returns a jelly on the ground, and a small one above it."""
    bodies = (
        block((3, 3, 3), at=(0.0, 0.0, 0.02)),
        block((2, 2, 2), (0.5, 0.5, 0.5), at=(0.25, 0.25, 1.2), key="other"),
    )
    return CutRun(Run(folder, Scene(bodies, (GROUND,), Settings(frame_end=60))))


def pieces(simulation: Simulation) -> list[slice]:
    starts = simulation.built.model.pattern.island_start.astype(int).tolist()
    return [slice(*ends) for ends in zip(starts[:-1], starts[1:], strict=True)]


def middles(simulation: Simulation) -> np.ndarray:
    """Returns the centres of mass of all pieces [m], (p, 3)."""
    mass, x = simulation.built.model.mass, simulation.state.x
    return np.array([mass[own] @ x[own] / mass[own].sum() for own in pieces(simulation)])


def skin_positions(simulation: Simulation) -> np.ndarray:
    """Returns where the vertices of the first skin are [m], (v, 3)."""
    surfaces = simulation.built.contact_materials.surfaces
    own = surfaces.vertices_of(0)
    return np.einsum("va,vai->vi", surfaces.weights[own], simulation.state.x[surfaces.nodes[own]])


def test_slices_lie_on_each_other_and_bear_what_lies_on_them(tmp_path: Path):
    one = stack(tmp_path)
    simulation, stored = one.simulation, np.inf
    for frame in range(2, 51):
        report = simulation.advance().report
        assert report.converged
        now = energy(simulation)
        assert now < stored * (1.0 + 1e-6)
        stored = now
        if frame in (6, 16):
            one.cut(*(LEVEL, UPRIGHT)[frame == 16], with_skin=True)
            assert energy(simulation) == pytest.approx(stored, rel=1e-12)
            assert np.isfinite(skin_positions(simulation)).all()
    heights = middles(simulation)[:, 2]
    assert len(heights) == 5
    assert heights[[1, 3]].min() > heights[[0, 2]].max() + 0.3  # upper slices on lower ones
    assert heights[4] > 1.1  # and the small jelly on these
    assert skin_positions(simulation)[:, 2].min() > -0.02


def test_a_slice_stands_on_its_cut_face(tmp_path: Path):
    one = CutRun(Run(tmp_path, Scene((block((3, 3, 3), at=(0.0, 0.0, 0.1)),), (GROUND,), Settings(frame_end=60))))
    simulation = one.simulation
    one.cut([0.0, 0.0, 1.0], 0.65, with_skin=True)
    lower = int(np.argmin(middles(simulation)[:, 2]))
    simulation.state.x[pieces(simulation)[lower]] += [5.0, 0.0, 0.0]
    for _ in range(40):
        assert simulation.advance().report.converged
    upper = pieces(simulation)[1 - lower]
    assert middles(simulation)[1 - lower, 2] == pytest.approx(0.225, abs=0.02)
    skin = skin_positions(simulation)
    nodes = simulation.built.contact_materials.surfaces.nodes[: len(skin), 0]
    own = skin[(nodes >= upper.start) & (nodes < upper.stop), 2]
    assert -0.01 < own.min() < 0.01


def test_halves_that_part_push_nothing(tmp_path: Path):
    still = replace(JELLY, stiffness_damping=0.0)
    bar = block((8, 2, 2), (4.0, 1.0, 1.0), material=still)
    one = CutRun(Run(tmp_path, Scene((bar,), settings=Settings(gravity=(0.0, 0.0, 0.0), tolerance=1e-12))))
    simulation, largest = one.simulation, 0.0
    simulation.state.x = simulation.state.x * [1.1, 1.0, 1.0]
    one.cut([1.0, 0.2, 0.1], 2.15, with_skin=True)
    mass = simulation.built.model.mass
    for _ in range(5):
        simulation.step(0.01)
        v = simulation.state.v
        largest = max(largest, float(mass @ np.linalg.norm(v, axis=1)))
        assert max(np.abs(mass[own] @ v[own]).max() for own in pieces(simulation)) < 1e-12 * largest
    assert largest > 1.0


def test_contacts_go_on_where_their_points_are(tmp_path: Path):
    one = stack(tmp_path)
    simulation = one.simulation
    for _ in range(8):
        simulation.advance()

    def forces() -> dict[tuple[int, int], float]:
        """Returns normal forces of points on the ground by (−1, point), and of vertices of skins by (skin, key)."""
        memory, built = PersistentContacts.from_state(simulation.state), simulation.built
        count, surfaces = len(built.contact_points), built.contact_materials.surfaces
        found = {}
        for id, force in zip(memory.id.tolist(), memory.force.tolist(), strict=True):
            if id < count:
                if force > 0.0:
                    found[-1, id] = force
            elif id - count < surfaces.point_id_count:
                vertex = (id - count) % surfaces.vertex_count
                found[int(surfaces.surface_of[vertex]), int(surfaces.vertex_key[vertex])] = force
        return found

    before = forces()
    assert sum(key[0] == -1 for key in before) > 5 and any(key[0] >= 0 for key in before)
    one.cut(*LEVEL, with_skin=True)
    now, there = forces(), set(present_skin(simulation.built, 0).vertex_key.tolist())
    kept = {key: force for key, force in before.items() if key[0] != 0 or key[1] in there}
    assert len(kept) > 10 and all(now[key] == force for key, force in kept.items())
    simulation.advance()
    with_faces = forces()
    assert with_faces
    one.cut(*UPRIGHT, with_skin=True)
    after = forces()
    first = len(simulation.built.contact_points) - len(simulation.built.crack_point_rows)
    kept = {key: force for key, force in with_faces.items() if key[0] == -1 and key[1] < first}
    assert kept and all(after[key] == force for key, force in kept.items())


def checkpoint(simulation: Simulation) -> State:
    return State.from_arrays({name: values.copy() for name, values in simulation.state.to_arrays().items()})


def test_threads_and_a_resume_leave_the_same_bytes(tmp_path: Path):
    found = []
    for threads, resumes in ((1, False), (2, False), (1, True)):
        with using_threads(threads):
            one = stack(tmp_path)
            for frame in range(2, 14):
                one.simulation.advance()
                if frame in (6, 9):
                    one.cut(*(LEVEL, UPRIGHT)[frame == 9], with_skin=True)
                if resumes and frame in (6, 7, 11):
                    state, fresh = checkpoint(one.simulation), stack(tmp_path).simulation
                    one.simulation = Simulation(fresh.scene, fresh.tracks, apply_cuts(fresh.built, state), state)
            found.append({name: values.tobytes() for name, values in one.simulation.state.to_arrays().items()})
    assert found[0] == found[1] == found[2]


def test_a_body_that_may_touch_others_is_not_cut_without_its_skin(tmp_path: Path):
    one = stack(tmp_path)
    before = one.simulation.built
    with pytest.raises(BadInput, match="Block.*may touch"):
        one.cut(*LEVEL)
    assert one.simulation.built is before


def test_skins_that_do_not_fit_are_refused(tmp_path: Path):
    one = stack(tmp_path)
    before = present_skin(one.simulation.built, 0)
    tets, _ = one.copies(*LEVEL)
    skin = one.cutter.skin(tets, before.rest)
    keys = before.vertex_key, before.triangle_key
    keyed = keyed_skin(skin, *keys)
    assert (np.diff(keyed.vertex_key) > 0).all() and (np.diff(keyed.triangle_key) > 0).all()
    for words, wrong in {
        "lengths": replace(skin, weights=skin.weights[1:]),
        "vertices or sources": replace(skin, triangles=skin.triangles + 1),
        "vertex_source does not rise": replace(skin, vertex_source=skin.vertex_source[::-1]),
        "triangle_source has numbers": replace(
            skin, triangle_source=np.arange(len(keys[1]), len(keys[1]) + len(skin.triangles))
        ),
    }.items():
        with pytest.raises(ValueError, match=words):
            keyed_skin(wrong, *keys)


def test_a_stored_skin_that_is_damaged_is_named(tmp_path: Path):
    one = stack(tmp_path)
    mesh = one.simulation.built.bodies[0].mesh
    one.cut(*LEVEL, with_skin=True)
    fields = one.simulation.state.fields
    assert stored_cut(fields, "block", mesh) is not None and stored_cut(fields, "other", mesh) is None
    for name in ("skin_triangles", "skin_tet", "skin_weights", "skin_vertex_key", "share"):
        damaged = dict(fields)
        damaged[f"cut.block.{name}"] = fields[f"cut.block.{name}"][::-1][1:]
        with pytest.raises(ValueError, match=name.split("_")[0]):
            stored_cut(damaged, "block", mesh)
