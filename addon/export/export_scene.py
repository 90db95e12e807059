# SPDX-License-Identifier: GPL-3.0-or-later
"""Exports objects and their animation to a scene folder, in metres and seconds.

The export works in slices, so that the window stays responsive. Between two slices it keeps only identifiers of
Blender's data and leaves nothing in the file, so an undo, a deletion or a crash finds the file unchanged.
"""

from __future__ import annotations

import math
import shutil
import time as clock
from collections.abc import Callable, Collection, Iterator, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path

import bpy

from ...solver.bake.cache import layout
from ...solver.bake.cache.write_scene import replace_scene
from ...solver.runtime.atomic_files import PART_SUFFIX, sync_tree
from ...solver.runtime.errors import BadInput
from ...solver.runtime.storage_errors import make_folder, named_errors
from ...solver.scene.scene import Scene
from ...solver.scene.tracks import TrackWriter
from ..blender_data.object_handle import ObjectHandle
from ..blender_data.scene_by_session_uid import find_scene
from ..cache.bake_passes import BakePass
from ..cache.selected_body_caches import body_settings_text
from ..evaluation.mesh_prefetch import forget_meshes, prefetch_meshes
from ..evaluation.rigid_body_evaluation import LiveScene
from ..evaluation.sample_times import SampleTime, frame_range, sample_times
from ..evaluation.scene_copy import SceneCopy, input_modifier_counts
from ..evaluation.unkeyed_value_snapshot import UnkeyedValues
from ..objects import roles
from ..objects.breakable_mesh_check import check_breakable
from . import validation
from .activation_sampler import ActivationSampler, write_activations
from .attachments_of_baked_bodies import GroundStrength, with_attachments_of_baked_bodies
from .baked_grounds import BakedGround, check_same_times, read_grounds, unfelt_pairs
from .blender_physics_dependence import first_frame_needed, follows_rigid_bodies
from .body_vertices import BodyVertexReader
from .buffered_track_writer import BufferedTrackWriter
from .colliders import ColliderSampler
from .flexed_shapes import FlexedShape, read_flexed_shapes, write_rest_shapes
from .input_digest import digests
from .participant_subset import only_bodies
from .participants import ParticipantHandles, Participants, find_participants
from .rest_frame_transforms import RestFrameTransforms, read_rest_frame_transforms
from .rest_shape_animation import RestShapeReader
from .sampling_context import Sampling
from .scene_reader import read_scene, sample_tracks

SLICE_SECONDS = 0.1


def export_scene(
    context: bpy.types.Context,
    scene: bpy.types.Scene,
    cache: Path,
    threads: int | None = None,
    bake_pass: BakePass | None = None,
    chosen: Collection[bpy.types.Object] | None = None,
) -> Iterator[float]:
    """Exports `scene` into the folder `cache`/scene, and yields the fraction done after each slice.

    An existing scene stays whole until the new one is complete.

    Args:
        context: Blender's.
        scene: The scene.
        cache: The cache that gets it, of the pass where one is given.
        threads: Instead of those of the preferences.
        bake_pass: What part of it; None: all bodies at once.
        chosen: The bodies of the pass that are baked, while its others move as they are baked; None: all.

    Raises:
        BadInput: Something cannot be simulated as it is; nothing was changed.
        StorageFailed: The folder cannot be written.
    """
    target = cache / layout.SCENE_FOLDER
    part = target.with_name(layout.SCENE_FOLDER + PART_SUFFIX)
    made = _make_folder(cache)
    uid, handles = scene.session_uid, None if chosen is None else [ObjectHandle.of(obj) for obj in chosen]
    try:
        context.view_layer.update()  # what is prefetched counts until something changes
        for _ in prefetch_meshes(roles.bodies(scene)):
            yield 0.0
        scene = _find_again(uid)
        chosen = None if handles is None else [obj for each in handles if (obj := each.find()) is not None]
        context.view_layer.update()
        part_of_scene = _part_of_scene(scene, bake_pass, chosen)
        digest, each = digests(scene, bake_pass)
        each = {key: each[key] for key in part_of_scene.inputs.bodies.values()}
        writer = SceneExporter(scene, part, threads, part_of_scene)
        while not writer.is_done:
            writer.write_slice()
            yield writer.fraction
        writer.close()
        with named_errors(cache):
            (part / layout.SETTINGS_FILE).write_text(digest, newline="\n")
            (part / layout.BODY_SETTINGS_FILE).write_text(body_settings_text(each), newline="\n")
            sync_tree(part)
            replace_scene(part, target)
    finally:
        forget_meshes()
        shutil.rmtree(part, ignore_errors=True)
        for folder in made:
            if folder.is_dir() and not any(folder.iterdir()):
                folder.rmdir()


def _find_again(uid: int) -> bpy.types.Scene:
    scene = find_scene(uid)
    if scene is None:
        raise BadInput("no-such-scene", name="", path=bpy.data.filepath)
    return scene


def slice_end(begun: float) -> float:
    """Returns the end of a slice that began at `begun`. It lasts long enough that set-up takes at most a third."""
    now = clock.monotonic()
    return math.inf if bpy.app.background else now + max(SLICE_SECONDS, 2.0 * (now - begun))


