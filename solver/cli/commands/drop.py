# SPDX-License-Identifier: GPL-3.0-or-later
"""`sinew drop IN --out DIR`: fills a mesh with tets or reads them, drops it on the ground, writes PC2 and a report."""

from __future__ import annotations

import argparse
import json
import math
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ...bake.cache import CacheReader
from ...runtime.atomic_files import copy_file, write_file
from ...runtime.cancellation import CancellationToken
from ...runtime.error_messages.command_line_next_steps import MESH_COMMAND_NEXT_STEPS
from ...runtime.errors import BadInput, SinewError
from ...runtime.event_text import warnings_in
from ...runtime.storage_errors import check_folder, named_errors
from ...scene.material_presets import DEFAULT_PRESET_KEY, MATERIAL_PRESETS, MaterialPreset, find_preset
from ...scene.scene import MAX_FRAME_NUMBER, Fracture, Meshing, Plasticity, Settings
from .simulate import print_event

if TYPE_CHECKING:
    from ...mesh.geometry.triangle_surface import Surface
    from ...mesh.tet_repair import RepairedTets


def add_parser(subparsers: Any) -> None:
    """Adds the command and its options."""
    parser = subparsers.add_parser("drop", help="drop a mesh on the ground")
    parser.add_argument("mesh", type=Path, metavar="IN", help="mesh or tet file, in metres, z up")
    parser.add_argument("--out", type=Path, required=True, metavar="DIR", help="folder for NAME.pc2 and report.json")
    parser.add_argument(
        "--preset", default=DEFAULT_PRESET_KEY, metavar="NAME", help=", ".join(MATERIAL_PRESETS).lower()
    )
    parser.add_argument("--youngs-modulus", type=float, metavar="PA", help="stiffness, instead of that of the preset")
    parser.add_argument("--height", type=float, metavar="M", help="height of the lowest point (half the size)")
    parser.add_argument("--seconds", type=float, default=2.0, metavar="S", help="simulated time (2)")
    parser.add_argument("--fps", type=float, default=24.0, metavar="N", help="frames per second (24)")
    parser.add_argument("--substeps", type=int, default=4, metavar="N", help="steps per frame (4)")
    parser.add_argument(
        "--simulated-scale", type=float, default=1.0, metavar="F", help="simulate as if F times as large (1)"
    )
    parser.add_argument(
        "--method", choices=("smooth", "robust"), default="smooth", help="how tets fill the mesh (smooth)"
    )
    parser.add_argument("--divisions", type=int, default=16, metavar="N", help="tets along the longest side (16)")
    parser.add_argument("--breaking-stress", type=float, metavar="PA", help="turn fracture on, at this stress")
    parser.add_argument("--toughness", type=float, metavar="K", help="resistance to crack growth, in Pa √m")
    parser.add_argument("--yield-strain", type=float, metavar="E", help="turn plasticity on, above this strain")
    parser.add_argument("--flow", type=float, metavar="RATE", help="rate of plastic flow, per second")
    parser.add_argument("--elastic", action="store_true", help="turn plasticity and fracture of the preset off")
    parser.add_argument("--threads", type=int, metavar="N", help="number of threads, which never changes the result")
    parser.add_argument("--json", action="store_true", help="write events as JSON lines; the last one is the report")
    parser.set_defaults(run=run, next_steps=MESH_COMMAND_NEXT_STEPS)


