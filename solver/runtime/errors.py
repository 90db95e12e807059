# SPDX-License-Identifier: GPL-3.0-or-later
"""Errors for users: a kind, one sentence, a next step and an exit code.

Code raises `BadInput("mesh-empty", name="Cube")`. The texts are in `error_messages/`, so that the command line, the
child process and Blender's window show the same message. A test checks that every raised kind has a text, and that the
details fill it.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from typing import Any

from .error_messages import MEASUREMENTS, MINOR_WARNINGS, TEXTS

# next steps by kind, in place of those for Blender's window
_next_step_overrides: dict[str, str] = {}


@contextmanager
def overriding_next_steps(instead: Mapping[str, str]) -> Iterator[None]:
    """Replaces next steps by kind for the duration of a command (`error_messages/command_line_next_steps.py`)."""
    before = dict(_next_step_overrides)
    _next_step_overrides.update(instead)
    try:
        yield
    finally:
        _next_step_overrides.clear()
        _next_step_overrides.update(before)


class SinewError(Exception):
    """An error with a kind, one sentence and a next step.

    Attributes:
        kind: A key of `error_messages.TEXTS`.
        details: The values that fill the texts: names, numbers.
    """

    exit_code = 3

    def __init__(self, kind: str, **details: Any) -> None:
        self.kind = kind
        self.details = details
        self._format(f"{details['time']:.3g} s" if "time" in details else "")
        super().__init__(self.text)

    def _format(self, when: str) -> None:
        words = {**self.details, "time": when}
        sentence, next_step = TEXTS[self.kind]
        self.sentence = sentence.format(**words)
        self.next_step = _next_step_overrides.get(self.kind, next_step).format(**words)

    def with_frame(self, first: int, fps: float) -> None:
        """Adds the frame to the time in the sentence, if the sentence has one.

        Args:
            first: Frame at time zero.
            fps: Frames per second.
        """
        if "time" in self.details:
            time = self.details["time"]
            self._format(f"frame {round(first + time * fps, 1):g} ({time:.3g} s)")
            self.args = (self.text,)

    @property
    def measured(self) -> str:
        """The numbers behind the sentence, in the field's terms; "" for most kinds."""
        return MEASUREMENTS.get(self.kind, "").format(**self.details)

    @property
    def is_minor(self) -> bool:
        """Whether nobody has to act on the warning where the result looks right: by its kind or its details."""
        return self.kind in MINOR_WARNINGS or bool(self.details.get("is_minor", False))

    def as_warning(self) -> dict[str, Any]:
        """What a `warning` event, and a line of a report, say: with `measured` and `places` [m] where there are any,
        and `is_minor` where it is.
        """
        plain = {"kind": self.kind, "sentence": self.sentence, "next_step": self.next_step}
        more = {"measured": self.measured, "places": self.details.get("places", ()), "is_minor": self.is_minor}
        return plain | {name: value for name, value in more.items() if value}

    @property
    def text(self) -> str:
        """The sentence and the next step, as one line."""
        return f"{self.sentence} {self.next_step}".strip()

    def as_event(self) -> dict[str, Any]:
        """The `error` event of the child's event stream."""
        return {
            "event": "error",
            "kind": self.kind,
            "details": self.details,
            "sentence": self.sentence,
            "next_step": self.next_step,
            "exit_code": self.exit_code,
        }


class BadInput(SinewError):
    """The input is invalid; nothing was changed (exit code 2)."""

    exit_code = 2


class SolveFailed(SinewError):
    """The solve failed; the baked frames stay (exit code 3)."""

    exit_code = 3


class StorageFailed(SinewError):
    """The cache could not be read or written; the baked frames stay (exit code 3)."""

    exit_code = 3


class Cancelled(SinewError):
    """The user cancelled; the baked frames stay (exit code 130)."""

    exit_code = 130

    def __init__(self, kind: str = "cancelled", **details: Any) -> None:
        super().__init__(kind, **details)
