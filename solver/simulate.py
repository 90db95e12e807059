# SPDX-License-Identifier: GPL-3.0-or-later
"""A bake from beginning to end: scene in, cache out, told by events (docs/architecture.md).

Frame one is the start state, after the pre-roll, with flesh at rest in its pose. A resume point is written every few
frames, at the last frame, and where a person or a failure stopped it. A resumed bake goes on with the tets and bindings
in the cache, so it never depends on meshing again.
"""

from __future__ import annotations

import contextlib
import dataclasses
import time as clock
import traceback
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import Any

from .attributes.fields import warnings as attribute_warnings
from .bake import Bake, OnEvent
from .bake_warnings import warnings_of
from .build import Built, build
from .cache import CacheHead, CacheReader, CacheWriter
from .cache.layout import SCENE_FOLDER, SETTINGS_FILE
from .checks import check_scene
from .core_nodes import core_arrays
from .errors import Cancelled, SinewError, SolveFailed, StorageFailed
from .event_stream import warnings_in
from .finish.kept import breakable
from .jit import set_thread_count
from .play_repair import repair_play
from .present_topology import with_topology
from .resume import ResumePoint, begun, find
from .scene import SCENE_FILE, Scene, Settings
from .simulation import Simulation
from .stored_mesh import to_arrays
from .track_shapes import track_shapes
from .tracks import TrackReader
from .warm_process import Helper
from .warm_up import Beside, compiled_beside


def simulate(
    folder: Path,
    on_event: OnEvent,
    should_stop: Callable[[], bool] = lambda: False,
    *,
    on_stopped: Callable[[], None] = lambda: None,
    resume: bool = False,
    from_frame: int | None = None,
    accept_changes: bool = False,
    frame_end: int | None = None,
    threads: int | None = None,
    strict: bool | None = None,
    helper: Helper | None = None,
) -> None:
    """Bakes the scene in the cache `folder`.

    Args:
        folder: The cache, with a scene in it.
        on_event: Called with each event.
        should_stop: Asked after every step.
        on_stopped: Called when what was baked before a stop or a failure gets its final meshes; from then on
            `should_stop` says whether to leave that, too.
        resume: Whether to go on where the last bake stopped; without it a bake that is there is replaced.
        from_frame: With `resume`: go on from this frame, or from the last resume point before it.
        accept_changes: With `resume`: also when the scene has changed since, as long as the bodies have not.
        frame_end, threads, strict: Instead of the scene's settings.
        helper: A process that compiles for this bake already.

    Raises:
        BadInput: What the scene asks for cannot be done.
        SolveFailed: The numerics could not go on.
        StorageFailed: The cache could not be read or written.
        Cancelled: `should_stop` said so; what is baked stays.
    """
    started = clock.perf_counter()
    _check_scene_is_there(folder)  # before a lock is made where no cache is
    with CacheWriter(folder) as writer:
        scene = _with(Scene.load(folder / SCENE_FOLDER), frame_end=frame_end, threads=threads, strict=strict)
        with _told_in_frames(scene.settings):
            tracks = TrackReader(folder / SCENE_FOLDER, shapes=track_shapes(scene))
            last = scene.settings.time(scene.settings.frame_end)
            head = CacheHead.of(scene, tracks.final_digest(last), settings=_noted_settings(folder))
            point = find(folder, scene, tracks, head, from_frame, accept_changes) if resume else None
            for note in point.notes if point else ():
                on_event({"event": "warning", **_plainly(note)})
            set_thread_count(scene.settings.threads)
            if point is not None and from_frame is None and _is_there(folder, scene):
                writer.mend()
                if not _is_finished(folder, scene):
                    _finish(folder, scene, on_event, should_stop)
                on_event(_done(folder, scene, started))
                return
            check_scene(scene)  # before a person waits for compiling
            with compiled_beside(scene, folder, helper, on_event, should_stop) as beside:
                bake = _make(writer, head, scene, tracks, point, on_event, should_stop, beside)
                try:
                    bake.run(on_event, should_stop)
                except (Cancelled, SolveFailed) as problem:
                    on_stopped()
                    try:
                        _finish(folder, scene, on_event, should_stop)
                    except Exception as another:  # what stopped the bake is what a person has to know
                        if not isinstance(another, SinewError):
                            traceback.print_exc()
                    raise problem
                _finish(folder, scene, on_event, should_stop)
                for warning in warnings_of(CacheReader(folder).report()[1:], scene.settings.substeps):
                    on_event({"event": "warning", **_plainly(warning)})
                on_event(_done(folder, scene, started))


def _check_scene_is_there(folder: Path) -> None:
    """Raises StorageFailed where a folder has no scene."""
    path = folder / SCENE_FOLDER
    if not (path / SCENE_FILE).is_file():
        raise StorageFailed("scene-unreadable", path=str(path), problem="there is none")


@contextlib.contextmanager
def _told_in_frames(settings: Settings) -> Iterator[None]:
    """Lets failures say at which frame they happened."""
    try:
        yield
    except SinewError as problem:
        problem.on_timeline(settings.frame_start, settings.fps)
        raise


def _finish(folder: Path, scene: Scene, on_event: OnEvent, should_stop: Callable[[], bool]) -> None:
    """Makes the final meshes of what broke, and says so."""
    if not breakable(scene):
        return
    from .finish.finish import finish

    began = clock.perf_counter()
    told = [result.as_event() for result in finish(folder, on_event, should_stop)]
    on_event({"event": "finished", "results": told, "seconds": clock.perf_counter() - began})


