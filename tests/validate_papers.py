# SPDX-License-Identifier: GPL-3.0-or-later
"""The experiments of MDMJC02 and NPF05 at full size: what the page says of them has to come out again.

    python -m pytest -s tests/validate_papers.py

Times are not asked for: `make papers` measures them.
"""

from __future__ import annotations

import pytest

pytest.importorskip("matplotlib", reason="make papers draws with it")

from papers import catalogue

UNTIMED = [
    name for name in catalogue.NAMES if name.startswith(("mdmjc02", "npf05")) and not catalogue.load(name).is_timed
]
# what differs from the paper, and the page says why
KNOWN = {"mdmjc02_divergence": 2, "mdmjc02_largest_step": 1}


@pytest.mark.parametrize("name", UNTIMED)
def test_the_claims_of_an_experiment_come_out(name, reach):
    rows = catalogue.load(name).run(False).rows
    compared = [row for row in rows if row.agrees is not None]
    differing = [row.quantity for row in compared if not row.agrees]
    most = KNOWN.get(name, 0)
    reach(
        "Papers",
        f"{name}: {len(compared)} claims, of which differ",
        len(differing),
        f"≤ {most}",
        len(differing) <= most,
    )
