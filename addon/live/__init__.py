# SPDX-License-Identifier: GPL-3.0-or-later
"""Runs the bodies of a scene in the viewport while somebody handles them (docs/architecture.md, "A live run").

    run_control.start(scene)    exports the present frame and starts the child
    run_control.poll()          from a timer: hears the child, shows the newest sample, sends what was changed
    run_control.stop()          asks it to end

The window's thread reads what is there and waits for nothing. `session.live` (addon/baking/live_state.py) is the run.
"""
