# SPDX-License-Identifier: GPL-3.0-or-later
"""The scenes of demo_blends, built in Blender's module, exported as behind the button and read by the solver."""

from __future__ import annotations

import importlib
import importlib.util
import sys
from pathlib import Path
from typing import Any

from sinew.solver.bake.cache import layout
from sinew.solver.scene.scene import Scene
from sinew.solver.scene.tracks import TrackReader

DEMO_FOLDER = Path(__file__).resolve().parent.parent.parent / "demo_blends"


def can_run() -> bool:
    """Returns whether Blender's module is there."""
    return importlib.util.find_spec("bpy") is not None


def demo_script(name: str) -> Any:
    """Returns the module that builds a scene."""
    if str(DEMO_FOLDER) not in sys.path:
        sys.path.insert(0, str(DEMO_FOLDER))
    return importlib.import_module(name)


def export_open_file(folder: Path, bake_pass: int | None = None) -> tuple[Scene, TrackReader]:
    """Exports the open file into a folder, all of it or the bodies of one pass; returns the scene and its tracks."""
    import bpy

    from sinew.addon.cache import bake_passes
    from sinew.addon.export.export_scene import export_scene

    context, scene = bpy.context, bpy.context.scene
    chosen = [each for each in bake_passes.passes(scene, folder) if each.number == bake_pass]
    for _ in export_scene(context, scene, folder, bake_pass=chosen[0] if chosen else None):
        pass
    return Scene.load(folder / layout.SCENE_FOLDER), TrackReader(folder / layout.SCENE_FOLDER)
