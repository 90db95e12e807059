# SPDX-License-Identifier: GPL-3.0-or-later
"""The overhead of a bake beside its solver: export, render mesh, writing, reading back."""

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

from harness.result import Result
from speed import torus_scene
from speed.benchmark import NO_TARGET, Benchmark, Row, bound_row, missing_peer_row

MAX_OVERHEAD = 0.1
TIMELINE_FRAMES = 250  # frames that a new file of Blender has
FRAMES = 13
ROUNDS = 3  # of each way of writing, in turns, of twelve frames each
SYNCED_BYTES = 2_400_000  # bytes of a sample of 200,000 vertices


class FunctionTimer:
    """Total time of functions that a bake calls, by name [s]."""

    def __init__(self) -> None:
        self.taken: dict[str, float] = {}

    @contextmanager
    def on(self, owner: Any, name: str) -> Iterator[None]:
        """Times the calls of a function within a block."""
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


def timed_bake(cache: Path, waits: bool = False, frame_end: int | None = None) -> dict[str, float]:
    """Bakes, or goes on where the last bake ended, and returns the seconds of its parts.

    Args:
        cache: With a scene in it.
        waits: Whether each frame is written before the next one is begun, as without a thread.
        frame_end: The last frame, instead of the scene's.
    """
    from sinew.solver.bake import frame_recorder, run_bake
    from sinew.solver.bake.cache import BackgroundWriter, CacheWriter
    from sinew.solver.simulation import advance_frame

    def at_once(_: BackgroundWriter, write: Callable[[], None], then: Callable[[], None]) -> None:
        write()
        then()

    clock, began, built = FunctionTimer(), time.perf_counter(), [0.0]

    def hear(event: Mapping[str, Any]) -> None:
        if event["event"] == "built":
            built[0] = time.perf_counter()

    do = BackgroundWriter.submit
    with ExitStack() as stack:
        for owner, name in (
            (advance_frame, "advance_step"),
            (advance_frame, "render_positions"),
            (frame_recorder, "played_positions"),
            (CacheWriter, "write_frame"),
            (CacheWriter, "write_resume"),
        ):
            stack.enter_context(clock.on(owner, name))
        if waits:
            stack.callback(setattr, BackgroundWriter, "submit", do)
            BackgroundWriter.submit = at_once  # type: ignore[method-assign]
        run_bake.run_bake(cache, hear, options=run_bake.BakeOptions(resume=True, frame_end=frame_end))
    ended = time.perf_counter()
    return {"set-up": built[0] - began, "frames": ended - built[0], **clock.taken}


def synced_write_seconds(folder: Path) -> float:
    """Returns the seconds that the disk takes to write and sync one sample, the median of seven."""
    seconds = []
    for number in range(7):
        began = time.perf_counter()
        with open(folder / f"sample{number}", "wb") as file:
            file.write(bytes(SYNCED_BYTES))
            os.fsync(file.fileno())
        seconds.append(time.perf_counter() - began)
    return statistics.median(seconds)


