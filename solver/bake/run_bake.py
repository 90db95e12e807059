# SPDX-License-Identifier: GPL-3.0-or-later
"""Runs a bake: reads the scene, writes the cache, emits events (docs/architecture.md).

The first frame is the start state after the pre-roll, with flesh at rest in its pose. A checkpoint is written every
few frames, at the last frame, and after a cancellation or a failure. A resumed bake uses the tets and bindings in the
cache, so it never depends on meshing again.
"""

from __future__ import annotations

import contextlib
import dataclasses
import time as clock
import traceback
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import Any

from ..mesh.mesh_npz import to_arrays
from ..runtime.errors import Cancelled, SinewError, SolveFailed, StorageFailed
from ..runtime.event_text import warnings_in
from ..runtime.threads.thread_count import fair_thread_count, restoring_thread_count, set_thread_count
from ..scene.scene import SCENE_FILE, Scene, Settings
from ..scene.track_shapes import track_shapes
from ..scene.tracks import TrackReader
from ..scene.validation import check_scene
from ..simulation.assembled_scene import AssembledScene
from ..simulation.build import build
from ..simulation.cutting.cut_bodies import apply_cuts, initial_after_cuts
from ..simulation.fracture_topology import apply_topology
from ..simulation.simulation import SimulatedFrame, Simulation
from .attributes.attribute_fields import attribute_warnings as attribute_warnings
from .bake_loop import Bake, OnEvent
from .cache import CacheMetadata, CacheReader, CacheWriter
from .cache.layout import SCENE_FOLDER, SETTINGS_FILE
from .contact_convergence_warnings import bake_warnings
from .deep_contact_warnings import deep_contact_warnings
from .pc2_repair import repair_pc2_files
from .postprocess.breakable_frame_fields import breakable_keys
from .resume_preparation import Checkpoint, find_checkpoint, with_initial_fields
from .warmup.compile_kernels import announcing_compilation


@dataclasses.dataclass(frozen=True)
class BakeOptions:
    """What part of a scene to bake, and how.

    Attributes:
        resume: Whether to continue where the last bake stopped; otherwise an existing bake is replaced.
        from_frame: With `resume`: continue from this frame, or from the last checkpoint before it.
        accept_changes: With `resume`: continue even if the scene has changed, but not its bodies.
        frame_end, threads, strict: Instead of the scene's settings; None: as these say.
    """

    resume: bool = False
    from_frame: int | None = None
    accept_changes: bool = False
    frame_end: int | None = None
    threads: int | None = None
    strict: bool | None = None

    def apply(self, scene: Scene) -> Scene:
        """Returns the scene with those settings replaced that the options give."""
        given = {
            name: value for name in ("frame_end", "threads", "strict") if (value := getattr(self, name)) is not None
        }
        return dataclasses.replace(scene, settings=dataclasses.replace(scene.settings, **given))

    def find_checkpoint(
        self, folder: Path, scene: Scene, tracks: TrackReader, metadata: CacheMetadata
    ) -> Checkpoint | None:
        """Returns where to continue; None: begin with the first frame."""
        if not self.resume:
            return None
        return find_checkpoint(folder, scene, tracks, metadata, self.from_frame, self.accept_changes)


DEFAULT_BAKE_OPTIONS = BakeOptions()


