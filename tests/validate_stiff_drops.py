# SPDX-License-Identifier: GPL-3.0-or-later
"""Bodies from 0.1 mm to 100 m and from 1e3 to 1e11 Pa fall on the ground and stay sound: `make validate`, or

STIFF_DROPS_SEED=7 STIFF_DROPS_CASES=300 python -m pytest -s tests/validate_stiff_drops.py

A body is stiff enough to keep its volume where the blow strains it by less than 2 %, v √(ρ/E), and its own weight by
less than 1 %, ρ g L / E.
"""

from __future__ import annotations

import math
import os
from pathlib import Path

from fixtures.claim_table import reach
from fixtures.stiff_drops import GIVES_WAY, SAGS, Drop, Outcome, outcome_of, random_drops, run_of

SECTION = "Small and stiff"
SEED = int(os.environ.get("STIFF_DROPS_SEED", "20260"))
CASES = int(os.environ.get("STIFF_DROPS_CASES", "300"))
VOLUME, DEPTH, GAIN = 0.05, 0.02, 0.01


def test_drops_of_all_sizes_and_stiffnesses(tmp_path: Path) -> None:
    found: list[tuple[Drop, Outcome]] = []
    for number, drop in enumerate(random_drops(SEED, CASES)):
        found.append((drop, outcome_of(run_of(tmp_path / str(number), drop), drop)))
    for line in table(found):
        print(line)
    stiff = [outcome.volume for drop, outcome in found if drop.is_stiff]
    volume = max(stiff, default=math.nan)
    depth, gain = (max(getattr(outcome, name) for _, outcome in found) for name in ("depth", "gain"))
    name = f"{CASES} drops of seed {SEED}"
    what = f"volume of the {len(stiff)} with a blow under {GIVES_WAY:.0%} and a sag under {SAGS:.0%} is off by"
    reach(SECTION, f"{name}: {what}", f"{volume:.2%}", f"{VOLUME:.0%}", volume <= VOLUME)
    reach(
        SECTION, f"{name}: below the ground after the blow, of the size", f"{depth:.2%}", f"{DEPTH:.0%}", depth <= DEPTH
    )
    reach(SECTION, f"{name}: energy gained, of that of the start", f"{gain:.2%}", f"{GAIN:.0%}", gain <= GAIN)


def table(found: list[tuple[Drop, Outcome]]) -> list[str]:
    """Returns lines by decade of size and two decades of stiffness; volume is that of stiff cases alone."""
    head = ("size", "E", "cases", "volume", "depth", "gain", "unsettled")
    cells: dict[tuple[int, int], list[tuple[Drop, Outcome]]] = {}
    for drop, outcome in found:
        place = math.floor(math.log10(drop.size)), 2 * math.floor((math.log10(drop.youngs_modulus) - 3.0) / 2.0) + 3
        cells.setdefault(place, []).append((drop, outcome))
    lines = ["".join(f"{word:>12}" for word in head)]
    for (size, stiffness), cases in sorted(cells.items()):
        volume = max((outcome.volume for drop, outcome in cases if drop.is_stiff), default=None)
        depth, gain = (max(getattr(outcome, name) for _, outcome in cases) for name in ("depth", "gain"))
        unsettled = sum(outcome.unsettled for _, outcome in cases) / sum(outcome.steps for _, outcome in cases)
        words = (
            f"1e{size} m", f"1e{stiffness} Pa", f"{len(cases)}", "-" if volume is None else f"{volume:.2%}",
            f"{depth:.2%}", f"{gain:.1e}", f"{unsettled:.0%}",
        )  # fmt: skip
        lines.append("".join(f"{word:>12}" for word in words))
    return lines
