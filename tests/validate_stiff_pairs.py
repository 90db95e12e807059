# SPDX-License-Identifier: GPL-3.0-or-later
"""Small and stiff bodies that meet each other, jelly, themselves, or in a heap stay sound: `make validate`, or

STIFF_PAIRS_SEED=7 STIFF_PAIRS_CASES=30 python -m pytest -s tests/validate_stiff_pairs.py

Which cases are stiff enough to keep their volume is told as in validate_stiff_drops.py.
"""

from __future__ import annotations

import math
import os
from pathlib import Path

from fixtures.claim_table import reach
from fixtures.stiff_pairs import KINDS, Meeting, Outcome, outcome_of, random_meetings, run_of

SECTION = "Small and stiff"
SEED = int(os.environ.get("STIFF_PAIRS_SEED", "1"))
CASES = int(os.environ.get("STIFF_PAIRS_CASES", "25"))
VOLUME, DEPTH, GAIN = 0.05, 0.02, 0.01


def test_meetings_of_all_sizes_and_stiffnesses(tmp_path: Path) -> None:
    found: list[tuple[Meeting, Outcome]] = []
    for number, meeting in enumerate(random_meetings(SEED, CASES)):
        found.append((meeting, outcome_of(run_of(tmp_path / str(number), meeting), meeting)))
        print(line_of(*found[-1]), flush=True)
    for kind in KINDS:
        cases = [(meeting, outcome) for meeting, outcome in found if meeting.kind == kind]
        stiff = [outcome.volume for meeting, outcome in cases if meeting.is_stiff]
        volume = max(stiff, default=math.nan)
        depth, gain = (max((getattr(outcome, name) for _, outcome in cases), default=0.0) for name in ("depth", "gain"))
        name = f"{len(cases)} cases of seed {SEED}, {kind}"
        if stiff:
            what = f"volume of the {len(stiff)} that are stiff enough is off by"
            reach(SECTION, f"{name}: {what}", f"{volume:.2%}", f"{VOLUME:.0%}", volume <= VOLUME)
        reach(SECTION, f"{name}: in each other, of the size", f"{depth:.2%}", f"{DEPTH:.0%}", depth <= DEPTH)
        reach(SECTION, f"{name}: energy gained, of that of the blow", f"{gain:.2%}", f"{GAIN:.0%}", gain <= GAIN)


def line_of(meeting: Meeting, outcome: Outcome) -> str:
    """Returns one case and how it went."""
    return (
        f"{meeting.kind:9}{meeting.shape:5}{meeting.size:8.1e} m{meeting.youngs_modulus:8.0e} Pa "
        f"{meeting.speed:4.1f} m/s {meeting.substeps:3} steps  volume {outcome.volume:8.1e}  "
        f"depth {outcome.depth:8.1e}  "
        f"gain {outcome.gain:8.1e}  unsettled {outcome.unsettled}/{outcome.steps}  iterations {outcome.iterations}"
    )