def run_bake(
    folder: Path,
    on_event: OnEvent,
    should_stop: Callable[[], bool] = lambda: False,
    *,
    on_stopped: Callable[[], None] = lambda: None,
    options: BakeOptions = DEFAULT_BAKE_OPTIONS,
) -> None:
    """Bakes the scene in the cache `folder`.

    Args:
        folder: The cache, with a scene in it.
        on_event: Called with each event.
        should_stop: Polled after every step.
        on_stopped: Called before the finishing pass after a stop or a failure; from then on `should_stop` cancels
            that pass.
        options: What to bake.

    Raises:
        BadInput: The scene is invalid.
        SolveFailed: The solve failed.
        StorageFailed: The cache could not be read or written.
        Cancelled: By `should_stop`; the baked frames stay.
    """
    started = clock.perf_counter()
    _check_scene_is_there(folder)  # before a lock file exists in a folder that is no cache
    with CacheWriter(folder) as writer, restoring_thread_count():
        scene = options.apply(Scene.load(folder / SCENE_FOLDER))
        with _errors_with_frames(scene.settings):
            tracks = TrackReader(folder / SCENE_FOLDER, shapes=track_shapes(scene))
            last = scene.settings.time(scene.settings.frame_end)
            head = CacheMetadata.for_scene(scene, tracks.final_digest(last), settings=exporter_settings(folder))
            point = options.find_checkpoint(folder, scene, tracks, head)
            for note in point.notes if point else ():
                on_event({"event": "warning", **note.as_warning()})
            set_thread_count(scene.settings.threads or fair_thread_count())
            if point is not None and options.from_frame is None and _is_fully_baked(folder, scene):
                writer.repair()
                if not _has_final_meshes(folder, scene):
                    make_final_meshes(folder, scene, on_event, should_stop)
                on_event(done_event(folder, scene, started))
                return
            check_scene(scene)  # before a person waits for compiling
            with announcing_compilation(on_event) as is_compiling:
                bake = _prepare_bake(writer, head, scene, tracks, point, on_event, should_stop, is_compiling)
                try:
                    bake.run(on_event, should_stop)
                except (Cancelled, SolveFailed) as problem:
                    on_stopped()
                    try:
                        make_final_meshes(folder, scene, on_event, should_stop)
                    except Exception as another:  # report the error that stopped the bake
                        if not isinstance(another, SinewError):
                            traceback.print_exc()
                    raise problem
                make_final_meshes(folder, scene, on_event, should_stop)
                for warning in _end_warnings(folder, scene):
                    on_event({"event": "warning", **warning.as_warning()})
                on_event(done_event(folder, scene, started))


def _end_warnings(folder: Path, scene: Scene) -> list[SinewError]:
    """Returns warnings about a whole bake."""
    lines = CacheReader(folder).report()
    return [*bake_warnings(lines[1:], scene.settings), *deep_contact_warnings(lines, scene)]


def _check_scene_is_there(folder: Path) -> None:
    """Raises StorageFailed if a folder has no scene."""
    path = folder / SCENE_FOLDER
    if not (path / SCENE_FILE).is_file():
        raise StorageFailed("scene-unreadable", path=str(path), problem="there is none")


@contextlib.contextmanager
def _errors_with_frames(settings: Settings) -> Iterator[None]:
    """Adds the frame to errors."""
    try:
        yield
    except SinewError as problem:
        problem.with_frame(settings.frame_start, settings.fps)
        raise


def make_final_meshes(folder: Path, scene: Scene, on_event: OnEvent, should_stop: Callable[[], bool]) -> None:
    """Makes the final meshes of broken bodies, and emits an event."""
    if not breakable_keys(scene):
        return
    from .postprocess.finish_cache import postprocess_cache

    began = clock.perf_counter()
    results = [result.as_event() for result in postprocess_cache(folder, on_event, should_stop)]
    on_event({"event": "finished", "results": results, "seconds": clock.perf_counter() - began})


def _has_final_meshes(folder: Path, scene: Scene) -> bool:
    """Whether all broken bodies have their final meshes."""
    from .postprocess.finish_cache import is_postprocessed

    return is_postprocessed(CacheReader(folder), scene)


def _prepare_bake(
    writer: CacheWriter,
    head: CacheMetadata,
    scene: Scene,
    tracks: TrackReader,
    point: Checkpoint | None,
    on_event: OnEvent,
    should_stop: Callable[[], bool],
    is_compiling: Callable[[], bool],
) -> Bake:
    """Returns the bake at its first frame or at the checkpoint.

    Replaces an existing bake only after the build has succeeded, so invalid input destroys nothing.
    """

    def on_stage(stage: str, body: str) -> None:
        if not is_compiling():  # which a person was told is what takes so long
            on_event({"event": "building", "stage": stage, "body": body})

    built = build(scene, tracks, on_stage, point.meshes if point else None)
    _check_cuttable(built, scene)
    if point:
        with_initial_fields(point.state, initial_after_cuts(built, point.state))
        built = apply_cuts(apply_topology(built, point.state), point.state)
        if built.pieces is not None:
            from ..simulation.brittle.scene_in_pieces import apply_pieces

            built = apply_pieces(built, point.state)
        if built.levels:
            from ..simulation.dynamic_refinement.switch_levels import apply_levels

            built = apply_levels(built, point.state)
        simulation = Simulation(scene, tracks, built, point.state)
        for note in repair_pc2_files(CacheReader(writer.folder), simulation, point.frame):
            on_event({"event": "warning", **note.as_warning()})
        writer.resume(head, point.frame, breakable_keys(scene))
        event = _built_event(built, scene)
        bake = Bake(writer, head, simulation, point.topology, warnings=_not_in(writer.folder, event))
        on_event(event)
    else:
        bake = begin_bake(writer, head, Simulation(scene, tracks, built), on_event, should_stop)
    return bake


