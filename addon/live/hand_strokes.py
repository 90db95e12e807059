# SPDX-License-Identifier: GPL-3.0-or-later
"""What a hand did in a recorded run, as strokes: from when to when it grabbed, pushed or heated, and where it was."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from ...solver.live.recording import RecordedInputs

GRAB, PUSH, HEAT = "grab", "push", "heat"
BRUSHES = {"push": PUSH, "heat": HEAT, "cool": HEAT}
SOFTENS = ("soften", "harden")


class HeldValues:
    """Values that hold until a command, and are another at the end of the step after it, or when a collider arrives.

    Attributes:
        steps: Rising numbers of steps; where a collider arrives within a step, with a fraction.
        values: At these, linear in between.
        is_changed: Whether any was another than the first one.
    """

    def __init__(self, step: float, value: Any) -> None:
        """Begins with a value after a number of steps."""
        self.steps: list[float] = [step]
        self.values, self.is_changed = [value], False

    def set(self, step: int, value: Any, arrives: float | None = None) -> None:
        """Adds what a command sets after a number of steps; the last one of a step counts.

        Args:
            step: The number.
            value: What it sets.
            arrives: After how many steps it is there; None: after the next one.
        """
        self.is_changed = self.is_changed or value != self.values[0]
        if step not in self.steps:
            self._put(step, self._at(step))
        self._put(step + 1 if arrives is None else arrives, value)

    def begin_at(self, step: int) -> None:
        """Forgets what was before a number of steps, from which steps are counted from now on."""
        if step > self.steps[0]:
            now, later = self._at(step), [n for n, each in enumerate(self.steps) if each > step]
            self.steps = [step, *(self.steps[n] for n in later)]
            self.values = [now, *(self.values[n] for n in later)]
        self.steps = [each - step for each in self.steps]

    def _put(self, step: float, value: Any) -> None:
        """Ends with a value; what was to come then or later does not."""
        while self.steps and self.steps[-1] >= step:
            self.steps.pop()
            self.values.pop()
        self.steps.append(step)
        self.values.append(value)

    def _at(self, step: float) -> Any:
        """Returns the value after a number of steps, in between on the line."""
        after = bisect_right(self.steps, step)
        if after == len(self.steps) or self.steps[after - 1] == step:
            return self.values[after - 1]
        share = (step - self.steps[after - 1]) / (self.steps[after] - self.steps[after - 1])
        one, other = (np.asarray(self.values[n], np.float64) for n in (after - 1, after))
        return (one + share * (other - one)).tolist()


@dataclass
class Stroke:
    """What a hand held.

    Attributes:
        kind: `GRAB`, `PUSH` or `HEAT`.
        begin: The number of steps before it; below zero where it has begun before those that count.
        places: Where it was [m], each of three numbers.
        given: The command by which it began.
        end: The number of steps before it let go; None: it held to the end.
    """

    kind: str
    begin: int
    places: HeldValues
    given: Mapping[str, Any]
    end: int | None = None

    @property
    def lasts(self) -> bool:
        """Whether it held for any step that counts."""
        return self.end is None or self.end > max(self.begin, 0)

    def begin_at(self, step: int) -> None:
        """Counts steps from that number on."""
        self.begin -= step
        self.end = None if self.end is None else self.end - step
        self.places.begin_at(step)


@dataclass
class Hand:
    """All that a hand did.

    Attributes:
        strokes: In the order in which they began.
        tracks: What it set, by the names of tracks.
        channels: What of objects it moved, by their names and data paths.
        softens: Whether it softened or hardened, too, which no scene can say.
    """

    strokes: list[Stroke] = field(default_factory=list)
    tracks: dict[str, HeldValues] = field(default_factory=dict)
    channels: dict[tuple[str, str], HeldValues] = field(default_factory=dict)
    softens: bool = False


def hand_of(
    recorded: RecordedInputs, first: Mapping[str, Mapping[str, list[float]]], steps: int, begin: int = 0
) -> Hand:
    """Returns what was done in a recorded run.

    Args:
        recorded: It.
        first: Channels of objects as they were at first, by name and data path.
        steps: Up to which step it counts.
        begin: From which step on it counts; what it returns counts steps from there.
    """
    hand, held = Hand(), dict[tuple[str, int], Stroke]()
    for step, given in _in_order(recorded, steps):
        command = given["command"]
        if command == "set":
            _set(hand, recorded, first, step, given)
        elif command in ("grab", "release", "move"):
            _grab(hand, held, step, given)
        elif command in BRUSHES or command == "lift" or command in SOFTENS:
            _brush(hand, held, step, given)
    for stroke in hand.strokes:
        stroke.begin_at(begin)
    for values in (*hand.tracks.values(), *hand.channels.values()):
        values.begin_at(begin)
    hand.strokes = [stroke for stroke in hand.strokes if stroke.lasts]
    return hand


def _in_order(recorded: RecordedInputs, steps: int) -> Iterator[tuple[int, Mapping[str, Any]]]:
    for step in sorted(recorded.commands):
        if step < steps:
            yield from ((step, given) for given in recorded.commands[step])


def _set(
    hand: Hand,
    recorded: RecordedInputs,
    first: Mapping[str, Mapping[str, list[float]]],
    step: int,
    given: Mapping[str, Any],
) -> None:
    track = given["track"]
    if track not in hand.tracks:
        hand.tracks[track] = HeldValues(0, recorded.controls[track])
    hand.tracks[track].set(step, given["value"], given.get("arrives"))
    for name, paths in given.get("channels", {}).items():
        for path, values in paths.items():
            if (name, path) not in hand.channels:
                hand.channels[name, path] = HeldValues(0, first.get(name, {}).get(path, values))
            hand.channels[name, path].set(step, values, given.get("arrives"))


def _grab(hand: Hand, held: dict[tuple[str, int], Stroke], step: int, given: Mapping[str, Any]) -> None:
    slot = ("grab", given["grab"])
    if given["command"] == "move":
        held[slot].places.set(step, given["place"])
        return
    _end(held, slot, step)
    if given["command"] == "grab":
        _begin(hand, held, slot, Stroke(GRAB, step, HeldValues(step, given["place"]), given))


def _brush(hand: Hand, held: dict[tuple[str, int], Stroke], step: int, given: Mapping[str, Any]) -> None:
    slot, before = ("brush", given["brush"]), held.get(("brush", given["brush"]))
    if before is not None and _continues(before.given, given):
        before.places.set(step, given["place"])
        return
    _end(held, slot, step)
    if given["command"] in SOFTENS:
        hand.softens = True
    elif given["command"] in BRUSHES:
        _begin(hand, held, slot, Stroke(BRUSHES[given["command"]], step, HeldValues(step, given["place"]), given))


def _continues(before: Mapping[str, Any], given: Mapping[str, Any]) -> bool:
    """Whether a brush is held as before, only elsewhere."""
    return {**before, "place": None, "step": None} == {**given, "place": None, "step": None}


def _begin(hand: Hand, held: dict[tuple[str, int], Stroke], slot: tuple[str, int], stroke: Stroke) -> None:
    hand.strokes.append(stroke)
    held[slot] = stroke


def _end(held: dict[tuple[str, int], Stroke], slot: tuple[str, int], step: int) -> None:
    before = held.pop(slot, None)
    if before is not None:
        before.end = step
