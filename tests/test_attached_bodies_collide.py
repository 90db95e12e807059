# SPDX-License-Identifier: GPL-3.0-or-later
"""Bodies that are attached to each other pass through each other, unless their row lets them collide."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from fixtures.rigid_bodies import rigid_box, run_of
from fixtures.scenes import block
from sinew.solver.scene.attachment import Attachment


@pytest.mark.parametrize("collides", [False, True])
def test_a_weight_on_a_weak_spring_lies_on_what_it_is_tied_to_if_they_collide(tmp_path: Path, collides: bool) -> None:
    row = Attachment("bed", "spring", 0.05, spring_constant=1.0, collides=collides)
    weight = rigid_box((0.05, 0.05, 0.05), (0.0, 0.0, 0.035), key="weight", attachments=(row,))
    bed = block((3, 3, 2), (0.15, 0.15, 0.1), at=(-0.075, -0.075, -0.1), key="bed")
    below = np.flatnonzero(bed.vertices[:, 2] < -0.09).astype(np.int32)
    bed = replace(bed, pinned=below, pin_weights=np.ones(len(below)))
    run = run_of(tmp_path, weight, bed, frame_end=30)
    run.advance(16)
    lowest = run.render["weight"][:, 2].min()
    if collides:
        assert -0.005 < lowest < 0.005
    else:
        assert lowest < -0.15, "it fell through"
