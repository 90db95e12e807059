# SPDX-License-Identifier: GPL-3.0-or-later
"""Ten minutes of a live run under a restless hand: `make validate`, or

python -m pytest -s tests/validate_live.py
"""

from pathlib import Path

from fixtures.claim_table import reach
from fixtures.live_sessions import MAX_DISTANCE, MAX_GROWTH, MAX_SPEED, REST_SPEED, is_bounded, run_session

SECTION = "Live"
SECONDS = 600


def test_ten_minutes_of_grabs_pulls_and_settings(tmp_path: Path) -> None:
    story = run_session(tmp_path / "Take 1.sinew", SECONDS, seed=7)
    name = "ten minutes of a restless hand"
    reach(SECTION, f"{name}: largest speed [m/s]", story.fastest, MAX_SPEED, story.fastest < MAX_SPEED)
    reach(SECTION, f"{name}: farthest from the middle [m]", story.farthest, MAX_DISTANCE, story.farthest < MAX_DISTANCE)
    reach(SECTION, f"{name}: speed after all [m/s]", story.last_speed, REST_SPEED, story.last_speed < REST_SPEED)
    growth = story.memory_growth
    reach(SECTION, f"{name}: memory grown from minute 5 on [MB]", growth, MAX_GROWTH, growth < MAX_GROWTH)
    digests = SECONDS + 6
    reach(SECTION, f"{name}: digests repeated", story.compared, digests, story.compared == digests)
    assert is_bounded(story)
