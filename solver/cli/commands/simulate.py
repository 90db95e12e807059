# SPDX-License-Identifier: GPL-3.0-or-later
"""`sinew simulate CACHE`: bakes the scene in a cache folder. Blender's child process and render farms run it."""

from __future__ import annotations

import argparse
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

from ...runtime.cancellation import CancellationToken
from ...runtime.error_messages.command_line_next_steps import CACHE_COMMAND_NEXT_STEPS
from ...runtime.errors import Cancelled
from ...runtime.event_text import residual_text, warnings_in
from ...runtime.preload import loading_permanently


def add_parser(subparsers: Any) -> None:
    """Adds the command and its options."""
    parser = subparsers.add_parser("simulate", help="bake the scene in a cache folder")
    parser.add_argument("cache", type=Path, metavar="CACHE", help="a NAME.sinew folder with a scene in it")
    begin = parser.add_mutually_exclusive_group()
    begin.add_argument("--resume", action="store_true", help="continue where the last bake stopped")
    begin.add_argument("--start-over", action="store_true", help="bake all frames again (the default)")
    parser.add_argument(
        "--from-frame", type=int, metavar="N", help="with --resume: continue from this frame or an earlier one"
    )
    parser.add_argument(
        "--accept-changes", action="store_true", help="with --resume: continue even if the scene has changed"
    )
    parser.add_argument("--frame-end", type=int, metavar="N", help="last frame, instead of the scene's")
    parser.add_argument("--threads", type=int, metavar="N", help="number of threads, which never changes the result")
    parser.add_argument("--strict", action="store_true", default=None, help="stop when a step does not converge")
    parser.add_argument("--json", action="store_true", help="write events as JSON lines")
    parser.add_argument("--child", action="store_true", help="read commands from standard input; stop when it closes")
    parser.set_defaults(run=run, next_steps=CACHE_COMMAND_NEXT_STEPS)


def run(options: argparse.Namespace) -> int:
    """Bakes and returns the exit code."""
    stop = CancellationToken()
    stop.listen_to_signals()
    if options.child:
        stop.listen_to_input(lambda: options.emit(Cancelled().as_event()))
    options.emit({"event": "started"})  # before Numba loads, which may take seconds on a slow disk

    with loading_permanently():
        from ...bake.run_bake import BakeOptions, run_bake

    run_bake(
        options.cache,
        options.emit if options.json else print_event,
        stop,
        on_stopped=stop.acknowledge,
        options=BakeOptions(
            resume=options.resume,
            from_frame=options.from_frame,
            accept_changes=options.accept_changes,
            frame_end=options.frame_end,
            threads=options.threads,
            strict=options.strict,
        ),
    )
    return 0


def print_event(event: Mapping[str, Any]) -> None:
    """Prints an event for people."""
    match event.get("event"):
        case "compiling":
            print("compiling kernels, once per machine", flush=True)
        case "building":
            print(f"{event['stage']} {event['body']}", flush=True)
        case "built":
            print(f"{event['tets']} tets", flush=True)
        case "frame":
            words = f"frame {event['frame']} of {event['frame_end']}: {event['seconds']:.3f} s"
            words += f", {event['iterations']} iterations, {residual_text(event)}"
            print(words + _unconverged_text(event), flush=True)
        case "finishing" if event["fraction"] == 0.0:
            print(f"finishing {event['body']}", flush=True)
        case "finished":
            print_results(event["results"])
        case "done":
            print(f"{event['frames']} frames in {event['seconds']:.1f} s{_unconverged_text(event)}", flush=True)
    say_warnings(warnings_in(event))


def say_warnings(warnings: Iterable[Mapping[str, Any]]) -> None:
    """Prints sentences, what was measured and where, and next steps."""
    for warning in warnings:
        measured = f" {warning['measured']}." if warning.get("measured") else ""
        near = f" Near {places_text(warning['places'])}." if warning.get("places") else ""
        print(f"warning: {warning['sentence']}{measured} {warning['next_step']}{near}", flush=True)


def places_text(places: Iterable[Sequence[float]]) -> str:
    """Returns places [m], (k, 3), for people: "0.1, 0.2, 1.5; 0, 0, 1"."""
    return "; ".join(", ".join(f"{x:.3g}" for x in place) for place in places)


def print_results(results: Sequence[Mapping[str, Any]]) -> None:
    """Prints the broken bodies and their pieces."""
    for made in results:
        cracks = f"{made['pieces']} pieces, {made['broken_faces']} broken faces, {made['vertices']} vertices"
        print(f'broken: "{made["name"]}": {cracks}', flush=True)


def _unconverged_text(event: Mapping[str, Any]) -> str:
    """Returns how many steps of a frame or a bake did not converge or settle, or ""."""
    words = f", {event['not_converged']} steps or poses not converged" if event["not_converged"] else ""
    return words + (f", {event['unsettled']} steps with unsettled contacts" if event["unsettled"] else "")
