# SPDX-License-Identifier: GPL-3.0-or-later
"""Runs a scene while somebody handles it: inputs come between steps, and each step is seen at once.

    run = LiveRun(scene, tracks, controls)
    run.advance([{"command": "grab", "grab": 1, "body": "ball", "place": [0, 0, 1]}])   # a step
    run.advance([{"command": "move", "grab": 1, "place": [0.1, 0, 1]}])

A live simulation is a scene that is still being written: what is handled are tracks that get longer (`live_tracks.py`)
and grabs (`constraints/grabs.py`). `live_run.py` takes the steps, `recording.py` writes down what came when, from which
a replay makes the same bytes; `sample_files.py` shows the samples to another process, `pacing.py` keeps to the clock.
"""
