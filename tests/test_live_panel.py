# SPDX-License-Identifier: GPL-3.0-or-later
"""What the panel says of a live run, and how many tets it offers."""

from __future__ import annotations

from pathlib import Path

import pytest

bpy = pytest.importorskip("bpy", reason="needs Blender's module")

from fixtures.fake_layout import FakeLayout
from fixtures.live_in_blender import ended as ended  # a fixture
from fixtures.live_in_blender import jelly, run_steps, shown, started, until
from sinew.addon.baking import last_failure
from sinew.addon.baking.addon_session import Note, session
from sinew.addon.baking.live_state import LiveRun
from sinew.addon.export import input_digest
from sinew.addon.live import real_time_tets, run_control, unsettled_steps
from sinew.addon.panels import bake_layout, live_layout, main_layout
from sinew.solver.bake.cache import layout
from sinew.solver.runtime.errors import SinewError
from test_addon import context_of

pytestmark = pytest.mark.slow
BUTTONS = {"Live", "Stop Live (Esc)", "Keep", "Keep Shape", "Keep as Start", "Step"}


def test_a_run_has_the_preview_tets_and_says_so() -> None:
    box = jelly()
    box.sinew.divisions, box.sinew.use_preview_tets, box.sinew.preview_tets = 20, True, 500
    run = started()
    run_steps(run, 5)
    assert run.tets is not None and run.tets < 1500
    assert live_layout.progress_text(run, 1.0).endswith(f"{run.tets:,} tets")
    scene = bpy.context.scene
    preview = (run.folder / layout.SCENE_FOLDER / layout.SETTINGS_FILE).read_text()
    assert input_digest.settings_digest(scene) != preview
    scene.sinew.bake_detail = "PREVIEW"
    assert input_digest.settings_digest(scene) == preview
    run_control.end()
    assert bake_layout.LIVE_PREVIEW_LABEL in _lines_of_panel()
    box.sinew.use_preview_tets = False
    assert bake_layout.LIVE_PREVIEW_LABEL not in _lines_of_panel()


@pytest.mark.parametrize(
    ("ratio", "rate", "text"),
    [
        (0.61, 1.0, "0.6 × real time"),
        (0.04, 1.0, "0.04 × real time"),
        (0.99, 1.0, "Real time"),
        (0.25, 0.25, "0.25 × real time"),
    ],
)
def test_the_panel_says_how_time_passes(ratio: float, rate: float, text: str) -> None:
    jelly()
    run = started()
    run_steps(run, 1)
    run.status = {"ratio": ratio}
    assert live_layout.progress_text(run, rate) == f"{text}, {run.tets:,} tets"


def test_the_rows_of_the_panel_stay_where_they_are_while_the_run_goes_on() -> None:
    box = jelly()
    box.sinew.divisions = 12
    run = started()
    rows = [len(_lines_of_panel())]
    run_steps(run, 1)
    for loads, ratio in (([], 1.0), ([0.1] * 3, 1.0), ([2.0] * 7, 0.5)):
        run.loads.clear()
        run.real_time_tets = None
        heard(run, *loads)
        run.status = {**run.status, "ratio": ratio}
        rows.append(len(_lines_of_panel()))
    assert real_time_tets.is_slow(run) and len(set(rows)) == 1, rows
    assert {"Keep", "Keep Shape", "Keep as Start"} <= set(_lines_of_panel())


def test_the_panel_says_what_unsettled_steps_mean() -> None:
    jelly()
    run = started()
    run_steps(run, 1)
    words = "may tremble or sink in"
    calm = [(30 * n, 1) for n in range(8)]  # of a blow
    for events, is_said in ((calm, False), ([(240, 2), (270, 30)], True), ([(2000, 30), (4000, 30)], True)):
        for step, unsettled in events:
            unsettled_steps.count(run, {"step": step, "unsettled": unsettled})
        text = " ".join(_lines_of_panel())
        assert (words in text) == is_said and (("Thickness" in text) == is_said)


def _lines_of_panel() -> list[str]:
    drawn = FakeLayout()
    live_layout.draw_live(drawn, context_of(bpy.context.object))
    live_layout.draw_live_messages(drawn, context_of(bpy.context.object))
    return drawn.lines


def test_messages_move_no_button() -> None:
    box = jelly()
    run = started()
    run_steps(run, 1)
    before = _names_until_the_last_button(box)
    run.note, run.later, run.has_trembled = "Something is said", "And more", True
    session.messages(bpy.context.scene).notes = [Note("A note")]
    after = _names_until_the_last_button(box)
    assert after == before and "sinew.stop_live" in before and "sinew.simulate" in before
    drawn = _main_panel(box)
    assert "Something is said" in drawn.lines and "A note" in drawn.lines
    assert not next(at.is_enabled for at, name in drawn.drawn if name == "sinew.simulate"), "while it runs live"
    run_control.end()
    before = _names_until_the_last_button(box)
    last_failure.store_error_event(bpy.context.scene, SinewError("live-not-running").as_event())
    assert _names_until_the_last_button(box) == before and "sinew.live" in before
    drawn = _main_panel(box)
    assert next(at.is_enabled for at, name in drawn.drawn if name == "sinew.simulate")


def _main_panel(obj: bpy.types.Object) -> FakeLayout:
    drawn = FakeLayout()
    main_layout.draw_main(drawn, context_of(obj))
    return drawn


def _names_until_the_last_button(obj: bpy.types.Object) -> list[str]:
    """Returns what is drawn down to the buttons of the run, one after the other."""
    drawn = _main_panel(obj)
    lines = drawn.lines[: 1 + max(at for at, line in enumerate(drawn.lines) if line in BUTTONS)]
    return [*lines, *(name for _, name in drawn.drawn if name.startswith("sinew."))]


