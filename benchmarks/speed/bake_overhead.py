# SPDX-License-Identifier: GPL-3.0-or-later
"""What a bake costs beside its solver: export, drawing the render mesh, writing, reading back."""

from __future__ import annotations

import importlib.util
import os
import shutil
import statistics
import tempfile
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from frame.result import Result
from speed import torus
from speed.table import NONE, Benchmark, Row, bound, missing

MOST = 0.1
TIMELINE = 250  # frames that a new file of Blender has
FRAMES = 13
ROUNDS = 3  # of each way of writing, in turns, of twelve frames each
SYNCED = 2_400_000  # bytes of a sample of 200,000 vertices


class Clock:
    """How long functions take that a bake calls, in seconds by name."""

    def __init__(self) -> None:
        self.taken: dict[str, float] = {}

    @contextmanager
    def on(self, owner: Any, name: str) -> Iterator[None]:
        """Lets the calls of a function be timed for a while."""
        called = getattr(owner, name)

        def timed(*arguments: Any, **named: Any) -> Any:
            began = time.perf_counter()
            try:
                return called(*arguments, **named)
            finally:
                self.taken[name] = self.taken.get(name, 0.0) + time.perf_counter() - began

        setattr(owner, name, timed)
        try:
            yield
        finally:
            setattr(owner, name, called)


def bake(cache: Path, waits: bool = False, frame_end: int | None = None) -> dict[str, float]:
    """Bakes, or goes on where the last bake ended, and returns the seconds of its parts.

    Args:
        cache: With a scene in it.
        waits: Whether each frame is written before the next one is begun, as without a thread.
        frame_end: The last frame, instead of the scene's.
    """
    from sinew.solver import advance, simulate, taken
    from sinew.solver.cache import CacheWriter, WritesBehind

    def at_once(_: WritesBehind, write: Callable[[], None], then: Callable[[], None]) -> None:
        write()
        then()

    clock, began, built = Clock(), time.perf_counter(), [0.0]

    def hear(event: Mapping[str, Any]) -> None:
        if event["event"] == "built":
            built[0] = time.perf_counter()

    do = WritesBehind.do
    with ExitStack() as stack:
        for owner, name in (
            (advance, "advance_step"),
            (advance, "render_positions"),
            (taken, "in_object_space"),
            (CacheWriter, "write_frame"),
            (CacheWriter, "write_resume"),
        ):
            stack.enter_context(clock.on(owner, name))
        if waits:
            stack.callback(setattr, WritesBehind, "do", do)
            WritesBehind.do = at_once  # type: ignore[method-assign]
        simulate.simulate(cache, hear, resume=True, frame_end=frame_end)
    ended = time.perf_counter()
    return {"set-up": built[0] - began, "frames": ended - built[0], **clock.taken}


def synced_write(folder: Path) -> float:
    """Returns the seconds that the disk takes to write and sync one sample, the median of seven."""
    seconds = []
    for number in range(7):
        began = time.perf_counter()
        with open(folder / f"sample{number}", "wb") as file:
            file.write(bytes(SYNCED))
            os.fsync(file.fileno())
        seconds.append(time.perf_counter() - began)
    return statistics.median(seconds)


@dataclass(frozen=True)
class Measured:
    """What was measured of a bake, per frame where nothing else is said [s].

    Attributes:
        tets: Of the body.
        vertices: Of the render mesh.
        exporting: Writing the scene.
        set_up: Filling, tying and pattern, once.
        baked: By whether each frame waits for its write: the parts of some bakes, as `bake` returns them.
        frames: That each of these baked.
        playing: Going to a frame in Blender with the bake, and without it.
        disk: A synced write.
    """

    tets: int
    vertices: int
    exporting: float
    set_up: float
    baked: Mapping[bool, Sequence[Mapping[str, float]]]
    frames: int
    playing: tuple[float, float]
    disk: float

    def part(self, name: str, waits: bool = False) -> float:
        """Returns what a part takes."""
        return statistics.median(times.get(name, 0.0) for times in self.baked[waits]) / self.frames

    def beside(self, waits: bool = False) -> float:
        """Returns what a frame takes beside its steps."""
        return statistics.median((times["frames"] - times["advance_step"]) / self.frames for times in self.baked[waits])

    @property
    def back(self) -> float:
        """What reading back takes."""
        return max(self.playing[0] - self.playing[1], 0.0)

    def share(self, waits: bool = False) -> float:
        """Returns what a frame takes beyond its solver, over what the solver takes."""
        return (self.exporting + self.beside(waits) + self.back) / self.part("advance_step", waits)


