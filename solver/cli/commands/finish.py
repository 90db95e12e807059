# SPDX-License-Identifier: GPL-3.0-or-later
"""`sinew finish CACHE`: cuts the render meshes of broken bodies, after a crash or an aborted bake."""

from __future__ import annotations

import argparse
import time as clock
from pathlib import Path
from typing import Any

from ...bake.cache import CacheLock, CacheReader
from ...runtime.cancellation import CancellationToken
from ...runtime.error_messages.command_line_next_steps import CACHE_COMMAND_NEXT_STEPS
from ...runtime.errors import Cancelled
from .simulate import print_event, print_results


def add_parser(subparsers: Any) -> None:
    """Adds the command and its options."""
    parser = subparsers.add_parser("finish", help="cut the render meshes of broken bodies")
    parser.add_argument("cache", type=Path, metavar="CACHE", help="a NAME.sinew folder with frames in it")
    parser.add_argument("--json", action="store_true", help="write events as JSON lines")
    parser.add_argument("--child", action="store_true", help="read commands from standard input; stop when it closes")
    parser.set_defaults(run=run, next_steps=CACHE_COMMAND_NEXT_STEPS)


def run(options: argparse.Namespace) -> int:
    """Finishes and returns the exit code."""
    began = clock.perf_counter()
    stop = CancellationToken()
    stop.listen_to_signals()
    if options.child:
        stop.listen_to_input(lambda: options.emit(Cancelled().as_event()))
    CacheReader(options.cache)  # refuses other folders before the lock exists there
    options.emit({"event": "started"})

    from ...bake.postprocess.finish_cache import postprocess_cache

    lock = CacheLock(options.cache)
    try:
        results = postprocess_cache(options.cache, options.emit if options.json else print_event, stop)
    finally:
        lock.release()
    seconds = clock.perf_counter() - began
    rows = [result.as_event() for result in results]
    options.emit({"event": "done", "results": rows, "seconds": seconds})
    if not options.json:
        print_results(rows)
        print(f"finished in {seconds:.1f} s")
    return 0
