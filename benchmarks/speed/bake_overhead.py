# SPDX-License-Identifier: GPL-3.0-or-later
"""What a bake costs beside its solver: export, drawing the render mesh, writing, reading back."""

from __future__ import annotations

import os
import shutil
import statistics
import tempfile
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import ExitStack, contextmanager
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


def run(quick: bool) -> Result:
    """Measures a body that hangs and swings, whose steps are cheap: no contact, and the tolerance of new scenes."""
    try:
        import bpy  # noqa: F401
    except ImportError:
        return Result([missing("overhead of a bake", f"{MOST:.0%}", "bpy", line=9)])
    segments, divisions = (torus.COARSE, 6) if quick else (torus.FINE, torus.TETS_100K)
    frames, rounds = (4, 1) if quick else (FRAMES, ROUNDS)
    from sinew.solver.cache import CacheReader

    with tempfile.TemporaryDirectory(prefix="sinew-overhead-") as folder:
        begun, cache = Path(folder) / "begun.sinew", Path(folder) / "bake.sinew"
        torus.make_torus(segments, divisions, TIMELINE, is_held=True)
        exporting = torus.export(Path(folder) / "timeline.sinew") / TIMELINE
        body = torus.make_torus(segments, divisions, frames, is_held=True)
        torus.export(begun)
        first = bake(begun, frame_end=1)
        found: dict[bool, list[dict[str, float]]] = {False: [], True: []}
        for _ in range(rounds):
            for waits, times in found.items():
                shutil.rmtree(cache, ignore_errors=True)
                shutil.copytree(begun, cache)
                times.append(bake(cache, waits))
        reader = CacheReader(cache)
        key = reader.head.bodies[0].key
        tets, vertices = len(reader.read_model(key)["tets"]), reader.head.bodies[0].vertices
        playing, still = torus.read_back(body, cache, frames)
        disk = synced_write(Path(folder))

    steps = frames - 1

    def per_frame(name: str, waits: bool = False) -> float:
        return statistics.median(times.get(name, 0.0) for times in found[waits]) / steps

    def beside(waits: bool) -> float:
        return statistics.median((times["frames"] - times["advance_step"]) / steps for times in found[waits])

    back = max(playing - still, 0.0)
    solver = per_frame("advance_step")
    share = (exporting + beside(False) + back) / solver
    share_waiting = (exporting + beside(True) + back) / per_frame("advance_step", True)
    values = {
        "tets": float(tets),
        "vertices": float(vertices),
        "share": share,
        "share where every frame waits for its write": share_waiting,
        "solver": solver,
        "export": exporting,
        "beside the steps": beside(False),
        "beside the steps where every frame waits for its write": beside(True),
        "reading back": back,
        "set-up": first["set-up"],
        "synced write": disk,
    }
    rows = [
        bound(
            f"beyond the solver, {tets:,} tets, {vertices:,} vertices",
            f"≤ {MOST:.0%}",
            f"{share:.1%}",
            share <= MOST,
            f"Of a frame's {1e3 * solver:.0f} ms of steps, export takes {1e3 * exporting:.1f} ms, what is done between "
            f"steps {1e3 * beside(False):.1f} ms and reading back {1e3 * back:.1f} ms.",
            line=9,
        ),
        Row("the same where every frame waits until it is written", NONE, f"{share_waiting:.1%}"),
        Row("steps of a frame [ms]", NONE, f"{1e3 * solver:.0f}"),
        Row(f"export, of {TIMELINE} frames, per frame [ms]", NONE, f"{1e3 * exporting:.2f}"),
        Row("between the steps of a frame, all in all [ms]", NONE, f"{1e3 * beside(False):.1f}"),
        Row("of it the render mesh: by weights, in object space [ms]", NONE,
            f"{1e3 * per_frame('render_positions'):.1f}, {1e3 * per_frame('in_object_space'):.1f}"),
        Row("meanwhile, in the thread that writes: frame, resume point [ms]", NONE,
            f"{1e3 * per_frame('write_frame'):.1f}, {1e3 * per_frame('write_resume'):.1f}"),
        Row("going to a frame in Blender, with and without the bake [ms]", NONE,
            f"{1e3 * playing:.1f}, {1e3 * still:.1f}"),
        Row("the disk: a synced write of 2.4 MB [ms]", NONE, f"{1e3 * disk:.1f}"),
        Row("set-up: filling, tying, pattern [s]", NONE, f"{first['set-up']:.1f}"),
    ]  # fmt: skip
    notes = [
        f"Medians of {rounds} bakes of {steps} frames, in turns with as many in which every frame waits for its write; "
        f"the export is that of a timeline of {TIMELINE} frames. Set-up is done once and is no part of the share.",
    ]
    return Result(rows, values=values, notes=notes)


BENCHMARK = Benchmark(
    lines=(9,),
    title="What a bake costs beside its solver",
    what="A torus of Blender's primitive (major radius 1 m, minor 0.4 m, 250 × 200 segments, one Subdivision applied) "
    "of the material that bodies begin with, pinned where it is higher than 0.3 m, swings under gravity: default "
    "tolerance, substeps and frame rate, 24 frames a second. The share is (export + what is done between steps + "
    "reading back) / steps, per frame. Contacts would make steps dearer, and the share smaller.",
    run=run,
)