def _is_finished(folder: Path, scene: Scene) -> bool:
    """Whether the final meshes are there of all that broke."""
    from .finish.finish import is_finished

    return is_finished(CacheReader(folder), scene)


def _make(
    writer: CacheWriter,
    head: CacheHead,
    scene: Scene,
    tracks: TrackReader,
    point: ResumePoint | None,
    on_event: OnEvent,
    should_stop: Callable[[], bool],
    beside: Beside,
) -> Bake:
    """Returns the bake at its first frame or at the resume point.

    What is in the cache is replaced only when the scene could be built: bad input costs nothing.
    """

    def on_stage(stage: str, body: str) -> None:
        if not beside.is_compiling:  # which a person was told is what takes so long
            on_event({"event": "building", "stage": stage, "body": body})
        if stage == "rest":
            beside.ready(tracks)

    built = build(scene, tracks, on_stage, point.meshes if point else None)
    beside.ready(tracks, built)
    _check_it_can_be_cut(built, scene)
    if point:
        begun(point.state, built.initial)
        built = with_topology(built, point.state)
        simulation = Simulation(scene, tracks, built, point.state)
        for note in repair_play(CacheReader(writer.folder), simulation, point.frame):
            on_event({"event": "warning", **_plainly(note)})
        writer.go_on(head, point.frame, breakable(scene))
        told = _told(built, scene)
        bake = Bake(writer, head, simulation, point.frame, point.topology, _not_in(writer.folder, told))
        on_event(told)
    else:
        simulation = Simulation(scene, tracks, built, built.initial)
        _check_flesh(simulation)
        writer.start_over(head)
        for body, asked in zip(built.bodies, scene.bodies, strict=True):
            follows = built.bones.to_arrays(body.range.nodes) if built.bones else {}
            core = core_arrays(built.model.cores, body.range.tets)
            writer.write_model(asked.key, {**to_arrays(asked, body.mesh, body.binding), **follows, **core})
        told = _told(built, scene)
        bake = Bake(writer, head, simulation, scene.settings.frame_start, warnings=warnings_in(told))
        on_event(told)
        on_event(bake.write_start(on_event, should_stop))
    return bake


def _check_it_can_be_cut(built: Built, scene: Scene) -> None:
    """Raises BadInput where a body that may break could not be cut at the end."""
    if not breakable(scene):
        return
    from .cutting.cut import check_covered

    for body, asked in zip(built.bodies, scene.bodies, strict=True):
        if asked.fracture is not None:
            check_covered(body.mesh.nodes, body.mesh.tets, asked.vertices, asked.triangles, asked.name)


def _check_flesh(simulation: Simulation) -> None:
    """Raises BadInput where flesh has no place when the simulation begins."""
    if simulation.built.flesh is not None:
        from .pose_flesh import check_flesh

        check_flesh(simulation)


def _noted_settings(folder: Path) -> str:
    """Returns what the exporter noted beside the scene, or ""."""
    try:
        return (folder / SCENE_FOLDER / SETTINGS_FILE).read_text(encoding="ascii")
    except (OSError, UnicodeDecodeError):
        return ""


def _told(built: Built, scene: Scene) -> dict[str, Any]:
    """Returns the event that says what was built."""
    bodies = [
        {
            "key": body.key,
            "name": body.name,
            "tets": len(body.mesh.tets),
            "nodes": len(body.mesh.nodes),
            "warnings": [_plainly(warning) for warning in (*body.warnings, *attribute_warnings(asked))],
        }
        for body, asked in zip(built.bodies, scene.bodies, strict=True)
    ]
    return {"event": "built", "bodies": bodies, "tets": built.model.tet_count}


def _not_in(folder: Path, told: Mapping[str, Any]) -> list[dict[str, str]]:
    """Returns the warnings of the `built` event that the report has not: all others stand in lines that stay."""
    known = CacheReader(folder).warnings()
    return [warning for warning in warnings_in(told) if warning not in known]


def _plainly(warning: SinewError) -> dict[str, Any]:
    return {"kind": warning.kind, "sentence": warning.sentence, "next_step": warning.next_step}


def _is_there(folder: Path, scene: Scene) -> bool:
    """Whether all that was asked for is in the cache already; then even later frames stay.

    A bake that was killed between its last frame and the resume point there is not done yet.
    """
    reader, end = CacheReader(folder), scene.settings.frame_end
    last = reader.last_frame()
    return last is not None and (last > end or (last == end and reader.resume_frame() == end))


def _with(scene: Scene, **settings: Any) -> Scene:
    """Returns the scene with the settings that are not None."""
    given = {name: value for name, value in settings.items() if value is not None}
    return dataclasses.replace(scene, settings=dataclasses.replace(scene.settings, **given))


def _done(folder: Path, scene: Scene, started: float) -> dict[str, Any]:
    """Returns the event that says that all is there, and how the steps went, those before a resume included."""
    return {
        "event": "done",
        "frames": scene.settings.frame_count,
        "seconds": clock.perf_counter() - started,
        "results": CacheReader(folder).results(),
        **CacheReader(folder).tally().as_event(),
    }