def measure(folder: Path, quick: bool) -> Measured:
    """Bakes in both ways in turns, after one that compiles and fills."""
    segments, divisions = (torus.COARSE, 6) if quick else (torus.FINE, torus.TETS_100K)
    frames, rounds = (4, 1) if quick else (FRAMES, ROUNDS)
    from sinew.solver.cache import CacheReader

    begun, cache = folder / "begun.sinew", folder / "bake.sinew"
    torus.make_torus(segments, divisions, TIMELINE, is_held=True)
    exporting = torus.export(folder / "timeline.sinew") / TIMELINE
    body = torus.make_torus(segments, divisions, frames, is_held=True)
    torus.export(begun)
    first = bake(begun, frame_end=1)
    baked: dict[bool, list[dict[str, float]]] = {False: [], True: []}
    for _ in range(rounds):
        for waits, times in baked.items():
            shutil.rmtree(cache, ignore_errors=True)
            shutil.copytree(begun, cache)
            times.append(bake(cache, waits))
    reader = CacheReader(cache)
    head = reader.head.bodies[0]
    return Measured(
        tets=len(reader.read_model(head.key)["tets"]),
        vertices=head.vertices,
        exporting=exporting,
        set_up=first["set-up"],
        baked=baked,
        frames=frames - 1,
        playing=torus.read_back(body, cache, frames),
        disk=synced_write(folder),
    )


def rows_of(found: Measured) -> list[Row]:
    """Returns the table."""
    share, solver, exporting = found.share(), found.part("advance_step"), found.exporting
    times = {
        "steps of a frame [ms]": [solver],
        f"export, of {TIMELINE} frames, per frame [ms]": [exporting],
        "between the steps of a frame, all in all [ms]": [found.beside()],
        "of it the render mesh: by weights, in object space [ms]": map(
            found.part, ("render_positions", "in_object_space")
        ),
        "meanwhile, in the thread that writes: frame, resume point [ms]": map(
            found.part, ("write_frame", "write_resume")
        ),
        "going to a frame in Blender, with and without the bake [ms]": found.playing,
        "the disk: a synced write of 2.4 MB [ms]": [found.disk],
    }
    return [
        bound(
            f"beyond the solver, {found.tets:,} tets, {found.vertices:,} vertices",
            f"≤ {MOST:.0%}",
            f"{share:.1%}",
            share <= MOST,
            f"Of a frame's {1e3 * solver:.0f} ms of steps, export takes {1e3 * exporting:.1f} ms, what is done between "
            f"steps {1e3 * found.beside():.1f} ms and reading back {1e3 * found.back:.1f} ms.",
            line=9,
        ),
        Row("the same where every frame waits until it is written", NONE, f"{found.share(True):.1%}"),
        *(Row(text, NONE, ", ".join(f"{1e3 * each:.3g}" for each in seconds)) for text, seconds in times.items()),
        Row("set-up: filling, tying, pattern [s]", NONE, f"{found.set_up:.1f}"),
    ]


def run(quick: bool) -> Result:
    """Measures a body that hangs and swings, whose steps are cheap: no contact, and the tolerance of new scenes."""
    if importlib.util.find_spec("bpy") is None:
        return Result([missing("overhead of a bake", f"{MOST:.0%}", "bpy", line=9)])
    with tempfile.TemporaryDirectory(prefix="sinew-overhead-") as folder:
        found = measure(Path(folder), quick)
    values = {
        "tets": float(found.tets),
        "vertices": float(found.vertices),
        "share": found.share(),
        "share where every frame waits for its write": found.share(True),
        "solver": found.part("advance_step"),
        "export": found.exporting,
        "beside the steps": found.beside(),
        "beside the steps where every frame waits for its write": found.beside(True),
        "reading back": found.back,
        "set-up": found.set_up,
        "synced write": found.disk,
    }
    notes = [
        f"Medians of {len(found.baked[True])} bakes of {found.frames} frames, in turns with as many in which every "
        f"frame waits for its write; the export is that of a timeline of {TIMELINE} frames. Set-up is done once and is "
        "no part of the share.",
    ]
    return Result(rows_of(found), values=values, notes=notes)


BENCHMARK = Benchmark(
    lines=(9,),
    title="What a bake costs beside its solver",
    what="A torus of Blender's primitive (major radius 1 m, minor 0.4 m, 250 × 200 segments, one Subdivision applied) "
    "of the material that bodies begin with, pinned where it is higher than 0.3 m, swings under gravity: default "
    "tolerance, substeps and frame rate, 24 frames a second. The share is (export + what is done between steps + "
    "reading back) / steps, per frame. Contacts would make steps dearer, and the share smaller.",
    run=run,
)
