# SPDX-License-Identifier: GPL-3.0-or-later
"""The bake's transition: every way through it ends, and nothing that a child does can keep it running."""

from __future__ import annotations

import sys
import time as clock
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sinew.addon.baking import state_machine
from sinew.addon.baking.bake_driver import BakeDriver
from sinew.addon.baking.child_process import ChildProcess
from sinew.addon.baking.state_machine import (
    CANCEL_START_TIMEOUT_SECONDS,
    CANCEL_TIMEOUT_SECONDS,
    KILL_TIMEOUT_SECONDS,
    SILENCE_TIMEOUT_SECONDS,
    BakeEvent,
    CancelPressed,
    ChildEnded,
    ChildSaid,
    Exported,
    ExportFailed,
    Exporting,
    Job,
    Started,
    Tick,
    advance,
)
from sinew.solver.runtime.errors import BadInput


def through(*bake_events: BakeEvent, job: Job | None = None) -> tuple[Job, list[str]]:
    job, all_effects = job or Job(), []
    for bake_event in bake_events:
        job, effects = advance(job, bake_event)
        all_effects += effects
    return job, all_effects


def said(now: float = 1.0, **event: Any) -> ChildSaid:
    return ChildSaid(event, now)


def frame(number: int, now: float, **more: Any) -> ChildSaid:
    return said(now, event="frame", frame=number, **more)


BUILT = said(event="built", tets=120, bodies=[{"key": "a", "name": "A", "tets": 120, "nodes": 50, "warnings": []}])
LAUNCHED = (Started(1, 11, 0.0), Exported(0.0))


def test_a_bake_from_start_to_end() -> None:
    job, effects = through(Started(1, 11, 0.0), Exporting(0.5))
    assert job.phase == "exporting" and job.fraction == 0.5 and effects == ["start export"]
    job, effects = through(Exported(1.0), job=job)
    assert job.phase == "starting" and effects == ["launch child"]
    job, _ = through(said(event="compiling", seconds_expected=9), job=job)
    assert job.phase == "compiling"
    job, _ = through(said(event="building", stage="tetrahedralize", body="Cow"), job=job)
    assert (job.phase, job.stage, job.body) == ("building", "tetrahedralize", "Cow")
    job, _ = through(BUILT, job=job)
    assert job.phase == "baking" and job.tets == 120 and job.seconds_left(1.0) is None
    job, effects = through(frame(1, 2.0, converged=True), frame(6, 7.0, converged=False), job=job)
    assert job.frame == 6 and job.fraction == 0.5 and job.convergence.not_converged == 1
    assert job.seconds_left(7.0) == 5.0 and job.seconds_left(9.0) == 3.0 and job.seconds_left(99.0) == 0.0
    assert effects == ["frames changed"] * 2
    assert through(said(event="cracking", body="Vase", pieces=3), job=job)[0].seconds_left(9.0) is None
    job, effects = through(
        frame(11, 12.0), said(event="done", frames=11, not_converged=1), ChildEnded(0, 13.0), job=job
    )
    assert job.phase == "done" and not job.is_running and effects[-1] == "end" and job.fraction == 1.0


def test_resumed_progress_counts_from_where_it_resumes() -> None:
    job, _ = through(Started(1, 101, 0.0, resume_frame=51), Exported(0.0), BUILT)
    assert job.frame == 51 and job.fraction == 0.0
    job, _ = through(frame(52, 1.0), frame(76, 25.0), job=job)
    assert job.fraction == 0.5 and job.seconds_left(25.0) == 25.0


def finishing(fraction: float, now: float = 1.0) -> ChildSaid:
    return said(now, event="finishing", body="Vase", fraction=fraction)


def test_what_broke_is_finished_at_the_end() -> None:
    job, _ = through(*LAUNCHED, BUILT, frame(11, 12.0), finishing(0.25))
    assert job.phase == "finishing" and job.fraction == 0.25 and job.body == "Vase" and job.is_running
    job, effects = through(said(event="done", frames=11, results=[]), ChildEnded(0, 14.0), job=job)
    assert job.phase == "done" and effects[-1] == "end"


