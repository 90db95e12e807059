# SPDX-License-Identifier: GPL-3.0-or-later
"""`sinew wait`: loads all modules that a bake needs, then bakes or runs live on request from standard input.

    {"command": "simulate", "arguments": ["CACHE", "--child", "--json"], "log": "…/log.txt"}

Loading takes most of a short bake. Blender therefore keeps such a process, so that Simulate starts at once.
The process emits `ready` and ends when its standard input closes.
"""

from __future__ import annotations

import argparse
import json
import os
import sys
from typing import Any

from ...runtime.cancellation import take_command_input
from ...runtime.preload import loading_permanently, preload_modules
from . import live, simulate

COMMANDS = {"simulate": simulate, "live": live}


def add_parser(subparsers: Any) -> None:
    """Adds the command and its options."""
    parser = subparsers.add_parser("wait", help="load everything, then bake or run live on request from standard input")
    parser.add_argument("--json", action="store_true", help="write events as JSON lines")
    parser.set_defaults(run=run)


def run(options: argparse.Namespace) -> int:
    """Waits, does what is asked once, and returns the exit code, or 0 without a request."""
    with loading_permanently():
        preload_modules()
        from ...bake.warmup.compile_kernels import load_kernels

        load_kernels()
    options.emit({"event": "ready"})
    for line in take_command_input():
        request = _parse_request(line)
        if request is not None:
            _write_log(request.get("log"))
            return COMMANDS[request["command"]].run(_requested_options(options, request))
    return 0


def _parse_request(line: bytes) -> dict[str, Any] | None:
    """Returns the request in a line, or None if it requests nothing that can be done."""
    try:
        request = json.loads(line)
    except ValueError:
        return None
    return request if isinstance(request, dict) and request.get("command") in COMMANDS else None


def _requested_options(options: argparse.Namespace, request: dict[str, Any]) -> argparse.Namespace:
    parser, name = argparse.ArgumentParser(), request["command"]
    COMMANDS[name].add_parser(parser.add_subparsers())
    requested = parser.parse_args([name, *request["arguments"]])
    requested.emit = options.emit
    return requested


def _write_log(path: str | None) -> None:
    """Appends standard error to a file, if the file can be written."""
    if not path:
        return
    try:
        file = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_APPEND | getattr(os, "O_BINARY", 0), 0o666)
    except OSError:
        return  # a missing log does not stop a bake
    sys.stderr.flush()
    os.dup2(file, 2)
    os.close(file)
