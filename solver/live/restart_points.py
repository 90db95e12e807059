# SPDX-License-Identifier: GPL-3.0-or-later
"""Restart points of a live run, from which its end is repeated without its beginning.

    live/000360.restart   after 360 steps, at the end of a frame: the state of the simulation, what grabs hold, and the
                          last samples of what was handled

Brushes follow from the commands that were written down. A run writes a point every `INTERVAL_SECONDS`, and
deletes those that lie close together for their age: the gaps between the points that stay are about a third of their
age, so a run of any length keeps some tens of them, and whoever wants the last n seconds repeats at most about half as
many before these.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from ..bake.cache import BackgroundWriter
from ..bake.cache.layout import live_restart_path, live_restart_steps
from ..constraints.grabs import Grab
from ..mechanics.state import State
from ..mechanics.topology_state import check_fits
from ..mesh.embedding import Binding
from ..runtime.arrays import Floats
from ..runtime.atomic_files import write_atomic
from ..runtime.checksums import npz_bytes, npz_has_checksum
from ..runtime.errors import StorageFailed
from ..runtime.npz_reader import read_arrays
from ..runtime.storage_errors import named_errors
from ..simulation.fracture_topology import apply_topology
from ..simulation.simulation import Simulation
from .brushes import BrushCommand
from .commands import parse_command
from .live_run import LiveRun

INTERVAL_SECONDS = 2.0  # of the scene, between points that are written
MAX_GAP_SHARE = 1.0 / 3.0  # of the age of a point, up to which the points beside it are close enough without it

_GRAB, _BODY, _TIMES, _VALUES, _HANDS_UNTIL = "grab.", ".body", "times.", "values.", "hands_until"
Commands = Mapping[int, list[dict[str, Any]]]


@dataclass(frozen=True, eq=False)
class RestartPoint:
    """What the next step of a run reads.

    Attributes:
        step: Number of steps before it.
        state: Of the simulation.
        grabs: What is held, by number.
        samples: Times [s] and values of the tracks that were handled, by name.
        hands_until: Up to when colliders count as moved by somebody [s].
    """

    step: int
    state: State
    grabs: dict[int, Grab]
    samples: dict[str, tuple[Floats, Floats]]
    hands_until: float

    @staticmethod
    def of(run: LiveRun) -> RestartPoint:
        """Returns the point at which a run is, between two frames."""
        state, samples = run.simulation.state.copy(), run.tracks.handled_samples()
        return RestartPoint(run.step, state, dict(run.grabs.held), samples, run.hands.until)

    def to_bytes(self) -> bytes:
        """Returns the content of its file."""
        arrays = self.state.to_arrays()
        for number, grab in self.grabs.items():
            arrays |= {f"{_GRAB}{number}.{name}": array for name, array in _grab_arrays(grab).items()}
        for name, (times, values) in self.samples.items():
            arrays |= {f"{_TIMES}{name}": times, f"{_VALUES}{name}": values}
        arrays[_HANDS_UNTIL] = np.array(self.hands_until)
        return npz_bytes(arrays)


class RestartWriter:
    """Writes restart points of a run, while it goes on."""

    def __init__(self, cache: Path, interval: int) -> None:
        """Takes the cache folder of the run, and how many steps are between two points."""
        self._cache, self._interval, self._last = cache, float(interval), 0
        self._files = BackgroundWriter()

    def write_if_due(self, run: LiveRun) -> None:
        """Writes a point where a run is, between two frames, if the last one is long ago.

        Raises:
            StorageFailed: One of the points before could not be written.
        """
        if run.step - self._last < self._interval:
            return
        self._last, point = run.step, RestartPoint.of(run)
        self._files.submit(lambda: self._write(point), lambda: None)

    def stop(self) -> None:
        """Writes no more points."""
        self._interval = math.inf

    def close(self) -> None:
        """Waits for what is being written."""
        with self._files:
            pass

    def _write(self, point: RestartPoint) -> None:
        with named_errors(self._cache):
            write_atomic(live_restart_path(self._cache, point.step), point.to_bytes(), is_durable=False)
            steps = live_restart_steps(self._cache)
            for step in set(steps) - set(useful_points(steps)):
                live_restart_path(self._cache, step).unlink(missing_ok=True)


def useful_points(steps: Iterable[int]) -> list[int]:
    """Returns which of the points after so many steps stay, rising; the last one is where the run is."""
    found = sorted(steps)
    newest, place = found[-1], len(found) - 2
    while place >= 0:
        before = found[place - 1] if place else 0
        if found[place + 1] - before <= MAX_GAP_SHARE * (newest - before):
            del found[place]
        place -= 1
    return found


def read_restart(cache: Path, step: int) -> RestartPoint:
    """Reads the restart point of a cache folder after so many steps.

    Raises:
        StorageFailed: "live-restart-unreadable": it is damaged, or gone.
    """
    path = live_restart_path(cache, step)
    try:
        npz_has_checksum(path.read_bytes())
        arrays = read_arrays(path)
        held = (name.removeprefix(_GRAB) for name in arrays if name.startswith(_GRAB) and name.endswith(_BODY))
        numbers = [int(name.removesuffix(_BODY)) for name in held]
        grabs = {each: _grab_of(arrays, each) for each in numbers}
        tracks = [name.removeprefix(_TIMES) for name in arrays if name.startswith(_TIMES)]
        samples = {name: (arrays[_TIMES + name], arrays[_VALUES + name]) for name in tracks}
        return RestartPoint(step, State.from_arrays(arrays), grabs, samples, float(arrays[_HANDS_UNTIL]))
    except (OSError, KeyError, TypeError, ValueError) as problem:
        raise StorageFailed("live-restart-unreadable", path=str(path), problem=str(problem)) from problem


def go_on_from(run: LiveRun, point: RestartPoint, commands: Commands) -> None:
    """Brings a run that has not begun to a restart point of the same scene.

    Args:
        run: It.
        point: The point.
        commands: All that were written down, by the number of steps after which they came.

    Raises:
        StorageFailed: "live-restart-unreadable": the point is of another scene.
        BadInput: A command before the point cannot be done.
    """
    model = run.simulation.built.model
    try:
        check_fits(point.state, model.node_count, model.tet_count)
    except ValueError as problem:
        raise StorageFailed("live-restart-unreadable", path=f"{point.step:06d}", problem=str(problem)) from problem
    for step in sorted(step for step in commands if step < point.step):
        for command in map(parse_command, commands[step]):
            if isinstance(command, BrushCommand):
                run.brushes.apply(command)
    run.tracks.restore_samples(point.samples)
    run.hands.until = point.hands_until
    run.grabs.held.update(point.grabs)
    built = apply_topology(run.simulation.built, point.state)
    run.simulation = Simulation(run.scene, run.tracks, built, point.state)
    run.step = point.step


def _grab_arrays(grab: Grab) -> dict[str, npt.NDArray]:
    return {
        "body": np.array(grab.body),
        "tet": grab.points.tet,
        "weights": grab.points.weights,
        "offsets": grab.offsets,
        "shares": grab.shares,
        "stiffness": np.array(grab.stiffness),
        "hand": grab.hand,
        "strength": np.array(grab.strength),
    }


def _grab_of(arrays: Mapping[str, npt.NDArray], number: int) -> Grab:
    def of(name: str) -> npt.NDArray:
        return arrays[f"{_GRAB}{number}.{name}"]

    return Grab(
        int(of("body")),
        Binding(of("tet"), of("weights")),
        of("offsets"),
        of("shares"),
        float(of("stiffness")),
        of("hand"),
        float(of("strength")),
    )
