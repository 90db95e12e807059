# SPDX-License-Identifier: GPL-3.0-or-later
"""Bakes and attaches in the open file without a window, by the code that the button runs."""

from __future__ import annotations

import argparse
import functools
import signal
import sys
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import bpy

from ...solver.bake.cache import CachedBody, CacheReader, is_cache
from ...solver.runtime.errors import BadInput, Cancelled, StorageFailed
from ...solver.runtime.event_text import residual_text
from ...solver.scene.settings.simulation_settings import FINAL, FRAME_LIMITS, MAX_FRAME_NUMBER
from ..baking import attach_bake, attach_force_curves, bake_control, bake_summary
from ..baking.addon_session import RunningBake, session
from ..baking.bake_request import BakeRequest
from ..blender_data import sinew_modifier
from ..blender_data.object_keys import body_key
from ..cache import cache_paths, selected_body_caches
from ..export import validation
from ..objects import roles
from ..properties.role_definitions import BODY, NONE
from . import blend_output


def bake(options: argparse.Namespace) -> int:
    """Bakes by the options and returns the exit code.

    Raises:
        SinewError: The command failed. The file on disk is unchanged.
    """
    scene = _find_scene(options.scene)
    if options.selected and options.resume:
        raise BadInput("selected-from-first-frame")
    if options.out:
        blend_output.check_writable_blend(options.out)
    send_event = options.emit or functools.partial(_print_event, printed=set())
    kinds: set[str] = set()

    def handle_event(event: Mapping[str, Any]) -> None:
        kinds.add(str(event.get("event")))
        send_event(event)

    request = BakeRequest(
        resume=options.resume,
        from_frame=options.from_frame,
        accepts_changes=options.accept_changes,
        folder=options.cache.resolve() if options.cache else None,
        threads=options.threads,
        strict=options.strict,
        chosen=_chosen_bodies(scene, options.selected),
        on_event=handle_event,
    )
    with _temporary_overrides(scene, options), _cancelling_on_signals():
        noted = bake_control.bake_warnings(scene, request)  # the window shows them in the panel
        running = bake_control.start(scene, request)
        for note in noted:
            handle_event({"event": "warning", **note.as_warning()})
        bake_control.wait()
    ended = running.latest
    job = ended.driver.job
    if options.out and job.frame is not None:
        attach_bake.attach(scene)
        if options.force_curves:
            attach_force_curves.create_curves(scene, roles.colliders(scene))
        blend_output.write_blend(options.out)
    if job.error is not None and "error" not in kinds:
        # the child reports its own errors, but not why it was stopped, nor errors of the export
        send_event(job.error)
    return _report_end(ended, is_silent=options.json)


def _report_end(bake: RunningBake, is_silent: bool) -> int:
    """Prints how a bake ended, a success only unless `is_silent`, and returns the exit code.

    Raises:
        Cancelled: It was cancelled.
    """
    job = bake.driver.job
    if job.error is not None:
        print(f"sinew: {bake_summary.ending_message(job)[1]}", file=sys.stderr)
        return int(job.error["exit_code"])
    if job.phase == "cancelled":
        raise Cancelled("selected-cancelled" if bake.is_dropped else "cancelled")
    if not is_silent:
        print(bake_summary.ending_message(job)[1])
    return 0


def attach(options: argparse.Namespace) -> int:
    """Links a cache to the objects of the open file, writes the file and returns the exit code.

    Raises:
        SinewError: The command failed. The file on disk is unchanged.
    """
    scene = _find_scene(options.scene)
    folder, target = options.cache.resolve(), options.out or Path(bpy.data.filepath)
    if not is_cache(folder):
        raise BadInput("not-a-cache", path=str(folder))
    blend_output.check_writable_blend(target)
    start, played = CacheReader(folder).metadata.frame_start, list(_played_bodies(folder))
    found = [(own, body, _find_object(scene, body.key, body.name)) for own, body in played]
    pairs = [(own, body, obj) for own, body, obj in found if obj is not None]
    if not pairs:
        raise BadInput("nothing-to-attach", path=str(folder), name=scene.name)
    for _, body, obj in pairs:
        sinew_modifier.move_below_subdivision(obj)
        count = validation.vertex_count(scene, obj, sinew_modifier.input_modifier_count(obj), start)
        if count != body.vertices:
            raise BadInput("attach-vertices", name=obj.name, count=count, wanted=body.vertices)
    for own, body, obj in pairs:
        obj.sinew.key = body.key
        attach_bake.attach_body(scene, obj, own, body.key)
    attached = [obj.name for _, _, obj in pairs]
    cache_paths.remember_bake(scene, folder, borrowed=True)
    if options.force_curves:
        attach_force_curves.create_curves(scene, roles.colliders(scene), folder)
    blend_output.write_blend(target)
    if options.emit:
        options.emit({"event": "attached", "objects": attached, "file": str(target)})
    else:
        print(f"Attached {', '.join(attached)}")
    return 0


def _played_bodies(cache: Path) -> Iterator[tuple[Path, CachedBody]]:
    """Yields the bodies of a cache, each with the folder of the frames that it plays.

    Raises:
        StorageFailed: Frames are damaged.
    """
    for folder in selected_body_caches.played_folders(cache):
        reader = CacheReader(folder)
        for problem in reader.play_problems():
            raise StorageFailed("cache-problem", path=str(folder), problem=problem)
        for body in reader.metadata.bodies:
            if selected_body_caches.folder_of_body(cache, body.key) == folder:
                yield folder, body