def test_a_stopped_bake_may_take_its_time_to_finish_what_broke() -> None:
    job, _ = through(*LAUNCHED, BUILT, frame(3, 3.0), CancelPressed(4.0), finishing(0.0, 4.5))
    assert job.phase == "finishing" and job.deadline is None
    job, effects = through(Tick(60.0), finishing(0.5, 60.0), job=job)
    assert job.phase == "finishing" and job.fraction == 0.5 and effects == []
    left, _ = through(said(event="error", kind="cancelled"), ChildEnded(130, 61.0), job=job)
    assert left.phase == "cancelled"
    # asked a second time it has to hurry, whatever it still says
    job, effects = through(CancelPressed(70.0), finishing(0.6, 70.1), job=job)
    assert job.phase == "cancelling" and effects == ["send cancel"]
    assert job.deadline is not None and job.deadline <= 70.0 + CANCEL_TIMEOUT_SECONDS
    job, effects = through(Tick(70.0 + CANCEL_TIMEOUT_SECONDS), job=job)
    assert effects == ["kill child"]


def test_a_bake_of_one_frame() -> None:
    job, _ = through(Started(1, 1, 0.0), Exported(0.0), BUILT, frame(1, 1.0))
    assert job.fraction == 0.0 and job.seconds_left(1.0) is None


def test_failed_export_is_told() -> None:
    error = BadInput("mesh-empty", name="Cube").as_event()
    job, effects = through(Started(1, 11, 0.0), ExportFailed(error))
    assert job.phase == "failed" and job.error == error and effects[-1] == "end"


def test_what_the_child_says_is_what_failed() -> None:
    error = BadInput("mesh-empty", name="Cube").as_event()
    job, _ = through(*LAUNCHED, ChildSaid(error, 1.0), ChildEnded(2, 1.1))
    assert job.phase == "failed" and job.error == error


@pytest.mark.parametrize(
    ("code", "words"),
    [
        (-9, "signal 9 (killed)"),
        (-11, "signal 11 (segmentation fault)"),
        (0, "exit code 0"),
        (1, "exit code 1"),
        (0xC0000005, "Windows error 0xC0000005"),
    ],
)
def test_a_crash_says_where_and_how(code: int, words: str) -> None:
    job, effects = through(*LAUNCHED, BUILT, frame(7, 1.0), ChildEnded(code, 2.0))
    assert job.phase == "failed" and job.error is not None and effects[-1] == "end"
    assert job.error["kind"] == "child-crashed"
    assert job.error["sentence"] == f"The solver crashed after frame 7: {words}."
    assert "Resume" in job.error["next_step"]


def test_a_crash_on_the_way_out_is_no_failure() -> None:
    job, _ = through(*LAUNCHED, BUILT, frame(11, 1.0), said(event="done", frames=11), ChildEnded(-11, 2.0))
    assert job.phase == "done"


def test_python_that_does_not_start_is_tried_in_another_way_once() -> None:
    job, effects = through(*LAUNCHED, ChildEnded(1, 1.0))
    assert job.phase == "starting" and effects[-1] == "launch child with Blender itself"
    job, effects = through(ChildEnded(None, 2.0), job=job)
    assert job.phase == "failed" and job.error is not None and job.error["kind"] == "child-not-started"


def test_a_python_without_the_wheels_is_tried_in_another_way_once() -> None:
    broken = ({"event": "started"}, {"event": "error", "kind": "internal", "sentence": "No module named numba."})
    job, effects = through(*LAUNCHED, *(ChildSaid(event, 1.0) for event in broken), ChildEnded(3, 1.1))
    assert job.phase == "starting" and effects[-1] == "launch child with Blender itself"
    without_second, _ = through(ChildEnded(None, 2.0), job=job)
    assert without_second.error is not None and without_second.error["sentence"] == "No module named numba."
    assert through(said(event="started"), job=job)[0].error is None
    job, effects = through(*(ChildSaid(event, 2.0) for event in broken), ChildEnded(3, 2.1), job=job)
    assert job.phase == "failed" and job.error is not None and job.error["sentence"] == "No module named numba."


