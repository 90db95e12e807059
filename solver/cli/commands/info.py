# SPDX-License-Identifier: GPL-3.0-or-later
"""`sinew info CACHE`: describes a cache folder and checks it."""

from __future__ import annotations

import argparse
from pathlib import Path
from typing import Any

from ...bake.cache import CacheReader
from ...runtime.error_messages.command_line_next_steps import CACHE_COMMAND_NEXT_STEPS
from ...runtime.errors import StorageFailed
from .simulate import print_results, say_warnings

MAX_SHOWN_PROBLEMS = 20


def add_parser(subparsers: Any) -> None:
    """Adds the command and its options."""
    parser = subparsers.add_parser("info", help="describe a cache folder")
    parser.add_argument("cache", type=Path, metavar="CACHE")
    parser.add_argument("--verify", action="store_true", help="compare every file with its checksum")
    parser.add_argument("--json", action="store_true", help="write the description as one JSON line")
    parser.set_defaults(run=run, next_steps=CACHE_COMMAND_NEXT_STEPS)


def run(options: argparse.Namespace) -> int:
    """Describes the cache. Raises StorageFailed (exit code 3) if a file is damaged."""
    reader = CacheReader(options.cache)
    found = describe(reader)
    if options.verify:
        verified = reader.verify()
        found["problems"] = list(verified.problems)
        found |= {"unchecked": list(verified.unchecked), "checked": verified.checked}
    else:
        found["problems"] = reader.integrity_problems()
    if options.json:
        options.emit(found)
    else:
        _print_description(found)
    if found["problems"]:
        first, *others = found["problems"]
        more = f" (and {len(others)} more)" if others else ""
        raise StorageFailed("cache-problem", path=str(options.cache), problem=first + more)
    return 0


def describe(reader: CacheReader) -> dict[str, Any]:
    """Returns the description of a cache, for JSON."""
    head = reader.metadata
    return {
        "event": "info",
        "bodies": [{"key": body.key, "name": body.name, "vertices": body.vertices} for body in head.bodies],
        "frame_start": head.frame_start,
        "frame_end": head.frame_end,
        "last_frame": reader.last_frame(),
        "resume_frame": reader.resume_frame(),
        "fps": head.fps,
        "samples_per_frame": head.samples_per_frame,
        "is_being_written": reader.is_being_written(),
        "bytes": reader.size(),
        **reader.convergence().as_event(),
        "results": reader.results(),
        "warnings": reader.warnings(),
    }


def _print_description(found: dict[str, Any]) -> None:
    names = ", ".join(f'"{body["name"]}" ({body["vertices"]} vertices)' for body in found["bodies"])
    print(f"bodies: {names}")
    last = "none" if found["last_frame"] is None else f"{found['frame_start']} to {found['last_frame']}"
    print_results(found["results"])
    print(f"frames: {last} of {found['frame_start']} to {found['frame_end']} at {found['fps']:g} per second")
    print(f"resumes from: {found['resume_frame']}   size: {found['bytes'] / 1e6:.1f} MB")
    print(
        f"steps or poses not converged: {found['not_converged']}   steps with unsettled contacts: {found['unsettled']}"
    )
    print(f"largest residual: {found['residual']:.2g}   most inverted tets: {found['inverted_tets']}")
    say_warnings(found["warnings"])
    if "checked" in found:
        _print_verification(found)


def _print_verification(found: dict[str, Any]) -> None:
    verdict = f"{len(found['problems'])} problems" if found["problems"] else "no damage"
    print(f"checked by checksum: {found['checked']}   without a checksum: {len(found['unchecked'])}   {verdict}")
    for problem in found["problems"][:MAX_SHOWN_PROBLEMS]:
        print(f"  {problem}")
    if found["unchecked"]:
        print(f"without a checksum, from Sinew 0.2: {found['unchecked'][0]} and others")