@dataclass(frozen=True)
class ExportPart:
    """A part of a scene that is exported, at moments of its own.

    Attributes:
        inputs: The objects that take part.
        moments: When they are read, rising; the first one is the rest pose.
        adapt: Returns the scene that is written instead of the one that is read.
        time_shift: Time of the artist's scene at time zero of the moments [s].
        unkeyed: Values that hold instead of animated ones at the frame of the last moment, but for the rest pose, and
            afterwards; None: none.
        bake_pass: The pass whose bodies these are, where they follow others, which move as they are baked.
        is_saved_later: Whether the caller checks and saves the scene, such as in a thread (`check_and_save`).
    """

    inputs: Participants
    moments: Sequence[SampleTime]
    adapt: Callable[[Scene], Scene] = lambda scene: scene
    time_shift: float = 0.0
    unkeyed: UnkeyedValues | None = None
    bake_pass: BakePass | None = None
    is_saved_later: bool = False


def export_part(scene: bpy.types.Scene, folder: Path, part: ExportPart) -> Scene:
    """Writes a part of a scene and its tracks into a folder, at once, and returns the scene.

    Raises:
        BadInput: Something cannot be simulated as it is.
        StorageFailed: The folder cannot be written.
    """
    writer = SceneExporter(scene, folder, None, part)
    try:
        while not writer.is_done:
            writer.write_slice()
    finally:
        if part.unkeyed is not None:
            part.unkeyed.restore()
    writer.close()
    return writer.solver_scene


def check_and_save(scene: Scene, folder: Path) -> None:
    """Does what `export_part` leaves to its caller, without Blender.

    Raises:
        BadInput: A breakable body is open.
        StorageFailed: The folder cannot be written.
    """
    check_breakable(scene)
    with named_errors(folder.parent):
        scene.save(folder, is_durable=False)


@dataclass(frozen=True)
class _ExportState:
    """The scene at the Rest Frame, and the objects that collect the samples of all slices."""

    solver_scene: Scene
    rest: RestFrameTransforms
    track_writer: BufferedTrackWriter
    colliders: ColliderSampler
    body_vertices: BodyVertexReader
    activations: ActivationSampler
    grounds: list[BakedGround]
    strengths: list[GroundStrength]
    flexed: dict[str, FlexedShape] = field(default_factory=dict)


