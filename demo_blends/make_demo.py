# SPDX-License-Identifier: GPL-3.0-or-later
"""Builds the demo scenes, bakes one as the Simulate button does, renders it, and says where everything is.

    python demo_blends/make_demo.py [--scene NAME] [--out FOLDER] [--every N] [--only-build]

`make demo` runs it. The small, unbaked .blend files beside this script were made by it, with --only-build --out .
"""

from __future__ import annotations

import argparse
import importlib
import shutil
import time
from pathlib import Path

import bpy

import pictures
import stage

HERE = Path(__file__).resolve().parent
SCENES = (
    "jelly_suzanne",
    "swinging_tail",
    "tilting_tray",
    "snake",
    "wax_cow",
    "dragon",
    "clay_head",
    "chocolate_bar",
    "chocolate_egg",
    "glass_swan",
    "bending_arm",
    "belly",
    "shaken_cheek",
    "jelly_bowl",
    "squeezed_ball",
    "bunny_head",
    "great_dane",
    "flag_ear_dog",
    "belly_goal",
    "balloon",
    "biceps_curl",
    "pennate",
    "pec_bounce",
    "arm_layers",
    "playground",
    "unveiled_suzanne",
    "rag_doll",
    "stamped_clay",
    "ragdoll_flesh",
    "skin_wrinkles",
    "ham_on_a_string",
    "curtain_on_rings",
    "plates_on_cloth",
    "stretched_sheet",
    "small_fast_ball",
    "ribbon_in_points",
    "jelly_heap",
    "pile_of_dolls",
    "vase",
    "pane",
)
SHEET_PICTURES = 9


def build(name: str, out: Path) -> Path:
    """Builds one scene and saves it, unbaked; returns the .blend."""
    importlib.import_module(name).build()
    path = out / f"{name}.blend"
    bpy.ops.wm.save_as_mainfile(filepath=str(path), compress=True, check_existing=False)
    path.with_suffix(".blend1").unlink(missing_ok=True)
    return path


def bake(blend: Path, out: Path) -> Path:
    """Opens an unbaked .blend, saves it as another, bakes that, saves it and returns it."""
    baked = out / f"{blend.stem}_baked.blend"
    shutil.rmtree(baked.with_suffix(".sinew"), ignore_errors=True)
    bpy.ops.wm.open_mainfile(filepath=str(blend))
    stage.ensure_sinew()
    bpy.ops.wm.save_as_mainfile(filepath=str(baked), compress=True, check_existing=False)
    bpy.ops.sinew.simulate()
    if any(modifier.type == "CLOTH" for obj in bpy.context.scene.objects for modifier in obj.modifiers):
        bpy.ops.ptcache.bake_all(bake=True)  # every second frame alone would not move it
    bpy.ops.wm.save_mainfile(compress=True)
    baked.with_suffix(".blend1").unlink(missing_ok=True)
    return baked


def picture(baked: Path, out: Path, every: int = 1) -> list[Path]:
    """Renders the open, baked file, with `every` = 2 only every second frame at half the rate; returns a sheet of
    pictures, a movie, and the same as an animated picture, of each view layer; those after the first say which.
    """
    layers, made = list(bpy.context.scene.view_layers), []
    for layer in layers:
        for each in layers:
            each.use = each == layer
        name = baked.stem if layer == layers[0] else f"{baked.stem}_{layer.name.lower().replace(' ', '_')}"
        made += _picture(out, name, every)
    return made


def _picture(out: Path, name: str, every: int) -> tuple[Path, Path, Path]:
    """Renders the view layers that are in use."""
    scene = bpy.context.scene
    count = len(range(scene.frame_start, scene.frame_end + 1, every))
    frames = []
    for path in pictures.render_frames(out / "frames", every):
        frames.append(path)
        print(f"\rRendering {len(frames)} of {count} frames", end="", flush=True)
    print()
    sheet, movie, animation = (out / f"{name}.{kind}" for kind in ("png", "mp4", "webp"))
    step = max(1, (count - 1) // (SHEET_PICTURES - 1))
    pictures.write_sheet(frames[::step][:SHEET_PICTURES], sheet)
    fps = stage.FPS // every
    pictures.write_movie(frames, movie, fps)
    pictures.write_animation(frames, animation, fps)
    return sheet, movie, animation


def main() -> None:
    """Does what the command line asks for."""
    parser = argparse.ArgumentParser(description="Build the demo scenes, bake one and render it.")
    parser.add_argument("--scene", choices=SCENES, default=SCENES[0], help="the scene to bake and render")
    parser.add_argument("--out", type=Path, default=HERE.parent / "build" / "demo")
    parser.add_argument(
        "--every", type=int, default=1, choices=(1, 2, 3, 4), help="render every Nth frame, at a lower rate"
    )
    parser.add_argument("--only-build", action="store_true", help="only write the unbaked .blend files")
    asked = parser.parse_args()
    out = asked.out.resolve()
    out.mkdir(parents=True, exist_ok=True)
    began = time.monotonic()
    blends = {name: build(name, out) for name in SCENES}
    made = [*blends.values()]
    if not asked.only_build:
        print(f"Baking {asked.scene}", flush=True)
        start = time.monotonic()
        baked = bake(blends[asked.scene], out)
        print(f"Baked {bpy.context.scene.frame_end} frames in {time.monotonic() - start:.1f} s", flush=True)
        made += [baked, *picture(baked, out, asked.every)]
    print(f"\nDone in {time.monotonic() - began:.0f} s:")
    for path in made:
        print(f"    {path}  ({path.stat().st_size / 1000:.0f} kB)")


if __name__ == "__main__":
    main()
