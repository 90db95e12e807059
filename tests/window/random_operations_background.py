# SPDX-License-Identifier: GPL-3.0-or-later
"""Seeded operations in the bpy module: `python random_operations_background.py SEED COUNT`, with sinew or its zip.

Without a window nothing beats, and operators of scripts push no steps: both is done here as a window does it.
"""

from __future__ import annotations

import importlib
import json
import os
import shutil
import sys
import tempfile
import time
from pathlib import Path

if "BLENDER_USER_RESOURCES" not in os.environ:
    os.environ["BLENDER_USER_RESOURCES"] = tempfile.mkdtemp(prefix="sinew-blender-")

import bpy

sys.path.insert(0, str(Path(__file__).parent))

from random_operations import Session, Steps, operations


def main(package: str, seed: int, count: int) -> None:
    """Does them, and prints one JSON line."""
    bakes = importlib.import_module(f"{package}.addon.baking.bake_control")
    bpy.ops.wm.read_homefile()
    bpy.context.preferences.edit.undo_steps = 32
    bpy.ops.ed.undo_push(message="Original")
    session = Session(bakes, lambda resume: start(bakes, resume), undo, redo, lambda line: print(line, flush=True))
    was_running = False
    for seconds in operations(seed, count, session):
        end = time.monotonic() + seconds
        while True:
            is_running = bakes.poll()
            if was_running and not is_running:
                bpy.ops.ed.undo_push(message="Simulate")
            was_running = is_running
            if time.monotonic() >= end:
                break
            time.sleep(0.01)
    told = {"blender": bpy.app.version_string, "seed": seed, "operations": sum(session.done.values())}
    print(json.dumps({**told, "refused": len(session.refused), "seen": session.seen}))
    shutil.rmtree(session.folder)


def start(bakes: object, resume: bool) -> Steps:
    yield 0.0
    try:
        bakes.start(bpy.context.scene, bakes.BakeRequest(resume=resume))
    except Exception as problem:
        if not hasattr(problem, "next_step"):
            raise
        raise RuntimeError(problem.sentence) from problem  # as an operator tells it


def undo() -> Steps:
    yield 0.0
    bpy.ops.ed.undo()


def redo() -> Steps:
    yield 0.0
    bpy.ops.ed.redo()


if __name__ == "__main__":
    if "sinew" not in sys.modules:
        import sinew

        sinew.register()
    main("sinew", int(sys.argv[1]), int(sys.argv[2]))