def test_cancel_is_heard_or_killed() -> None:
    job, effects = through(*LAUNCHED, BUILT, frame(3, 1.0), CancelPressed(2.0))
    assert job.phase == "cancelling" and effects[-1] == "send cancel"
    assert advance(job, Tick(2.0 + 0.9 * CANCEL_TIMEOUT_SECONDS)) == (job, ())
    assert advance(job, CancelPressed(2.1)) == (job, ())
    polite, _ = through(frame(4, 2.2), said(event="error", kind="cancelled"), ChildEnded(130, 2.3), job=job)
    assert polite.phase == "cancelled" and polite.frame == 4
    job, effects = through(said(event="error", kind="cancelled"), Tick(2.0 + CANCEL_TIMEOUT_SECONDS), job=job)
    assert effects == ["kill child"]
    killed, _ = through(ChildEnded(-9, 4.0), job=job)
    assert killed.phase == "cancelled"
    given_up, effects = through(Tick(2.0 + CANCEL_TIMEOUT_SECONDS + KILL_TIMEOUT_SECONDS), job=job)
    assert given_up.phase == "cancelled" and effects[-1] == "end"


def test_a_child_that_is_cancelled_while_it_starts_is_not_waited_for() -> None:
    job, effects = through(*LAUNCHED, said(event="started"), CancelPressed(2.0))
    assert effects[-1] == "send cancel"
    job, effects = through(Tick(2.0 + CANCEL_START_TIMEOUT_SECONDS), job=job)
    assert effects == ["kill child"] and CANCEL_START_TIMEOUT_SECONDS < 0.5 * CANCEL_TIMEOUT_SECONDS
    killed, _ = through(ChildEnded(-9, 2.3), job=job)
    assert killed.phase == "cancelled"


def test_a_real_failure_while_cancelling_is_told() -> None:
    job, _ = through(*LAUNCHED, BUILT, CancelPressed(2.0), said(event="error", kind="disk-full"), ChildEnded(3, 2.1))
    assert job.phase == "failed" and job.error is not None and job.error["kind"] == "disk-full"


def test_cancel_while_exporting() -> None:
    job, effects = through(Started(1, 11, 0.0), CancelPressed(1.0))
    assert job.phase == "cancelled" and effects[1:] == ["stop export", "frames changed", "end"]


def test_a_silent_child_is_killed() -> None:
    job, effects = through(*LAUNCHED, Tick(SILENCE_TIMEOUT_SECONDS - 1))
    assert effects[-1] == "launch child"
    job, effects = through(Tick(SILENCE_TIMEOUT_SECONDS + 1), ChildEnded(-9, SILENCE_TIMEOUT_SECONDS + 2), job=job)
    assert effects[0] == "kill child" and job.phase == "failed"
    assert job.error is not None and job.error["kind"] == "child-silent"


def test_a_child_that_does_not_leave_is_killed() -> None:
    for last, phase in [({"event": "done"}, "done"), ({"event": "error", "kind": "disk-full"}, "failed")]:
        job, effects = through(*LAUNCHED, BUILT, ChildSaid(last, 5.0), Tick(20.0), Tick(40.0))
        assert effects[-3:] == ["kill child", "frames changed", "end"] and job.phase == phase


def test_warnings_are_told_once() -> None:
    built = {"event": "built", "tets": 1, "bodies": [{"name": "A", "warnings": [{"kind": "lost-part"}]}]}
    job, effects = through(*LAUNCHED, ChildSaid(built, 1.0), said(event="warning", kind="slow"))
    assert effects.count("warn") == 2 and [w["kind"] for w in job.warnings] == ["lost-part", "slow"]


