# SPDX-License-Identifier: GPL-3.0-or-later
"""What a hand did in a recorded run: strokes from when to when, and values that hold until a command."""

from __future__ import annotations

from typing import Any

import pytest

pytest.importorskip("bpy")

from sinew.addon.live.hand_strokes import GRAB, HEAT, PUSH, HeldValues, hand_of
from sinew.solver.live.recording import RecordedInputs


def recorded(commands: dict[int, list[dict[str, Any]]], **controls: Any) -> RecordedInputs:
    return RecordedInputs(controls, commands, steps=100)


def test_a_value_holds_until_a_command_and_is_reached_in_the_step_after_it() -> None:
    held = HeldValues(0, "a")
    for step, value in ((5, "b"), (6, "c"), (6, "d"), (9, "e")):
        held.set(step, value)
    assert list(zip(held.steps, held.values, strict=True)) == [
        (0, "a"), (5, "a"), (6, "b"), (7, "d"), (9, "d"), (10, "e"),
    ]  # fmt: skip
    first = HeldValues(0, "a")
    first.set(0, "b")
    assert (first.steps, first.values) == ([0, 1], ["a", "b"])


def test_grabs_end_where_they_are_let_go_or_taken_again() -> None:
    grab = {"command": "grab", "grab": 1, "body": "k", "place": [0, 0, 0], "radius": 0.0}
    move = {"command": "move", "grab": 1, "place": [1, 0, 0]}
    again, pin = {**grab, "radius": 0.2}, {**grab, "grab": 2}
    commands = {2: [grab, move], 4: [again], 8: [{"command": "release", "grab": 1}], 9: [pin], 10: [grab], 11: [grab]}
    hand = hand_of(recorded({**commands, 50: [move]}), {}, 50)
    assert [(s.kind, s.begin, s.end, s.given["radius"]) for s in hand.strokes] == [
        (GRAB, 2, 4, 0.0), (GRAB, 4, 8, 0.2), (GRAB, 9, None, 0.0), (GRAB, 10, 11, 0.0), (GRAB, 11, None, 0.0),
    ]  # fmt: skip
    first = hand.strokes[0].places
    assert (first.steps, first.values) == ([2, 3], [[0, 0, 0], [1, 0, 0]])


def test_a_grab_that_holds_for_no_step_is_none() -> None:
    grab = {"command": "grab", "grab": 1, "body": "k", "place": [0, 0, 0], "radius": 0.0}
    hand = hand_of(recorded({3: [grab, {"command": "release", "grab": 1}]}), {}, 50)
    assert not hand.strokes


def test_a_brush_goes_on_while_only_its_place_changes() -> None:
    push = {"command": "push", "brush": 1, "place": [0, 0, 0], "radius": 0.1}
    heat = {"command": "heat", "brush": 1, "place": [0, 0, 1], "radius": 0.1, "temperature": 200.0}
    commands = {
        1: [push],
        2: [{**push, "place": [1, 0, 0]}],
        3: [{**push, "radius": 0.2}],
        5: [heat],
        7: [{"command": "soften", "brush": 1, "place": [0, 0, 0], "radius": 0.1, "strength": 1.0}],
        9: [{"command": "lift", "brush": 1}],
        11: [{**heat, "command": "cool", "temperature": -50.0}],
    }
    hand = hand_of(recorded(commands), {}, 50)
    assert [(s.kind, s.begin, s.end) for s in hand.strokes] == [
        (PUSH, 1, 3), (PUSH, 3, 5), (HEAT, 5, 7), (HEAT, 11, None),
    ]  # fmt: skip
    assert hand.strokes[0].places.steps == [1, 2, 3] and hand.softens


def test_tracks_and_channels_begin_with_what_was_at_first() -> None:
    moved = {"command": "set", "track": "t", "value": 2.0, "channels": {"Cube": {"location": [0.0, 0.0, 5.0]}}}
    hand = hand_of(recorded({4: [moved]}, t=1.0), {"Cube": {"location": [0.0, 0.0, 3.0]}}, 50)
    assert (hand.tracks["t"].steps, hand.tracks["t"].values) == ([0, 4, 5], [1.0, 1.0, 2.0])
    held = hand.channels["Cube", "location"]
    assert (held.steps[-1], held.values[0], held.values[-1]) == (5, [0.0, 0.0, 3.0], [0.0, 0.0, 5.0])


def test_the_last_steps_begin_with_what_was_held_and_where_it_was() -> None:
    grab = {"command": "grab", "grab": 1, "body": "k", "place": [0, 0, 0], "radius": 0.0}
    move = {"command": "move", "grab": 1, "place": [1, 0, 0]}
    push = {"command": "push", "brush": 1, "place": [0, 0, 0], "radius": 0.1}
    moved = {"command": "set", "track": "t", "value": 2.0, "channels": {"Cube": {"location": [0.0, 0.0, 5.0]}}}
    later = {"command": "set", "track": "t", "value": 4.0}
    commands = {
        1: [push, moved],
        4: [{"command": "lift", "brush": 1}, grab],
        8: [move],
        12: [{**move, "place": [2, 0, 0]}, later],
        15: [{"command": "release", "grab": 1}],
    }
    first = {"Cube": {"location": [0.0, 0.0, 3.0]}}
    hand = hand_of(recorded(commands, t=1.0), first, 20, 10)
    ((kind, begin, end, places),) = [(s.kind, s.begin, s.end, s.places) for s in hand.strokes]
    assert (kind, begin, end) == (GRAB, -6, 5), "the push was over"
    assert (places.steps, places.values) == ([0, 2, 3], [[1, 0, 0], [1, 0, 0], [2, 0, 0]])
    assert (hand.tracks["t"].steps, hand.tracks["t"].values) == ([0, 2, 3], [2.0, 2.0, 4.0])
    cube = hand.channels["Cube", "location"]
    assert (cube.steps, cube.values, cube.is_changed) == ([0], [[0.0, 0.0, 5.0]], True)


def test_a_collider_that_takes_longer_has_its_keys_where_it_arrives_and_where_it_was_sent_elsewhere() -> None:
    held = HeldValues(0, [0.0, 0.0])
    held.set(4, [8.0, 4.0], arrives=8.0)
    held.set(6, [0.0, 0.0], arrives=8.5)
    assert (held.steps, held.values) == ([0, 4, 6, 8.5], [[0.0, 0.0], [0.0, 0.0], [4.0, 2.0], [0.0, 0.0]])
    held.begin_at(5)
    assert (held.steps, held.values) == ([0, 1, 3.5], [[2.0, 1.0], [4.0, 2.0], [0.0, 0.0]])
    moved = {"command": "set", "track": "t", "value": 2.0, "arrives": 9.25, "channels": {"Cube": {"scale": [3.0]}}}
    hand = hand_of(recorded({4: [moved]}, t=1.0), {"Cube": {"scale": [1.0]}}, 50)
    assert hand.tracks["t"].steps == hand.channels["Cube", "scale"].steps == [0, 4, 9.25]
