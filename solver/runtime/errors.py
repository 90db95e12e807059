# SPDX-License-Identifier: GPL-3.0-or-later
"""Every failure that a person can meet: a kind, one sentence, a next step and an exit code.

Code raises `raise BadInput("mesh-empty", name="Cube")`; the words stand in `error_texts/`, so that
the command line, the child process and Blender's window all say the same thing. A test walks through
the sources and checks that every kind raised has its words, and that every word can be filled in.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from typing import Any

from .error_messages import TEXTS

# next steps by kind that fit where they are shown, instead of those for Blender's window
_next_step_overrides: dict[str, str] = {}


@contextmanager
def overriding_next_steps(instead: Mapping[str, str]) -> Iterator[None]:
    """Lets failures of this process tell other next steps, by kind, while a command runs (`error_texts`)."""
    before = dict(_next_step_overrides)
    _next_step_overrides.update(instead)
    try:
        yield
    finally:
        _next_step_overrides.clear()
        _next_step_overrides.update(before)


class SinewError(Exception):
    """A failure with a name, told in one sentence and followed by what to do next.

    Attributes:
        kind: The name of the failure, a key of `error_texts.TEXTS`.
        details: The values that fill the sentence: names, numbers.
    """

    exit_code = 3

    def __init__(self, kind: str, **details: Any) -> None:
        self.kind = kind
        self.details = details
        self._say(f"{details['time']:.3g} s" if "time" in details else "")
        super().__init__(self.text)

    def _say(self, when: str) -> None:
        words = {**self.details, "time": when}
        sentence, next_step = TEXTS[self.kind]
        self.sentence = sentence.format(**words)
        self.next_step = _next_step_overrides.get(self.kind, next_step).format(**words)

    def with_frame(self, first: int, fps: float) -> None:
        """Says the frame as well, where the sentence says at what time something happened.

        Args:
            first: Frame at which times are zero.
            fps: Frames per second.
        """
        if "time" in self.details:
            time = self.details["time"]
            self._say(f"frame {round(first + time * fps, 1):g} ({time:.3g} s)")
            self.args = (self.text,)

    @property
    def text(self) -> str:
        """The sentence and the next step, as one line."""
        return f"{self.sentence} {self.next_step}".strip()

    def as_event(self) -> dict[str, Any]:
        """The failure as one JSON object of the child's event stream."""
        return {
            "event": "error",
            "kind": self.kind,
            "details": self.details,
            "sentence": self.sentence,
            "next_step": self.next_step,
            "exit_code": self.exit_code,
        }


class BadInput(SinewError):
    """What was asked for cannot be done; nothing was changed (exit code 2)."""

    exit_code = 2


class SolveFailed(SinewError):
    """The numerics could not go on; what was baked so far stays (exit code 3)."""

    exit_code = 3


class StorageFailed(SinewError):
    """The cache could not be written or read; what was baked so far stays (exit code 3)."""

    exit_code = 3


class Cancelled(SinewError):
    """The person stopped it; what was baked so far stays (exit code 130)."""

    exit_code = 130

    def __init__(self, kind: str = "cancelled", **details: Any) -> None:
        super().__init__(kind, **details)