ANYTHING = st.one_of(
    st.builds(Started, st.just(1), st.just(11), st.just(0.0), st.sampled_from([None, 5])),
    st.builds(Exporting, st.floats(-1, 2)),
    st.builds(Exported, st.just(0.0)),
    st.builds(ExportFailed, st.just({"kind": "x"})),
    st.builds(
        ChildSaid,
        st.sampled_from(
            ["compiling", "building", "built", "frame", "warning", "done", "finishing", "error", "later", None]
        ).map(lambda kind: {"event": kind, "frame": 3, "kind": "cancelled"}),
        st.just(0.0),
    ),
    st.builds(ChildEnded, st.sampled_from([0, 1, 2, 130, -9, None]), st.just(0.0)),
    st.builds(CancelPressed, st.just(0.0)),
    st.builds(Tick, st.sampled_from([0.0, 1.0, 500.0])),
)


@given(st.lists(ANYTHING, max_size=25))
def test_cancel_and_patience_end_everything(bake_events: list[BakeEvent]) -> None:
    job, _ = through(*bake_events)
    job, effects = through(CancelPressed(1e4), Tick(2e4), Tick(3e4), Tick(4e4), job=job)
    assert not job.is_running and job.deadline is None
    assert effects.count("end") <= 1


# --- real processes -------------------------------------------------------------------------------------


def driver(tmp_path: Path, *codes: str, export: Callable[[], Iterator[float]] | None = None) -> BakeDriver:
    say = "import json, sys, time, os\ndef say(**e): print(json.dumps(e), flush=True)\n"
    commands = [[sys.executable, "-s", "-c", say + code] for code in codes]
    return BakeDriver(export or (lambda: iter([0.5, 1.0])), commands, tmp_path / "log.txt")


def run(bake: BakeDriver, seconds: float = 60.0, until: Callable[[Job], bool] | None = None) -> list[str]:
    shown: list[str] = []
    end = clock.monotonic() + seconds
    while clock.monotonic() < end:
        shown += bake.poll()
        if not bake.job.is_running or (until and until(bake.job)):
            return shown
        clock.sleep(0.005)
    raise AssertionError(f"still {bake.job.phase} after {seconds} s")


def test_a_whole_bake_with_a_process(tmp_path: Path) -> None:
    code = """
print("noise"); sys.stdout.flush(); print("[1, 2]"); print("{broken", flush=True)
say(event="built", tets=7, bodies=[])
for i in range(1, 6): say(event="frame", frame=i, converged=True)
print("on the error side", file=sys.stderr)
say(event="done", frames=5, not_converged=0)
"""
    bake = driver(tmp_path, code)
    bake.start(1, 5)
    shown = run(bake)
    assert bake.job.phase == "done" and bake.job.frame == 5 and bake.job.tets == 7
    assert shown.count("frames changed") >= 5 and shown[-1] == "end"
    assert (tmp_path / "log.txt").read_text() == "on the error side\n"


@pytest.mark.parametrize(
    ("death", "words"),
    [
        ("os.kill(os.getpid(), 9)", "signal 9"),
        ("os.kill(os.getpid(), 11)", "signal 11"),
        ("os._exit(5)", "exit code 5"),
    ],
)
def test_a_child_that_dies(tmp_path: Path, death: str, words: str) -> None:
    if sys.platform == "win32" and "kill" in death:
        pytest.skip("no signals here")
    bake = driver(tmp_path, f"say(event='frame', frame=3)\n{death}")
    bake.start(1, 5)
    run(bake)
    assert bake.job.phase == "failed" and bake.job.error is not None and bake.job.frame == 3
    assert words in bake.job.error["sentence"]


