# SPDX-License-Identifier: GPL-3.0-or-later
"""The last failure of a scene, which the panel shows until the next success."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import bpy

from ...solver.runtime.errors import BadInput
from . import stale_errors
from .addon_session import Failure, session
from .error_messages import message_text


def store_failure_text(scene: bpy.types.Scene, line: str) -> None:
    """Stores the text of a failure, which the panel shows until the next success."""
    session.messages(scene).failure = Failure(line)


def store_error_event(scene: bpy.types.Scene, error: Mapping[str, Any]) -> None:
    """Stores the failure in an `error` event; the panel shows refused input only until the input changes."""
    line = message_text(error["kind"], error["sentence"], error["next_step"])
    is_refusal = error.get("exit_code") == BadInput.exit_code
    name = str(error.get("details", {}).get("name", ""))
    stale_errors.invalidate()
    session.messages(scene).failure = Failure(
        line, error["kind"], name, stale_errors.stamp(scene) if is_refusal else None
    )


def forget_failure(scene: bpy.types.Scene) -> None:
    """Removes the failure from the panel."""
    session.messages(scene).failure = None


def failure_text(scene: bpy.types.Scene) -> str:
    """Returns the text of the last failure, or ""."""
    failure = session.messages(scene).failure
    return "" if failure is None else failure.line


def failure_to_show(scene: bpy.types.Scene, already_shown: Mapping[str, str]) -> str:
    """Returns the failure to show in the panel, or "". Forgets refused input after a change.

    Args:
        scene: The scene.
        already_shown: Kinds of failures that a box above already shows, each with the name of its object.
    """
    failure = session.messages(scene).failure
    if failure is None:
        return ""
    if failure.stamp is not None and stale_errors.has_changed(scene, failure.stamp):
        forget_failure(scene)
        return ""
    return "" if failure.kind and already_shown.get(failure.kind) == failure.name else failure.line