def heard(run: LiveRun, *loads: float) -> None:
    for load in loads:
        real_time_tets.hear_load(run, load)


def test_the_number_of_tets_that_keep_up_stays_until_it_is_another_by_a_quarter() -> None:
    jelly()
    run = started()
    run_steps(run, 1)
    run.tets = 1000
    run.loads.clear()
    run.real_time_tets, told = None, list[int | None]()
    for load in (1.0, 1.0, 1.0, 0.9, 1.2, 0.8, 1.25, 5.0, 0.1, 0.85, 1.2, 1.2):
        heard(run, load)
        told.append(run.real_time_tets)
    assert told == [None, None, *[800] * 10], "the median changes by less"
    heard(run, *[2.0] * 10)
    assert 400 <= (run.real_time_tets or 0) <= 530 and real_time_tets.is_slow(run)
    heard(run, *[1.05] * 10)
    assert run.real_time_tets == 760 and not real_time_tets.is_slow(run)


def test_the_panel_offers_as_many_tets_as_keep_up() -> None:
    box = jelly()
    box.sinew.divisions = 12
    run = started()
    run_steps(run, 1)
    run.loads.clear()
    run.real_time_tets = None
    heard(run, 0.1, 0.2)
    assert run.real_time_tets is None
    heard(run, 0.1)
    tets = run.tets
    assert tets is not None and run.body_tets == {next(iter(run.bodies)): tets}
    assert run.real_time_tets == pytest.approx(0.8 * tets / 0.1, rel=0.1)
    assert not real_time_tets.is_slow(run)
    drawn = FakeLayout()
    live_layout.draw_live(drawn, bpy.context)
    assert "sinew.use_real_time_tets" not in str(drawn.drawn)
    heard(run, *[2.0] * 7)
    run.status = {**run.status, "ratio": 0.5}
    count = run.real_time_tets
    assert count == pytest.approx(0.4 * tets, rel=0.1) and real_time_tets.is_slow(run)
    drawn = FakeLayout()
    live_layout.draw_live(drawn, bpy.context)
    assert "sinew.use_real_time_tets" in str(drawn.drawn)
    assert bpy.ops.sinew.use_real_time_tets() == {"FINISHED"}
    assert box.sinew.use_preview_tets and box.sinew.preview_tets <= count
    assert run.offered_tets == pytest.approx(count, rel=0.25) and live_layout.offer_text(run).startswith("Real Time")
    again = session.live
    assert again is not None and again is not run
    run_steps(again, 1)
    assert again.tets == pytest.approx(count, rel=0.3), "as many as were offered, not more"


def test_the_offer_counts_the_tets_that_each_body_needs() -> None:
    box = jelly()
    box.sinew.divisions = 12
    for place in range(3):
        other = box.copy()
        other.data, other.location.x = box.data.copy(), 4.0 * (place + 1)
        bpy.context.collection.objects.link(other)
    run = started()
    run_steps(run, 1)
    tets = run.tets
    assert tets is not None and len(run.body_tets) == 4
    run.real_time_tets = None
    heard(run, *[100.0] * 7)
    wanted, offered = run.real_time_tets, run.offered_tets
    assert wanted is not None and offered == 4 * real_time_tets.MIN_BODY_TETS and wanted < 0.5 * offered
    assert "at Least: 0." in live_layout.offer_text(run)
    real_time_tets.ask_for(run, wanted)
    run_control.end()
    again = started()
    run_steps(again, 1)
    # set after 1152 tets were seen: a box of 200 cannot be told from one of 300 without measuring its mesh
    assert again.tets is not None and 0.5 * offered < again.tets < min(1.5 * offered, 0.75 * tets)


def test_the_panel_says_that_undo_has_ended_the_run() -> None:
    box = jelly()
    bpy.ops.ed.undo_push(message="before")
    box.location.x = 1.0
    bpy.ops.ed.undo_push(message="moved")
    run_steps(started(), 2)
    assert not any("Undo" in line for line in _lines_of_panel())
    bpy.ops.ed.undo()
    assert session.live is None and any("Undo" in line for line in _lines_of_panel())
    started()
    bpy.ops.sinew.stop_live()
    until(lambda: session.live is None)
    assert not any("Undo" in line for line in _lines_of_panel()), "Stop says nothing"


def test_a_run_begins_from_the_modeled_shape_where_a_bake_plays_and_the_panel_says_so(tmp_path: Path) -> None:
    box, scene = jelly(), bpy.context.scene
    scene.frame_end, scene.sinew.cache_path = 10, str(tmp_path / "bake.sinew")
    modeled = shown(box)
    assert live_layout.FROM_REST not in " ".join(_lines_of_panel())
    assert bpy.ops.sinew.simulate() == {"FINISHED"}
    scene.frame_set(1)
    assert live_layout.FROM_REST not in " ".join(_lines_of_panel()), "the bake is in that shape too"
    scene.frame_set(10)
    assert (modeled - shown(box))[:, 2].min() > 0.3, "it has fallen in the bake"
    assert live_layout.FROM_REST in " ".join(_lines_of_panel())
    run = started()
    run_steps(run, 0)
    begun = modeled - shown(box)
    assert begun[:, 2].max() < 0.5 * 9.81 * ((run.step + 2) / 60.0) ** 2 + 1e-4, "it falls from where it was modeled"
    run_control.stop()
    until(lambda: session.live is None)
    assert (modeled - shown(box))[:, 2].min() > 0.3, "the bake plays again"
