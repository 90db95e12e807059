# SPDX-License-Identifier: GPL-3.0-or-later
"""Sheets that tear by Exact contact: as by Fast, and the pieces stay out of everything else."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from fixtures.rigid_bodies import FLOOR, momenta, rigid_box, run_of
from sinew.solver.contact.exact.tangled_features import intersecting_owners
from sinew.solver.mechanics.state import State
from sinew.solver.scene.contact import Collision
from sinew.solver.simulation.fracture_topology import apply_topology
from sinew.solver.simulation.simulation import Simulation
from test_tearing_sheets import strip, strong_later

EXACT = {"contact": "exact", "frame_end": 60}


@pytest.mark.slow
def test_a_strip_tears_where_it_does_by_fast_contact_and_its_end_falls_on_a_box(tmp_path: Path) -> None:
    ends, rubs = [], Collision(0.5)
    for contact in ("exact", "fast"):
        box = rigid_box((0.3, 0.3, 0.05), (0.0, 0.06, 0.026), key="box", collision=rubs)
        (tmp_path / contact).mkdir()
        settings = EXACT | {"contact": contact, "body__strip__breaking_stress": strong_later(0.2)}
        run = run_of(tmp_path / contact, strip(collision=rubs), box, colliders=(FLOOR,), **settings)
        for _ in range(14):
            run.advance()
            exact = run.built.exact_contact
            if exact is None:
                continue
            bound, motion = exact.motion(run.tracks, run.state.time, run.state.time, (None, run.state.x))
            owners = intersecting_owners(bound.mesh, bound.positions(run.state.x, motion.start))
            owners[0, 0] = False  # both sides of a tear begin at one place
            assert not owners.any()
        ends.append(run.built.model.pattern.island_count)
        assert sum(report.not_converged for report in run.reports) == 0
    # two or three pieces and the box: two rows are pulled alike, and one of them tears or both
    assert set(ends) <= {3, 4}, ends
    assert run.reports[-1].contacts > 0


def test_tearing_keeps_momentum_and_a_restart_gives_the_same_bytes(tmp_path: Path) -> None:
    free = strip(pinned=np.zeros(0, np.int32))
    run = run_of(tmp_path, free, gravity=(0.0, 0.0, 0.0), **EXACT)
    damping = run.built.model.mass_damping[0]
    state = run.state
    state.v[:] = [0.1, 0.2, 0.0] + (state.x - state.x.mean(axis=0)) * [0.0, 0.0, 12.0]  # pulled apart
    settings = run.scene.settings
    dt = 1.0 / (settings.fps * settings.substeps)
    for _ in range(8):
        before = momenta(run)[0] / (1.0 + damping * dt) ** settings.substeps
        run.advance()
        size = np.abs(run.built.model.mass[:, None] * run.state.v).sum()
        assert np.abs(momenta(run)[0] - before).max() < 1e-9 * size
    assert run.built.model.pattern.island_count > 1
    state = State.from_arrays({name: values.copy() for name, values in run.state.to_arrays().items()})
    again = Simulation(run.scene, run.tracks, apply_topology(run.built, state), state)
    run.advance(2)
    again.advance()
    again.advance()
    assert run.state.x.tobytes() == again.state.x.tobytes() and run.state.v.tobytes() == again.state.v.tobytes()
