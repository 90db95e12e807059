# SPDX-License-Identifier: GPL-3.0-or-later
"""Runs a scene while somebody handles it: inputs come between steps, and each step is seen at once.

    run = LiveRun(scene, tracks, controls)
    run.run(before_step, on_sample)    # until before_step raises; it may say, before any step,
    run.apply(parse_command({"command": "grab", "grab": 1, "body": "ball", "place": [0, 0, 1]}))

A live simulation is a scene that is still being written: what is handled are tracks that get longer (`live_tracks.py`)
and grabs (`constraints/grabs.py`). `live_run.py` takes the steps, `recording.py` writes down what came when, from which
a replay makes the same bytes; `sample_files.py` shows the samples to another process, `pacing.py` keeps to the clock.
"""