def _find_scene(name: str | None) -> bpy.types.Scene:
    """Opens the scene of that name and returns it; without a name, returns the open scene."""
    scene = bpy.context.scene if name is None else bpy.data.scenes.get(name)
    if scene is None:
        raise BadInput("no-such-scene", name=name, path=bpy.data.filepath)
    for window in bpy.context.window_manager.windows:
        window.scene = scene
    return scene


def _find_object(scene: bpy.types.Scene, key: str, name: str) -> bpy.types.Object | None:
    """Returns the body with that key, or else the mesh with that name."""
    by_key = (o for o in roles.bodies(scene) if body_key(o) == key)
    by_name = (o for o in scene.objects if o.name == name and o.type == "MESH")
    return next(by_key, None) or next(by_name, None)


@contextmanager
def _temporary_overrides(scene: bpy.types.Scene, options: argparse.Namespace) -> Iterator[None]:
    """Sets objects and frames by the options and restores them, so that a written .blend has its own.

    Bakes without a window are final, and so is what a written .blend says of the one that it plays.
    """
    settings = scene.sinew
    settings.bake_detail = FINAL
    before = {name: getattr(settings, name) for name in ("use_scene_range", "frame_start", "frame_end")}
    bodies = roles.bodies(scene)
    try:
        if options.object:
            _exclude_bodies(scene, bodies, options.object)
        if options.frame_start is not None or options.frame_end is not None:
            _set_range(scene, options.frame_start, options.frame_end)
        yield
    finally:
        for name, value in before.items():
            setattr(settings, name, value)
        for obj in bodies:
            obj.sinew.role = BODY


def _chosen_bodies(scene: bpy.types.Scene, names: list[str] | None) -> frozenset[int] | None:
    """Returns the session ids of the bodies of some names; None for None."""
    if names is None:
        return None
    bodies = roles.bodies(scene)
    _check_names(scene, bodies, names)
    return frozenset(obj.session_uid for obj in bodies if obj.name in names)


def _exclude_bodies(scene: bpy.types.Scene, bodies: list[bpy.types.Object], names: list[str]) -> None:
    _check_names(scene, bodies, names)
    for obj in bodies:
        if obj.name not in names:
            obj.sinew.role = NONE


def _check_names(scene: bpy.types.Scene, bodies: list[bpy.types.Object], names: list[str]) -> None:
    """Raises BadInput where a name is none of a body."""
    body_names = {obj.name for obj in bodies}
    for name in names:
        if name not in body_names:
            exists = name in scene.objects
            raise (
                BadInput("not-a-body", name=name) if exists else BadInput("no-such-object", name=name, scene=scene.name)
            )


def _set_range(scene: bpy.types.Scene, first: int | None, last: int | None) -> None:
    settings = scene.sinew
    now = (
        (scene.frame_start, scene.frame_end) if settings.use_scene_range else (settings.frame_start, settings.frame_end)
    )
    for value in (first, last):
        if value is not None and abs(value) > MAX_FRAME_NUMBER:
            details = {"setting": FRAME_LIMITS.label, "name": scene.name, "value": value}
            raise BadInput("setting-out-of-range", **details, range=FRAME_LIMITS.words)
    settings.use_scene_range = False
    settings.frame_start = now[0] if first is None else first
    settings.frame_end = now[1] if last is None else last


@contextmanager
def _cancelling_on_signals() -> Iterator[None]:
    """Lets Ctrl-C and a farm's SIGTERM cancel the bake. The baked frames stay."""
    before = {}
    for number in (signal.SIGINT, signal.SIGTERM):
        before[number] = signal.signal(number, lambda *_: session.cancel())
    try:
        yield
    finally:
        for number, handler in before.items():
            # None: a handler of Blender itself, which Python cannot restore
            signal.signal(number, signal.SIG_DFL if handler is None else handler)


def _print_event(event: Mapping[str, Any], printed: set[str]) -> None:
    """Prints an event for people; each warning once. `printed` collects their sentences."""
    match event.get("event"):
        case "compiling":
            print("compiling kernels, once per machine", flush=True)
        case "built":
            print(f"{event['tets']:,} tets", flush=True)
            for warning in (warning for body in event["bodies"] for warning in body["warnings"]):
                _print_warning(warning, printed)
        case "finishing" if event["fraction"] == 0.0:
            print(f"cutting the mesh of {event['body']}", flush=True)
        case "finished":
            for made in event["results"]:
                print(f'"{made["name"]}" broke into {made["pieces"]:,} pieces', flush=True)
        case "warning":
            _print_warning(event, printed)
        case "frame":
            words = f"frame {event['frame']} of {event['frame_end']}, {residual_text(event)}"
            print(
                words + (f", {event['not_converged']} steps or poses not converged" if event["not_converged"] else ""),
                flush=True,
            )


def _print_warning(warning: Mapping[str, Any], printed: set[str]) -> None:
    if warning["sentence"] not in printed:
        printed.add(warning["sentence"])
        print(f"warning: {warning['sentence']} {warning['next_step']}", flush=True)
