# SPDX-License-Identifier: GPL-3.0-or-later
"""A scene that moves on step by step while somebody handles it."""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np

from ..constraints.grabs import Grabs, grabbed_places, make_grab
from ..mechanics.state_fields import TEMPERATURE
from ..runtime.arrays import Floats
from ..runtime.errors import BadInput
from ..scene.adaptive_validation import check_no_dynamic_refinement
from ..scene.brittle_validation import check_no_brittle_bodies
from ..scene.gravity import gravity_at
from ..scene.scene import MAX_FRAME_NUMBER, Scene
from ..scene.track_shapes import track_shapes
from ..scene.tracks import TrackReader
from ..simulation.advance_frame import FrameReport
from ..simulation.build import OnStage, build
from ..simulation.features.stiffness_brushes import BRUSHED_STIFFNESS
from ..simulation.recently_moved_colliders import SECONDS_AFTER_MOVING
from ..simulation.simulation import FrameCallbacks, Simulation
from .brushes import Brushes
from .collider_jumps import ColliderHands, ColliderJumps
from .collider_shapes import read_shape
from .commands import (
    Command,
    DeformCollider,
    HoldBall,
    HoldHeatGun,
    HoldStiffnessBrush,
    LiftBrush,
    MoveGrab,
    ReleaseGrab,
    SetTrack,
    TakeGrab,
)
from .grabbed_places import places_of
from .live_steps import steps_per_frame
from .live_tracks import LiveTracks


@dataclass(frozen=True, eq=False)
class LiveSample:
    """What is seen after a step.

    Attributes:
        step: Number of the step, counted from 1; 0: the beginning.
        time: Of the scene [s].
        positions: Render vertices of every body [m], (n, 3), by key.
    """

    step: int
    time: float
    positions: dict[str, Floats]