@dataclass(frozen=True)
class BakeTimes:
    """What was measured of a bake, per frame where nothing else is said [s].

    Attributes:
        tets: Of the body.
        vertices: Of the render mesh.
        exporting: Writing the scene.
        set_up: Filling, tying and pattern, once.
        baked: By whether each frame waits for its write: the parts of some bakes, as `timed_bake` returns them.
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


def measure(folder: Path, quick: bool) -> BakeTimes:
    """Bakes in both ways in turns, after one that compiles and fills."""
    segments, divisions = (
        (torus_scene.COARSE_SEGMENTS, 6) if quick else (torus_scene.FINE_SEGMENTS, torus_scene.TETS_100K)
    )
    frames, rounds = (4, 1) if quick else (FRAMES, ROUNDS)
    from sinew.solver.bake.cache import CacheReader

    begun, cache = folder / "begun.sinew", folder / "bake.sinew"
    torus_scene.make_torus(segments, divisions, TIMELINE_FRAMES, is_held=True)
    exporting = torus_scene.export_seconds(folder / "timeline.sinew") / TIMELINE_FRAMES
    body = torus_scene.make_torus(segments, divisions, frames, is_held=True)
    torus_scene.export_seconds(begun)
    first = timed_bake(begun, frame_end=1)
    baked: dict[bool, list[dict[str, float]]] = {False: [], True: []}
    for _ in range(rounds):
        for waits, times in baked.items():
            shutil.rmtree(cache, ignore_errors=True)
            shutil.copytree(begun, cache)
            times.append(timed_bake(cache, waits))
    reader = CacheReader(cache)
    head = reader.metadata.bodies[0]
    return BakeTimes(
        tets=len(reader.read_model(head.key)["tets"]),
        vertices=head.vertices,
        exporting=exporting,
        set_up=first["set-up"],
        baked=baked,
        frames=frames - 1,
        playing=torus_scene.playback_seconds(body, cache, frames),
        disk=synced_write_seconds(folder),
    )


def table_rows(found: BakeTimes) -> list[Row]:
    """Returns the table."""
    share, solver, exporting = found.share(), found.part("advance_step"), found.exporting
    times = {
        "steps of a frame [ms]": [solver],
        f"export of {TIMELINE_FRAMES} frames, per frame [ms]": [exporting],
        "between the steps of a frame [ms]": [found.beside()],
        "of that the render mesh: interpolation, transform to object space [ms]": map(
            found.part, ("render_positions", "played_positions")
        ),
        "in the writer thread: frame, resume point [ms]": map(found.part, ("write_frame", "write_resume")),
        "going to a frame in Blender, with and without the bake [ms]": found.playing,
        "synced write of 2.4 MB to disk [ms]": [found.disk],
    }
    return [
        bound_row(
            f"overhead, {found.tets:,} tets, {found.vertices:,} vertices",
            f"≤ {MAX_OVERHEAD:.0%}",
            f"{share:.1%}",
            share <= MAX_OVERHEAD,
            f"The steps of a frame take {1e3 * solver:.0f} ms, export {1e3 * exporting:.1f} ms, the work between steps "
            f"{1e3 * found.beside():.1f} ms and reading back {1e3 * found.back:.1f} ms.",
            line=9,
        ),
        Row("overhead if every frame waits for its write", NO_TARGET, f"{found.share(True):.1%}"),
        *(Row(text, NO_TARGET, ", ".join(f"{1e3 * each:.3g}" for each in seconds)) for text, seconds in times.items()),
        Row("set-up: filling, tying, pattern [s]", NO_TARGET, f"{found.set_up:.1f}"),
    ]


def run(quick: bool) -> Result:
    """Measures a swinging body whose steps are cheap: no contact, and the tolerance of new scenes."""
    if importlib.util.find_spec("bpy") is None:
        return Result([missing_peer_row("overhead of a bake", f"{MAX_OVERHEAD:.0%}", "bpy", line=9)])
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
        f"Times are medians of {len(found.baked[True])} bakes of {found.frames} frames, in turns with as many bakes in "
        f"which every frame waits for its write. The timeline has {TIMELINE_FRAMES} frames for the export. Set-up runs "
        "once and does not count as overhead.",
    ]
    return Result(table_rows(found), values=values, notes=notes)


BENCHMARK = Benchmark(
    lines=(9,),
    title="Overhead of a bake",
    what="Blender's primitive torus (major radius 1 m, minor 0.4 m, 250 × 200 segments, one Subdivision applied), with "
    "the default material and pinned above a height of 0.3 m, swings under gravity at the default tolerance, substeps "
    "and frame rate (24 frames a second). The overhead is (export + work between steps + reading back) / steps, per "
    "frame. Contacts would make steps dearer and the overhead smaller.",
    run=run,
)
