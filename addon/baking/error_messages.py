# SPDX-License-Identifier: GPL-3.0-or-later
"""Error messages as Blender shows them: one sentence with the object's name, and the next step, in one line."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from ...solver.runtime.errors import SinewError
from .addon_session import Note

# shorter next steps for the window; all others come from solver/runtime/error_messages/
NEXT_STEPS = {
    "cancelled": "Press Resume to continue",
    "track-late": "Press Simulate again",
    "track-missing": "Press Simulate again",
    "scene-format": "Press Simulate again",
    "scene-unreadable": "Press Simulate again",
}


def message_text(kind: str, sentence: str, next_step: str) -> str:
    """Returns the sentence and the next step as one line."""
    return f"{sentence.strip()} {NEXT_STEPS.get(kind, next_step).strip()}".strip().rstrip(".")


def error_text(problem: SinewError) -> str:
    """Returns the message of `problem`."""
    return message_text(problem.kind, problem.sentence, problem.next_step)


def note_of(warning: Mapping[str, Any]) -> Note:
    """Returns the note that a warning makes, which `SinewError.as_warning` or a `warning` event says."""
    line = message_text(warning["kind"], warning["sentence"], warning["next_step"])
    places = tuple(tuple(place) for place in warning.get("places", ()))
    return Note(line, str(warning.get("measured", "")), places, bool(warning.get("is_minor", False)))
