# SPDX-License-Identifier: GPL-3.0-or-later
"""Fat around a Wrap under Exact contact: its skin meets what is outside, and its Wrap follows what is inside."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from fixtures.closed_surfaces import sphere
from fixtures.exact_checks import advance_and_count
from fixtures.scenes import Run
from sinew.solver.mechanics.state import State
from sinew.solver.runtime.threads.thread_count import using_threads
from sinew.solver.scene.attachment import Attachment
from sinew.solver.scene.contact import Collision
from sinew.solver.scene.flesh import DYNAMIC, FLESH_MOTIONS, QUASISTATIC, Flesh
from sinew.solver.scene.material import Material
from sinew.solver.scene.scene import Body, Collider, Meshing, Scene, Settings
from sinew.solver.simulation.simulation import Simulation
from validate_exact_contact import welded

EXACT = Settings(contact="exact", frame_end=20, substeps=2, pose_tolerance=1.0e-6)
FAT = Material(youngs_modulus=2.0e4, poisson_ratio=0.4, density=950.0, stiffness_damping=0.01)
SKIN, WRAP, CORE = 0.2, 0.12, 0.1  # radii of the skin, the Wrap and the core in it [m]
TABLE = Collider(
    "table", "Table", "mesh", np.array([[-1.0, -1, 0], [1, -1, 0], [1, 1, 0], [-1, 1, 0]]),
    np.array([[0, 1, 2], [0, 2, 3]], np.int32), friction=0.3,
)  # fmt: skip


def lowered_fat(folder: Path, contact: str, motion: str, height: float, way: float) -> Run:
    """Returns a ball of fat that hangs on a core by its Wrap, and follows it down by a way [m] in 0.3 s.

    Args:
        folder: For tracks.
        contact: "exact" or "fast".
        motion: Of the flesh.
        height: Of its middle above the table [m].
        way: [m].
    """
    middle = np.array([0.0, 0.0, height])
    (outer, faces), (inner, inner_faces), (core, core_faces) = (
        welded(*(np.asarray(each) for each in sphere(n, r))) for n, r in ((7, SKIN), (5, WRAP), (4, CORE))
    )
    triangles = np.concatenate([faces, inner_faces[:, ::-1] + len(outer)]).astype(np.int32)
    row = Attachment("core", "fixed" if motion == QUASISTATIC else "sliding", 0.1)  # a pose needs a hold
    body = Body(
        np.concatenate([outer, inner]) + middle, triangles, FAT, Meshing("robust", divisions=7), key="fat", name="Fat",
        flesh=Flesh(motion, self_contact=True), wrap_vertices=len(inner), attachments=(row,),
        collision=Collision(0.3, 0.0, True),
    )  # fmt: skip
    held = Collider("core", "Core", "mesh", core + middle, core_faces.astype(np.int32))
    poses = np.stack([np.eye(4), np.eye(4)])
    poses[1, 2, 3] = -way
    scene = Scene((body,), (held, TABLE), replace(EXACT, contact=contact))
    return Run(folder, scene, collider__core__matrix=(np.array([0.0, 0.3]), poses, "rigid"))


@pytest.mark.slow
@pytest.mark.long
def test_fat_that_touches_nothing_is_where_fast_contact_has_it(tmp_path) -> None:
    ends = []
    for contact in ("exact", "fast"):
        run = lowered_fat(tmp_path / contact, contact, QUASISTATIC, 1.0, 0.1)
        run.simulation.start()
        run.advance(4)
        assert all(report.converged and not report.unsettled for report in run.reports)
        ends.append(run)
    exact, fast = ends
    gap = exact.built.exact_contact.options.barrier.gap
    assert np.abs(exact.state.x - fast.state.x).max() < 0.05 * gap
    assert np.abs(exact.state.x - exact.built.initial.x).max() > 0.03


@pytest.mark.slow
@pytest.mark.parametrize("motion", FLESH_MOTIONS)
def test_a_core_presses_its_fat_onto_a_table(tmp_path, motion) -> None:
    still, ends = {"table": (TABLE.vertices, TABLE.triangles)}, []
    run = lowered_fat(tmp_path / "exact", "exact", motion, 0.22, 0.04)
    assert advance_and_count(run, 10, still) == 0  # of skin and Wrap with each other and with the table
    assert not any(report.unsettled or report.let_in for report in run.reports)
    assert run.reports[-1].contacts > 4
    fast = lowered_fat(tmp_path / "fast", "fast", motion, 0.22, 0.04)
    fast.advance(10)
    for each in (run, fast):
        skin = each.render["fat"][: -each.scene.bodies[0].wrap_vertices]
        ends.append((skin[:, 2].min(), skin[:, 2].max()))
    assert 0.0 < ends[0][0] < 0.01
    assert abs(ends[0][1] - ends[1][1]) < 0.005
    wrap = run.render["fat"][-run.scene.bodies[0].wrap_vertices :]
    apart = np.linalg.norm(wrap - [0.0, 0.0, 0.18], axis=1)  # from the core's middle
    assert apart.min() > CORE - 0.005 and apart.max() < WRAP + 0.015


@pytest.mark.slow
def test_resuming_and_threads_give_the_same_bytes(tmp_path) -> None:
    run = lowered_fat(tmp_path, "exact", DYNAMIC, 0.21, 0.05)
    with using_threads(1):
        run.advance(5)
        arrays = run.state.to_arrays()
        run.advance(2)
    assert run.reports[-1].contacts > 0
    state = State.from_arrays({name: values.copy() for name, values in arrays.items()})
    again = Simulation(run.scene, run.tracks, run.built, state)
    with using_threads(2):
        for _ in range(2):
            again.advance()
    assert run.state.x.tobytes() == again.state.x.tobytes() and run.state.v.tobytes() == again.state.v.tobytes()