class LiveRun:
    """A simulation, what is handled in it, and how far it has come.

    Attributes:
        scene: With the settings of a live run: a step is a sample, and there is no last frame.
        tracks: Its inputs.
        simulation: Between two steps.
        step: Steps taken.
    """

    def __init__(
        self,
        scene: Scene,
        tracks: TrackReader,
        controls: Mapping[str, Any] | None = None,
        on_stage: OnStage = lambda stage, body: None,
        cache: Path | None = None,
    ) -> None:
        """Fills the bodies with tets and makes ready for the first step.

        Args:
            scene: Begins at its first frame.
            tracks: Of the scene.
            controls: First values of the tracks that may be handled, by name.
            on_stage: As for `Simulation`.
            cache: The folder that has the shapes of colliders that deform; None: none does.

        Raises:
            BadInput: Something cannot be simulated, or there is no such track; the sentence names it.
        """
        check_no_dynamic_refinement(scene)
        check_no_brittle_bodies(scene)
        self.scene = live_scene(scene)
        shapes, given = track_shapes(scene), controls or {}
        for name in given:
            if name not in shapes:
                raise BadInput("track-unknown", name=name, example="collider.KEY.matrix")
        self.tracks = LiveTracks(tracks, given, shapes)
        self.grabs, self.step, self.cache = Grabs(), 0, cache
        self.hands = ColliderHands(lambda: self.simulation.state.time)
        built = build(self.scene, self.tracks, on_stage)
        self.brushes = Brushes(self.scene, built, self._gravity(self.scene.settings.start_time))
        built = self.brushes.added_to(replace(built, forces=(*built.forces, self.grabs, self.hands)))
        self.simulation = Simulation(self.scene, self.tracks, built)
        largest = max(float(np.ptp(built.model.X[body.range.nodes], axis=0).max()) for body in built.bodies)
        self.jumps = ColliderJumps(built.colliders, built.deforming, largest)

    @property
    def step_end(self) -> float:
        """Time at which the next step ends [s], as `advance_frame` counts it."""
        settings = self.scene.settings
        frame, number = divmod(self.step, settings.substeps)
        return settings.time(settings.frame_start + frame + (number + 1) / settings.substeps)

    def run(
        self,
        before_step: Callable[[], None],
        on_sample: Callable[[LiveSample], None],
        on_frame: Callable[[FrameReport], None] = lambda report: None,
    ) -> None:
        """Takes steps until `before_step` raises, which passes through.

        Args:
            before_step: Called before every step; may `apply` commands.
            on_sample: Called with the beginning, and after every step.
            on_frame: Called with how the steps of every frame went.

        Raises:
            SolveFailed: A step gave no numbers.
        """

        def show(positions: dict[str, Floats]) -> None:
            self.step += 1
            on_sample(LiveSample(self.step, self.simulation.state.time, positions))

        callbacks = FrameCallbacks(on_sample=show, before_step=before_step)
        on_sample(LiveSample(0, self.simulation.state.time, self.simulation.start().positions))
        while True:
            on_frame(self.simulation.advance(callbacks).report)

    def apply(self, command: Command) -> float:
        """Lets a command act from the next step on, and returns after how many steps it has acted in full.

        That is the next one, unless a collider has a longer way to go (`collider_jumps.py`).

        Raises:
            BadInput: There is no such body, grab, brush or track that may be handled, or the value has another shape.
        """
        match command:
            case TakeGrab():
                self._take(command)
            case MoveGrab():
                self._check_grab(command.grab)
                self.grabs.held[command.grab] = self.grabs.held[command.grab].moved_to(command.place, command.strength)
            case ReleaseGrab():
                self._check_grab(command.grab)
                del self.grabs.held[command.grab]
            case SetTrack():
                return self._set(command)
            case DeformCollider():
                return self._deform(command)
            case HoldHeatGun() | HoldStiffnessBrush() | HoldBall() | LiftBrush():
                self.brushes.apply(command)
        return self.step + 1.0

    def digest(self) -> str:
        """Returns 64 hex digits of where all nodes are, how they move, how warm they are, and how soft by brushes."""
        state, found = self.simulation.state, hashlib.sha256()
        others = (state.fields[name] for name in (TEMPERATURE, BRUSHED_STIFFNESS) if name in state.fields)
        for array in (state.x, state.v, *others):
            found.update(np.ascontiguousarray(array, "<f8").tobytes())
        return found.hexdigest()

    def touched(self) -> dict[str, float]:
        """Returns what is in the middle of a held brush, as `Brushes.touched`."""
        return self.brushes.touched(self.simulation.built.model, self.simulation.state)

    def held_grabs(self) -> list[int]:
        """Returns the numbers of grabs that move nothing: pins, bones or keys held all their nodes in the last step."""
        held, tets = self.simulation.held_nodes, self.simulation.built.model.tets
        if held is None:
            return []
        return [number for number, grab in self.grabs.held.items() if held[tets[grab.points.tet]].all()]

    def _take(self, command: TakeGrab) -> None:
        simulation = self.simulation
        built = simulation.built
        number = next((n for n, body in enumerate(built.bodies) if body.key == command.body), None)
        if number is None:
            raise BadInput("live-no-such-body", name=command.body)
        places, here = places_of(simulation, number)
        held = grabbed_places(here, command.place, command.radius)
        if len(command.vertices) and len(here) == len(built.bodies[number].binding.tet):  # a torn body has more places
            if command.vertices.max() >= len(here):
                raise BadInput("live-command-invalid", command="grab", problem="the body has fewer vertices")
            held = command.vertices, command.shares / command.shares.sum()
        gravity = self._gravity(simulation.state.time)
        taken = make_grab(built.model, number, places, here, command.place, held, gravity)
        self.grabs.held[command.grab] = taken.moved_to(taken.hand, command.strength)

    def _gravity(self, time: float) -> float:
        return float(np.linalg.norm(gravity_at(self.scene, self.tracks, time)))

    def _check_grab(self, number: int) -> None:
        if number not in self.grabs.held:
            raise BadInput("live-no-such-grab", number=number)

    def _set(self, command: SetTrack) -> float:
        if command.track not in self.tracks.controls:
            raise BadInput("live-no-such-control", name=command.track)
        wanted = self.tracks.shapes[command.track]
        if command.value.shape != wanted:
            problem = f"the value of {command.track} has the shape {command.value.shape} instead of {wanted}"
            raise BadInput("live-command-invalid", command="set", problem=problem)
        self.jumps.check(command.track, command.value, self.step_end)
        return self._move_track(command.track, command.value, command.at_once)

    def _deform(self, command: DeformCollider) -> float:
        track = f"collider.{command.collider}.vertices"
        is_there = any(each.key == command.collider for each in self.simulation.built.deforming)
        if not is_there or self.cache is None:
            raise BadInput("live-no-such-control", name=track)
        time = self.simulation.state.time
        vertices = read_shape(self.cache, command.collider, command.sample, len(self.tracks.sample(track, time)))
        self.tracks.handle(track, time)
        return self._move_track(track, vertices, command.at_once)

    def _move_track(self, track: str, value: Floats, at_once: bool) -> float:
        """Lets a track be somewhere else at the end of the next step, and returns after how many steps it is.

        A collider that goes too far for that teleports there, or takes longer unless it has to be there `at_once`.
        """
        begin, end, is_jump = self.simulation.state.time, self.step_end, False
        if self.jumps.has(track):
            before = self.tracks.sample(track, begin)
            is_jump = self.jumps.is_jump(track, before, value)
            if not is_jump and not at_once:
                end = max(end, begin + self.jumps.seconds(track, before, value))
            self.hands.until = end + SECONDS_AFTER_MOVING
        self.tracks.set(track, begin, end, value, is_jump)
        return self.step + max((end - begin) / (self.step_end - begin), 1.0)


def live_scene(scene: Scene) -> Scene:
    """Returns a scene whose steps are samples, at least `STEPS_PER_SECOND` of them, without a last frame."""
    steps = steps_per_frame(scene.settings.fps)
    settings = replace(
        scene.settings, substeps=steps, samples_per_frame=steps, frame_end=MAX_FRAME_NUMBER, strict=False
    )
    return replace(scene, settings=settings)
