# SPDX-License-Identifier: GPL-3.0-or-later
"""`sinew wait`: loads all that a bake needs, and then bakes what a line on standard input asks for.

    {"command": "simulate", "arguments": ["CACHE", "--child", "--json"], "log": "…/log.txt"}

Loading takes most of a short bake. Blender keeps such a process, so that Simulate begins at once.
It says `ready` when it is, and ends when its standard input does.
"""

from __future__ import annotations

import argparse
import json
import os
import sys
from typing import Any

from ...runtime.cancellation import take_command_input
from ...runtime.preload import loading_permanently, preload_modules
from . import simulate


def add_parser(subparsers: Any) -> None:
    """Says the options."""
    parser = subparsers.add_parser("wait", help="load everything, and bake what standard input asks for")
    parser.add_argument("--json", action="store_true", help="say what happens as JSON lines")
    parser.set_defaults(run=run)


def run(options: argparse.Namespace) -> int:
    """Waits, bakes once and returns the exit code; 0 where nobody asked."""
    with loading_permanently():
        preload_modules()
        from ...bake.warmup.compile_kernels import load_kernels

        load_kernels()
    options.emit({"event": "ready"})
    for line in take_command_input():
        order = _parse_request(line)
        if order is not None:
            _write_log(order.get("log"))
            return simulate.run(_simulate_options(options, order["arguments"]))
    return 0


def _parse_request(line: bytes) -> dict[str, Any] | None:
    """Returns what a line asks for, or None where it asks for no bake."""
    try:
        order = json.loads(line)
    except ValueError:
        return None
    return order if isinstance(order, dict) and order.get("command") == "simulate" else None


def _simulate_options(options: argparse.Namespace, arguments: list[str]) -> argparse.Namespace:
    parser = argparse.ArgumentParser()
    simulate.add_parser(parser.add_subparsers())
    asked = parser.parse_args(["simulate", *arguments])
    asked.emit = options.emit
    return asked


def _write_log(path: str | None) -> None:
    """Sends standard error to the end of a file; without one, or where it cannot be written, it stays."""
    if not path:
        return
    try:
        file = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_APPEND | getattr(os, "O_BINARY", 0), 0o666)
    except OSError:
        return  # a bake does not fail for its log
    sys.stderr.flush()
    os.dup2(file, 2)
    os.close(file)