def test_a_missing_python_falls_back(tmp_path: Path) -> None:
    bake = driver(tmp_path, "", "say(event='frame', frame=5)\nsay(event='done')")
    bake._commands[0] = [str(tmp_path / "no such python")]
    bake.start(1, 5)
    run(bake)
    assert bake.job.phase == "done" and bake.job.tried_fallback
    bake = driver(tmp_path, "raise SystemExit(1)")
    bake.start(1, 5)
    run(bake)
    assert bake.job.error is not None and bake.job.error["kind"] == "child-not-started"


def test_cancel_takes_less_than_a_second(tmp_path: Path) -> None:
    polite = "say(event='frame', frame=2)\nsys.stdin.readline()\nsay(event='error', kind='cancelled')\nsys.exit(130)"
    deaf = "say(event='frame', frame=2)\ntime.sleep(60)"
    for code in (polite, deaf):
        bake = driver(tmp_path, code)
        bake.start(1, 5)
        run(bake, until=lambda job: job.frame == 2)
        begin = clock.monotonic()
        bake.cancel()
        run(bake)
        assert clock.monotonic() - begin < CANCEL_TIMEOUT_SECONDS + 4.0  # the machine may be busy
        assert bake.job.phase == "cancelled" and bake.job.frame == 2


def test_closing_ends_the_child(tmp_path: Path) -> None:
    bake = driver(tmp_path, "say(event='frame', frame=2)\ntime.sleep(3600)")
    bake.start(1, 5)
    run(bake, until=lambda job: job.frame == 2)
    child = bake._child
    assert child is not None
    bake.close()
    assert child._process.wait(60) is not None  # which would sleep for an hour


def test_an_export_that_breaks_is_told(tmp_path: Path) -> None:
    def export() -> Iterator[float]:
        yield 0.3
        raise BadInput("mesh-empty", name="Cube")

    bake = driver(tmp_path, "", export=export)
    bake.start(1, 5)
    assert run(bake)[-1] == "end"
    assert bake.job.phase == "failed" and bake.job.error is not None and bake.job.error["kind"] == "mesh-empty"

    def broken() -> Iterator[float]:
        yield 0.3
        raise ZeroDivisionError("oh")

    bake = driver(tmp_path, "", export=broken)
    bake.start(1, 5)
    with pytest.raises(ZeroDivisionError):
        run(bake)
    assert bake.poll()[-1] == "end" and bake.job.phase == "failed"


def test_cancelling_an_export_closes_it(tmp_path: Path) -> None:
    closed = []

    def export() -> Iterator[float]:
        try:
            while True:
                clock.sleep(0.001)
                yield 0.1
        finally:
            closed.append(True)

    bake = driver(tmp_path, "", export=export)
    bake.start(1, 5)
    begin = clock.monotonic()
    bake.poll()
    assert clock.monotonic() - begin < 5.0 and bake.job.phase == "exporting"
    bake.cancel()
    assert closed == [True] and bake.job.phase == "cancelled"


def test_what_a_child_started_cannot_keep_us(tmp_path: Path) -> None:
    code = "import subprocess\nsubprocess.Popen([sys.executable, '-c', 'import time; time.sleep(60)'])\nsys.exit(4)"
    child = ChildProcess([sys.executable, "-c", "import sys\n" + code])
    begin = clock.monotonic()
    while child.exit_code() is None:
        assert clock.monotonic() - begin < 20.0
        child.events()
        clock.sleep(0.01)
    assert child.exit_code() == 4
    child.close()


def test_the_environment_is_clean(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PYTHONPATH", "/somewhere")
    bake = driver(tmp_path, "say(event='warning', kind=os.environ.get('PYTHONPATH', 'none'))\nsay(event='done')")
    bake.start(1, 5)
    run(bake)
    assert [w["kind"] for w in bake.job.warnings] == ["none"]


def test_phases_are_known() -> None:
    assert set(state_machine.RUNNING_PHASES) & {"idle", "done", "cancelled", "failed"} == set()