def begin_bake(
    writer: CacheWriter,
    head: CacheMetadata,
    simulation: Simulation,
    on_event: OnEvent,
    should_stop: Callable[[], bool],
    first: SimulatedFrame | None = None,
) -> Bake:
    """Replaces a bake by the first frame of a simulation, and returns the bake there.

    Args:
        writer: Of the cache.
        head: Its metadata.
        simulation: What is baked; between two frames.
        on_event: Called with events.
        should_stop: Polled meanwhile.
        first: What the simulation has come to, which becomes the first frame; None: it has not begun.

    Raises:
        BadInput: Flesh is not held.
        SolveFailed, StorageFailed, Cancelled: As `Bake.write_first_frame`.
    """
    built, scene = simulation.built, simulation.scene
    if first is None:
        _check_flesh(simulation)
    writer.start_over(head)
    stored = built.stored
    for number, (body, asked) in enumerate(zip(stored.bodies, scene.bodies, strict=True)):
        arrays = to_arrays(asked, body.mesh, body.binding)
        for feature in stored.features:
            arrays |= feature.to_arrays(number)
        for force in stored.forces:
            arrays |= force.to_arrays(body.range.nodes)
        arrays |= stored.bound_nodes_to_arrays(body.range.nodes)
        writer.write_model(asked.key, arrays)
    event = _built_event(built, scene)
    skipped = 0 if first is None else first.number - head.frame_start
    bake = Bake(writer, head, simulation, skipped=skipped, warnings=warnings_in(event))
    on_event(event)
    on_event(bake.write_first_frame(on_event, should_stop, first))
    return bake


def _check_cuttable(built: AssembledScene, scene: Scene) -> None:
    """Raises BadInput if a breakable body cannot be cut at the end."""
    if not breakable_keys(scene):
        return
    from ..mesh.cutting.cut import check_covered

    for body, asked in zip(built.stored.bodies, scene.bodies, strict=True):
        if asked.fracture is not None and not asked.is_sheet:
            check_covered(body.mesh.nodes, body.mesh.tets, asked.vertices, asked.triangles, asked.name)


def _check_flesh(simulation: Simulation) -> None:
    """Raises BadInput if flesh is not held when the simulation starts."""
    if simulation.built.flesh is not None:
        from ..simulation.pose_step import check_flesh

        check_flesh(simulation)


def exporter_settings(folder: Path) -> str:
    """Returns the exporter's settings digest beside the scene, or ""."""
    try:
        return (folder / SCENE_FOLDER / SETTINGS_FILE).read_text(encoding="ascii")
    except (OSError, UnicodeDecodeError):
        return ""


def _built_event(built: AssembledScene, scene: Scene) -> dict[str, Any]:
    """Returns the `built` event; a brittle body counts with the tets along which it may break."""
    shown = built if built.pieces is None else built.pieces.fine
    bodies = [
        {
            "key": body.key,
            "name": body.name,
            "tets": len(body.mesh.tets),
            "nodes": len(body.mesh.nodes),
            "warnings": [warning.as_warning() for warning in (*body.warnings, *attribute_warnings(asked))],
        }
        for body, asked in zip(shown.bodies, scene.bodies, strict=True)
    ]
    return {"event": "built", "bodies": bodies, "tets": shown.model.tet_count}


def _not_in(folder: Path, event: Mapping[str, Any]) -> list[dict[str, Any]]:
    """Returns the warnings of the `built` event that the remaining lines of the report lack."""
    known = [_words(warning) for warning in CacheReader(folder).warnings()]
    return [warning for warning in warnings_in(event) if _words(warning) not in known]


def _words(warning: Mapping[str, Any]) -> tuple[str, str]:
    """Returns what makes a warning the same one: caches of earlier versions lack whether it is minor."""
    return warning["kind"], warning["sentence"]


def _is_fully_baked(folder: Path, scene: Scene) -> bool:
    """Whether the cache has the whole requested range; then even later frames stay.

    A bake that was killed between its last frame and the checkpoint there is not complete.
    """
    reader, end = CacheReader(folder), scene.settings.frame_end
    last = reader.last_frame()
    return last is not None and (last > end or (last == end and reader.resume_frame() == end))


def done_event(folder: Path, scene: Scene, started: float) -> dict[str, Any]:
    """Returns the `done` event, with the convergence of all frames, also those before a resume."""
    return {
        "event": "done",
        "frames": scene.settings.frame_count,
        "seconds": clock.perf_counter() - started,
        "results": CacheReader(folder).results(),
        **CacheReader(folder).convergence().as_event(),
    }
