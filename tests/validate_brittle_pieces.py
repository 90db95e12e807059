# SPDX-License-Identifier: GPL-3.0-or-later
"""How long a frame of a slab of glass in 300 pieces takes: `make validate`, or

python -m pytest -s tests/validate_brittle_pieces.py
"""

from __future__ import annotations

import time

import numpy as np
import pytest
from scipy.spatial import cKDTree

from fixtures.brittle_scenes import glass_box
from fixtures.claim_table import reach
from fixtures.rigid_bodies import FLOOR
from sinew.solver.mechanics.state_fields import SLEEP_GROUP
from sinew.solver.runtime.arrays import Bools, Floats
from sinew.solver.scene.scene import Meshing, Scene, Settings
from sinew.solver.simulation import sleeping_bodies
from sinew.solver.simulation.brittle.body_in_pieces import BodyInPieces
from sinew.solver.simulation.brittle.switch_pieces import switch_pieces
from sinew.solver.simulation.simulation import Simulation

SECTION = "Blows on what is stiff"
POINTS = 225  # to whose nearest tets pieces are
FRAMES, LANDING = 48, 8  # of two seconds, and of those in which they land
SIZE = (0.4, 0.3, 0.02)  # [m]
HEIGHT = 0.05  # [m] of its middle over the floor


def cut(body: BodyInPieces) -> Bools:
    """Returns the faces across which the tets of a body part, (m, 4), where they are nearest to other points."""
    centres = body.body.nodes[body.body.tets].mean(axis=1)
    rng = np.random.default_rng(1)
    points = rng.uniform(centres.min(axis=0), centres.max(axis=0), (POINTS, 3))
    label, across = cKDTree(points).query(centres)[1], body.body.neighbours.tet
    return (across >= 0) & (label[across] != label[:, None])


@pytest.mark.parametrize(("speed", "words"), [(0.0, "fall by 40 mm"), (3.0, "hit the floor at 3 m/s")])
def test_frames_of_many_pieces(speed: float, words: str) -> None:
    """Each frame as it is quicker of two runs, with the stress of all hits; nothing has to break first."""
    runs = [bake(speed) for _ in range(2)]
    baked, (_, count, asleep) = np.min([seconds for seconds, _, _ in runs], axis=0), runs[0]
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(sleeping_bodies, "MIN_QUIET_TIME", np.inf)
        awake, _, none = bake(speed)
    assert 270 <= count <= 330 and none == 0
    frames = f"Frames of {count} pieces of glass that {words}, in a second of processor time, 5 wanted"
    reach(SECTION, f"{frames}: {LANDING}, in which they land", 1.0 / baked[:LANDING].mean(), "(told)", True)
    reach(SECTION, f"{frames}: {FRAMES}, two seconds", 1.0 / baked.mean(), "(told)", True)
    reach(SECTION, f"{frames}: the same if nothing slept, one run", 1.0 / awake.mean(), "(told)", True)
    reach(SECTION, f"Pieces of these that sleep after {FRAMES} frames", asleep, "≥ 280", asleep >= 280)


def bake(speed: float) -> tuple[Floats, int, int]:
    """Returns the processor time of frames [s], (FRAMES,), how many pieces there are, and how many sleep at the end."""
    body = glass_box(
        SIZE,
        (0.0, 0.0, HEIGHT),
        np.eye(3),
        meshing=Meshing("rigid", divisions=14),
        initial_velocity=(0.0, 0.0, -speed),
    )
    simulation = Simulation(Scene((body,), (FLOOR,), Settings(frame_end=FRAMES + 1)))
    simulation.start()
    assert simulation.built.pieces is not None
    only = simulation.built.pieces.bodies[0]
    switch_pieces(simulation, {only.number: cut(only)})
    seconds = []
    for _ in range(FRAMES):
        began = time.process_time()
        simulation.advance()
        seconds.append(time.process_time() - began)
    labels = simulation.state.fields.get(SLEEP_GROUP, np.full(4, -1, np.int32))
    pieces = simulation.built.pieces
    return np.array(seconds), pieces.bodies[0].cracked.piece_count, int((labels[::4] >= 0).sum())