class SceneExporter:
    """Writes a scene and its tracks into a folder, slice by slice.

    Between two slices it keeps arrays and identifiers, and nothing of Blender's data.
    """

    def __init__(self, scene: bpy.types.Scene, folder: Path, threads: int | None, part: ExportPart) -> None:
        """Takes a part of a scene whose objects were checked.

        Raises:
            BadInput: Something cannot be simulated as it is.
        """
        self._part, inputs = part, part.inputs
        self._handles = ParticipantHandles(inputs)
        self._moments = self._part.moments
        self._copy_class = LiveScene if follows_rigid_bodies(scene) else SceneCopy
        cuts = input_modifier_counts(list(inputs.bodies), [*inputs.bones, *inputs.colliders])
        self._first_needed = first_frame_needed(scene, cuts)
        self._folder, self._threads = folder, threads
        self._state: _ExportState | None = None
        self._done = 0

    @property
    def is_done(self) -> bool:
        """Whether all moments are written."""
        return self._done == len(self._moments)

    @property
    def fraction(self) -> float:
        """The part of all moments that is written."""
        return self._done / len(self._moments)

    @property
    def solver_scene(self) -> Scene:
        """The scene at the rest pose, once a moment is written, with colliders that turned out to deform."""
        assert self._state is not None
        has_deforming = self._state.colliders.has_deforming
        return self._state.colliders.with_world_vertices() if has_deforming else self._state.solver_scene

    def write_slice(self) -> None:
        """Writes the next moments.

        Raises:
            BadInput: Something cannot be simulated as it is.
            StorageFailed: The folder cannot be written.
        """
        inputs = self._handles.find()
        begun = clock.monotonic()
        with (
            self._copy_class(inputs.scene, inputs.modifier_counts) as scene_copy,
            RestShapeReader(inputs, self._moments[0].frame, self._first_needed) as shapes,
        ):
            self._evaluate(scene_copy, None)
            # an input that depends on earlier frames is lost at the end of a slice
            until = slice_end(begun) if self._first_needed is None else math.inf
            if self._state is None:
                self._state = self._begin(scene_copy, inputs)
            while True:
                before = self._moments[self._done]
                with named_errors(self._folder.parent):
                    self._sample(self._state, scene_copy, inputs, shapes)
                self._done += 1
                if self.is_done or clock.monotonic() > until:
                    break
                self._evaluate(scene_copy, before)

    def _begin(self, scene_copy: SceneCopy, inputs: Participants) -> _ExportState:
        """Writes the scene of the rest pose, in which `scene_copy` is."""
        bake_pass = self._part.bake_pass
        grounds = [] if bake_pass is None else _read_grounds(bake_pass, inputs)
        read = read_scene(scene_copy, inputs, self._threads, [ground.collider for ground in grounds])
        if not self._part.is_saved_later:
            check_breakable(read)
        check_same_times(grounds, read.settings)
        if bake_pass is not None and bake_pass.has_later and read.settings.preroll:
            read = replace(read, settings=replace(read.settings, writes_preroll=True))
        read = replace(read, ignored_pairs=(*read.ignored_pairs, *unfelt_pairs(read, grounds)))
        read, strengths = with_attachments_of_baked_bodies(read, grounds)
        solver_scene = self._part.adapt(read)
        rest = read_rest_frame_transforms(scene_copy, inputs, solver_scene)
        with named_errors(self._folder.parent):
            shutil.rmtree(self._folder, ignore_errors=True)
            if not self._part.is_saved_later:
                solver_scene.save(self._folder, is_durable=False)  # whoever needs it syncs the folder
            track_writer = BufferedTrackWriter(TrackWriter(self._folder, is_durable=False))
            colliders = ColliderSampler(solver_scene, track_writer)
        activations = ActivationSampler(scene_copy, inputs, self._part.time_shift)
        return _ExportState(
            solver_scene, rest, track_writer, colliders, BodyVertexReader(), activations, grounds, strengths
        )

    def _evaluate(self, scene_copy: SceneCopy, before: SampleTime | None) -> None:
        """Evaluates the next moment. If an input depends on earlier frames, evaluates these first, in order."""
        moment = self._moments[self._done]
        if self._first_needed is not None and (before is None or moment.frame < before.frame):
            scene_copy.evaluate_frames(self._first_needed, moment.frame)
        scene_copy.set_frame(moment.frame, moment.subframe)
        last = self._moments[-1]
        is_present = (moment.frame, moment.subframe) == (last.frame, last.subframe)
        if self._done and is_present and self._part.unkeyed is not None:
            self._part.unkeyed.apply(scene_copy.scene.view_layers[0])

    def _sample(
        self, state: _ExportState, scene_copy: SceneCopy, inputs: Participants, shapes: RestShapeReader
    ) -> None:
        """Adds the moment that is evaluated to the tracks."""
        sampling = Sampling(scene_copy, inputs.unit, self._moments[self._done], state.track_writer)
        sample_tracks(sampling, inputs, state.solver_scene, state.rest, shapes, state.body_vertices)
        state.activations.sample(scene_copy, inputs, sampling.moment.time)
        for ground in state.grounds:
            ground.add_until(state.track_writer, sampling.moment.time)
        for strength in state.strengths:
            strength.sample(state.track_writer, sampling.moment.time)
        if self._done == 0:
            state.flexed.update(read_flexed_shapes(sampling, inputs, state.rest, shapes))
        state.colliders.sample(sampling, inputs)
        half_way = state.colliders.halfway_time()
        if half_way is not None and self._first_needed is None:
            scene_copy.set_frame(half_way.frame, half_way.subframe)
            state.colliders.sample_halfway(replace(sampling, moment=half_way), inputs)

    def close(self) -> None:
        """Writes what is left of the tracks, and colliders that turned out to deform.

        Raises:
            BadInput: A source of activation cannot be evaluated.
            StorageFailed: The folder cannot be written.
        """
        if self._state is None:
            return
        writer = self._state.track_writer
        with named_errors(self._folder.parent):
            traces = self._state.activations.traces()
            write_activations(writer, traces)
            write_rest_shapes(writer, self._state.flexed, self._state.activations.moments(traces))
            writer.close()
            if self._state.colliders.has_deforming and not self._part.is_saved_later:
                self._state.colliders.with_world_vertices().save(self._folder, is_durable=False)


def _read_grounds(bake_pass: BakePass, inputs: Participants) -> list[BakedGround]:
    return read_grounds(bake_pass, frame_range(inputs.scene)[1], inputs.grounds, inputs.ground_wraps)


def _part_of_scene(
    scene: bpy.types.Scene, bake_pass: BakePass | None, chosen: Collection[bpy.types.Object] | None
) -> ExportPart:
    """Returns the bodies of a pass, or of a whole scene, or those of them that are chosen, with what they need.

    Raises:
        BadInput: An object cannot be simulated as it is.
    """
    if not roles.bodies(scene):
        raise BadInput("no-bodies", name=scene.name)
    validation.check_objects(scene)
    if bake_pass is None or (bake_pass.is_only and chosen is None):
        return ExportPart(find_participants(scene), sample_times(scene))
    inputs = find_participants(scene, bake_pass.number)
    if chosen is not None:
        inputs = only_bodies(inputs, chosen, follow=True)
        if not inputs.bodies:
            raise BadInput("no-body-selected", name=scene.name)
    return ExportPart(inputs, sample_times(scene), bake_pass=bake_pass)


def _make_folder(folder: Path) -> list[Path]:
    """Makes a folder and returns those that were not there, the innermost first."""
    made = [f for f in [folder, *folder.parents] if not f.exists()]
    make_folder(folder)
    return made
