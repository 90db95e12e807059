# SPDX-License-Identifier: GPL-3.0-or-later
"""`sinew live CACHE`: runs the scene in a cache folder in real time, while somebody handles it.

With --child, commands come from standard input (`live/commands.py`), until `{"command": "cancel"}` or its end. Samples
are in CACHE/live (`live/sample_files.py`), and what was done is in CACHE/live/inputs.jsonl. `--replay` repeats that run
and compares every second of it; `--keep` does so and bakes what was seen, or with `--last` the end of it.
"""

from __future__ import annotations

import argparse
from collections.abc import Mapping
from pathlib import Path
from queue import SimpleQueue
from typing import Any

from ...runtime.cancellation import CancellationToken
from ...runtime.errors import Cancelled
from ...runtime.event_text import warnings_in
from ...runtime.preload import loading_permanently
from .simulate import say_warnings


def add_parser(subparsers: Any) -> None:
    """Adds the command and its options."""
    parser = subparsers.add_parser("live", help="run the scene in a cache folder in real time")
    parser.add_argument("cache", type=Path, metavar="CACHE", help="a NAME.sinew folder with a scene in it")
    parser.add_argument("--steps", type=int, metavar="N", help="end after this many steps")
    parser.add_argument(
        "--rate", type=float, default=1.0, metavar="X", help="0.25: slow motion at a quarter of real time"
    )
    parser.add_argument("--unpaced", action="store_true", help="take steps as fast as they come")
    parser.add_argument("--keep", action="store_true", help="bake the recorded run into the cache folder")
    parser.add_argument("--last", type=float, metavar="SECONDS", help="with --keep: bake the last seconds alone")
    parser.add_argument("--replay", action="store_true", help="repeat the recorded run, and compare")
    parser.add_argument("--threads", type=int, metavar="N", help="number of threads, which never changes the result")
    parser.add_argument("--json", action="store_true", help="write events as JSON lines")
    parser.add_argument("--child", action="store_true", help="read commands from standard input; stop when it closes")
    parser.set_defaults(run=run)


def run(options: argparse.Namespace) -> int:
    """Runs or replays the scene, and returns the exit code."""
    stop, commands = CancellationToken(), SimpleQueue[Mapping[str, Any]]()
    stop.listen_to_signals()
    if options.child:
        stop.listen_to_input(lambda: options.emit(Cancelled().as_event()), commands.put)
    options.emit({"event": "started"})
    _check(options)
    emit = options.emit if options.json else print_event
    with loading_permanently():
        from ...bake.cache.layout import SCENE_FOLDER
        from ...bake.warmup.compile_kernels import announcing_compilation
        from ...live.keep import keep
        from ...live.live_loop import LiveOptions, replay, run_live
        from ...live.pacing import NoPace, Pace
        from ...runtime.threads.thread_count import fair_thread_count, set_thread_count
        from ...scene.scene import Scene
        from ...scene.validation import check_scene

    scene = Scene.load(options.cache / SCENE_FOLDER)
    check_scene(scene)
    set_thread_count(options.threads or scene.settings.threads or fair_thread_count())
    with announcing_compilation(emit):
        if options.keep:
            keep(options.cache, scene, stop, emit, options.last)
        elif options.replay:
            replay(options.cache, scene, stop, emit)
        else:
            make_pace = NoPace if options.unpaced else lambda seconds: Pace(seconds, options.rate)
            run_live(options.cache, scene, commands, stop, emit, LiveOptions(options.steps, make_pace))
    return 0


def _check(options: argparse.Namespace) -> None:
    from ...runtime.errors import BadInput

    if not 0.0 < options.rate < float("inf"):
        raise BadInput("live-rate", rate=options.rate)
    if options.last is not None and not 0.0 < options.last < float("inf"):
        raise BadInput("live-last", seconds=options.last)


def print_event(event: Mapping[str, Any]) -> None:
    """Prints an event for people."""
    match event.get("event"):
        case "building":
            print(f"{event['stage']} {event['body']}", flush=True)
        case "live":
            print(f"{event['time']:.2f} s: {event['ratio']:.2f} × real time", flush=True)
        case "replaying":
            print(f"{event['step']} of {event['steps']} steps, {event['compared']} comparisons", flush=True)
        case "done" if "compared" in event:
            print(f"{event['steps']} steps, {event['compared']} comparisons, all equal", flush=True)
        case "done":
            print(f"{event['steps']} steps, {event['not_converged']} not converged", flush=True)
    say_warnings(warnings_in(event))