def run(options: argparse.Namespace) -> int:
    """Bakes, reports and returns the exit code."""
    preset = find_preset(options.preset)
    settings = _settings(options)
    check_folder(options.out)
    stop = CancellationToken()
    stop.listen_to_signals()

    from ...bake.run_bake import BakeOptions, run_bake
    from ...scene.validation import check_scene
    from ..drop_scene import BODY_KEY, drop_report, drop_scene, results_origin

    name = options.mesh.stem
    meshing = Meshing(options.method, divisions=options.divisions)
    shape, notes = _read(options.mesh)
    material = replace(preset.material, **_without_none(youngs_modulus=options.youngs_modulus))
    scene = drop_scene(name, shape, material, meshing, options.height, settings, options.simulated_scale)
    body = replace(scene.bodies[0], plasticity=_plasticity(options, preset), fracture=_fracture(options, preset))
    scene = replace(scene, bodies=(body,))
    check_scene(scene)  # before anything is overwritten
    origin = results_origin(shape)
    if origin.any():
        notes = [*notes, SinewError("mesh-far", name=name, x=f"{origin[0]:.10g}", y=f"{origin[1]:.10g}")]
    cache = options.out / f"{name}.sinew"
    with named_errors(options.out):
        scene.save(cache / "scene")
    seconds: list[float] = []
    warnings: list[Mapping[str, Any]] = []

    def handle_event(event: Mapping[str, Any]) -> None:
        if event.get("event") == "frame" and event["frame"] > settings.frame_start:
            seconds.append(event["seconds"])
        warnings.extend(warnings_in(event))
        options.emit(event)
        if not options.json:
            print_event(event)

    for note in notes:
        handle_event({"event": "warning", **note.as_warning()})
    run_bake(cache, handle_event, stop, on_stopped=stop.acknowledge, options=BakeOptions(threads=options.threads))
    reader = CacheReader(cache)
    measured = drop_report(reader, seconds, settings.substeps)
    report = {
        "mesh": options.mesh.name,
        "preset": preset.key,
        "origin": origin.tolist(),
        **measured,
        "warnings": warnings,
    }
    with named_errors(options.out):
        copy_file(reader.play_path(BODY_KEY), options.out / f"{name}.pc2")
        write_file(options.out / "report.json", json.dumps(report, indent=1).encode())
    options.emit({"event": "report", **report})
    if not options.json:
        _print_report(report, options.out)
    return 0


def _read(path: Path) -> tuple[Surface | RepairedTets, list[SinewError]]:
    """Returns the surface or the tets of a file, and notes on repairs."""
    from ...mesh.formats.surface_files import SURFACE_SUFFIXES, read_surface
    from ...mesh.formats.tet_files import TET_SUFFIXES, read_tets

    ending = path.suffix.lower()
    if ending in TET_SUFFIXES:
        tets = read_tets(path)
        return tets, tets.notes(path.stem)
    if ending in SURFACE_SUFFIXES:
        return read_surface(path), []
    raise BadInput("file-format", path=str(path), wanted=", ".join((*SURFACE_SUFFIXES, *TET_SUFFIXES)))


def _settings(options: argparse.Namespace) -> Settings:
    for words, value in (("--seconds", options.seconds), ("--fps", options.fps)):
        if not (math.isfinite(value) and value > 0.0):
            raise BadInput("setting-out-of-range", setting=words, name="drop", value=value, range="above 0")
    if options.seconds * options.fps > MAX_FRAME_NUMBER - 1:
        raise BadInput("too-long", seconds=options.seconds, fps=options.fps, most=MAX_FRAME_NUMBER - 1)
    if options.height is not None and not (math.isfinite(options.height) and options.height >= 0.0):
        raise BadInput("setting-out-of-range", setting="--height", name="drop", value=options.height, range="0 or more")
    frames = max(1, round(options.seconds * options.fps))
    return Settings(1, 1 + frames, options.fps, options.substeps)


def _plasticity(options: argparse.Namespace, preset: MaterialPreset) -> Plasticity | None:
    """Returns the plasticity, if the preset has it by default or an option sets it."""
    chosen = _without_none(yield_strain=options.yield_strain, flow=options.flow)
    is_on = chosen or ("plasticity" in preset.features and not options.elastic)
    return replace(preset.plasticity or Plasticity(), **chosen) if is_on else None


def _fracture(options: argparse.Namespace, preset: MaterialPreset) -> Fracture | None:
    """Returns the fracture settings, if the preset has them by default or an option sets them."""
    chosen = _without_none(breaking_stress=options.breaking_stress, toughness=options.toughness)
    is_on = chosen or ("fracture" in preset.features and not options.elastic)
    defaults = preset.fracture or Fracture()
    if "breaking_stress" in chosen:  # the preset's toughness belongs to its breaking stress
        defaults = replace(defaults, toughness=None)
    return replace(defaults, **chosen) if is_on else None


def _without_none(**values: float | None) -> dict[str, Any]:
    return {name: value for name, value in values.items() if value is not None}


def _print_report(report: Mapping[str, Any], folder: Path) -> None:
    print(f"{report['tets']} tets, {report['frames']} frames, {1e3 * report['seconds_per_frame']:.1f} ms per frame")
    print(f"lowest point {report['lowest_point']:.4g} m, volume {100 * report['volume_ratio']:.1f} % at the end")
    print(f"{report['inverted_tets_max']} tets inverted at most, {report['steps_not_converged']} steps not converged,")
    print(f"{report['steps_with_unsettled_contacts']} steps with unsettled contacts")
    for name, value in report["body"].items():
        print(f"{name.replace('_', ' ')}: {value:.4g}")
    print(f"in {folder}")
