# SPDX-License-Identifier: GPL-3.0-or-later
"""A scene that is simulated frame by frame (docs/library.md).

for frame in Simulation(scene).run():
    print(frame.number, frame.positions["ball"], frame.report.residual)
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from contextlib import AbstractContextManager, contextmanager, nullcontext
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING, Any

from ..integrators.step_report import StepReport
from ..mechanics.state import State
from ..runtime.arrays import Floats
from ..runtime.errors import BadInput
from ..runtime.threads.thread_count import using_threads
from ..scene.scene import Scene
from ..scene.track_shapes import track_names, track_shapes
from ..scene.tracks import MemoryTracks, Track, TrackReader
from .advance_frame import FrameReport, advance_frame, advance_step, begin_frame, render_positions
from .assembled_scene import AssembledScene
from .build import OnStage, build
from .simulated_scene import SimulatedScene
from .solve_progress import SolveProgress

if TYPE_CHECKING:  # few simulations cut anything
    from ..mesh.cut_tets import CutTets
    from .cutting.body_cut import PointCopies
    from .cutting.cut_skin import CutSkin

Tracks = TrackReader | Mapping[str, Track | tuple[Any, ...]] | None


@dataclass(frozen=True)
class FrameCallbacks:
    """What is called while a simulation moves on; what a callback raises ends the call, at the frame before.

    Attributes:
        on_sample: Called `Settings.samples_per_frame` times a frame with the render positions of every body [m], by
            key; the last time at the frame.
        before_step: Called before every step.
        on_progress: Called before every Newton iteration of flesh and every stress solve of a hit, with the frame.
        on_preroll: Called after every frame of the pre-roll with the fraction of it that is done.
        on_preroll_sample: Called with the render positions of every sample from the rest pose to the first frame, both
            included, where these are wanted.
    """

    on_sample: Callable[[dict[str, Floats]], None] = lambda positions: None
    before_step: Callable[[], None] = lambda: None
    on_progress: Callable[[int, SolveProgress], None] = lambda frame, progress: None
    on_preroll: Callable[[float], None] = lambda fraction: None
    on_preroll_sample: Callable[[dict[str, Floats]], None] | None = None


NO_CALLBACKS = FrameCallbacks()


@dataclass(frozen=True, eq=False)
class SimulatedFrame:
    """A frame that has been simulated.

    Attributes:
        number: Of the frame.
        positions: Render vertices of every body at the frame [m], (n, 3), by key.
        report: How its steps went.
    """

    number: int
    positions: dict[str, Floats]
    report: FrameReport


class Simulation(SimulatedScene):
    """A scene that is moved on frame by frame.

    Attributes:
        scene: What is asked for.
        tracks: Its animated inputs.
        built: What is constant during a step, such as `built.model`.
        state: Node positions, velocities and all else that the next step reads. It is moved on in place: copy what
            has to stay.
    """

    def __init__(
        self,
        scene: Scene,
        tracks: Tracks = None,
        built: AssembledScene | None = None,
        state: State | None = None,
        on_stage: OnStage = lambda stage, body: None,
    ) -> None:
        """Fills the bodies of a scene with tets and makes ready for its first frame.

        Args:
            scene: What is asked for.
            tracks: Animated inputs: a reader, or (times, values) or `Track` by name (`Body`, `Collider` … say which
                names they read); None: nothing moves.
            built: What `build` has made of the scene before; None: it is built now.
            state: Where to go on from, moved on in place; None: the rest pose, a copy.
            on_stage: Called with ("tetrahedralize", "bind" or "rest", name of the body) before that is done.

        Raises:
            BadInput: Something cannot be simulated; the sentence names it.
        """
        reader = tracks if isinstance(tracks, TrackReader) else memory_tracks(scene, tracks)
        built = build(scene, reader, on_stage) if built is None else built
        super().__init__(scene, reader, built, built.initial.copy() if state is None else state)
        self._is_started = state is not None

    @property
    def frame(self) -> int:
        """Number of the frame that it is at; before `start`, of the rest pose."""
        return self.scene.settings.frame_start + round(self.state.time * self.scene.settings.fps)

    def positions(self) -> dict[str, Floats]:
        """Returns the render vertices of every body now [m], (n, 3), by key."""
        return render_positions(self.built, self.state)

    def run(self, callbacks: FrameCallbacks = NO_CALLBACKS) -> Iterator[SimulatedFrame]:
        """Yields every frame from the first, or from the one after that it is at, to the last of the scene.

        Raises:
            SolveFailed: As `advance`.
        """
        if not self.is_started:
            yield self.start(callbacks)
        while self.frame < self.scene.settings.frame_end:
            yield self.advance(callbacks)

    @property
    def is_started(self) -> bool:
        """Whether it is at the first frame or after it."""
        return self._is_started or self.state.time > self.scene.settings.start_time

    def start(self, callbacks: FrameCallbacks = NO_CALLBACKS) -> SimulatedFrame:
        """Goes from the rest pose to the first frame: flesh comes to rest in its pose, and the pre-roll is made.

        Raises:
            SolveFailed: As `advance`.
        """
        settings = self.scene.settings
        with self._undone_on_failure(), self._threads():
            report = begin_frame(self, partial(callbacks.on_progress, self.frame))
            on_sample = callbacks.on_preroll_sample
            if on_sample is not None:
                on_sample(self.positions())
            for number in range(1, settings.preroll + 1):
                frame = settings.frame_start - settings.preroll + number
                on_progress = partial(callbacks.on_progress, frame)
                report = advance_frame(self, frame, on_sample, callbacks.before_step, on_progress)
                callbacks.on_preroll(number / settings.preroll)
        self._is_started = True
        return SimulatedFrame(self.frame, self.positions(), report)

    def advance(self, callbacks: FrameCallbacks = NO_CALLBACKS) -> SimulatedFrame:
        """Moves on by one frame, after `start` where that was not called.

        Raises:
            SolveFailed: A step gave no numbers, or one did not converge and the settings are strict. The simulation
                is at the frame before then.
        """
        if not self.is_started:
            self.start(callbacks)
        frame = self.frame + 1
        positions: dict[str, Floats] = {}

        def on_sample(drawn: dict[str, Floats]) -> None:
            positions.update(drawn)
            callbacks.on_sample(drawn)

        with self._undone_on_failure(), self._threads():
            report = advance_frame(self, frame, on_sample, callbacks.before_step, partial(callbacks.on_progress, frame))
        return SimulatedFrame(frame, positions, report)

    def step(self, dt: float | None = None) -> StepReport:
        """Moves on by one time step; flesh that follows a pose stays where it is.

        Args:
            dt: Δt, of the scene's time [s]; None: a frame over its substeps.

        Raises:
            SolveFailed: Velocities are no longer numbers. The simulation is where it was then.
        """
        if not self.is_started:
            self.start()
        settings, begin = self.scene.settings, self.state.time
        dt = 1.0 / (settings.fps * settings.substeps) if dt is None else dt
        with self._undone_on_failure(), self._threads():
            return advance_step(self, begin, begin + dt)

    def cut(self, key: str, tets: CutTets, points: PointCopies, skin: CutSkin | None = None) -> None:
        """Cuts a body between two steps: copies of tets go on from where the tets were.

        Args:
            key: Of the body.
            tets: Copies of the tets that it has now, numbered in the body (`built.bodies`).
            points: Which of these hold its vertices and contact points, in the order of `cutting.cut_bodies`.
            skin: The surface by which it touches others from now on, cut faces included; None: these touch nothing.

        Raises:
            BadInput: The body, or the scene, has what does not go on after a cut. The simulation is as it was.
        """
        from .cutting.cut_bodies import cut_body

        with self._undone_on_failure():
            cut_body(self, key, tets, points, skin)

    def copy(self) -> Simulation:
        """Returns a simulation that can be moved on without moving this one."""
        other = Simulation(self.scene, self.tracks, self.built, self.state.copy())
        other.contacts, other._is_started = self.contacts, self._is_started
        return other

    def _threads(self) -> AbstractContextManager[None]:
        """Lets kernels use as many threads as the settings say."""
        count = self.scene.settings.threads
        return using_threads(count) if count else nullcontext()

    @contextmanager
    def _undone_on_failure(self) -> Iterator[None]:
        """Takes back what was moved on meanwhile where that ends in an exception."""
        earlier = self.built, self.state.copy(), self.contacts
        try:
            yield
        except BaseException:
            self.built, self.state, self.contacts = earlier
            raise


def memory_tracks(scene: Scene, tracks: Mapping[str, Track | tuple[Any, ...]] | MemoryTracks | None) -> MemoryTracks:
    """Returns the animated inputs of a scene, by name or as they were made before.

    Raises:
        BadInput: "track-unknown", "track-invalid": a name that nothing reads, or samples that cannot be its.
    """
    if isinstance(tracks, MemoryTracks):
        return tracks
    tracks, known = tracks or {}, track_names(scene)
    for name in tracks:
        if name not in known:
            raise BadInput("track-unknown", name=name, example="body.KEY.targets")
    return MemoryTracks(tracks, track_shapes(scene))
