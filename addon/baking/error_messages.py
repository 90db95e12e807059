# SPDX-License-Identifier: GPL-3.0-or-later
"""Error messages in Blender: one sentence with the object's name, and the next step."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import bpy

from ...solver.bake.cache.convergence_summary import ConvergenceSummary
from ...solver.runtime.errors import BadInput, SinewError
from . import stale_errors
from .session import Failure, Note, session
from .state_machine import Job

# shorter next steps for the window; all others come from solver/runtime/error_messages/
NEXT_STEPS = {
    "cancelled": "Press Resume to continue",
    "track-late": "Press Simulate again",
    "track-missing": "Press Simulate again",
    "scene-format": "Press Simulate again",
    "scene-unreadable": "Press Simulate again",
}
# residual above which a step has diverged; too few iterations alone leave 1.4 times the applied force
UNSTABLE_RESIDUAL = 10.0


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
    return Note(line, str(warning.get("measured", "")), places)


def ending_message(job: Job) -> tuple[str, str]:
    """Returns Blender's report level and the message for the end of a bake."""
    if job.error is not None:
        return "ERROR", message_text(job.error["kind"], job.error["sentence"], job.error["next_step"])
    if job.phase == "cancelled":
        note = "" if job.frame is None else f" at frame {job.frame}. The baked frames stay"
        return "INFO", f"Cancelled{note}"
    line = f"Baked frames {job.frame_start} to {job.frame}"
    if job.convergence.contacts:
        line += f", up to {job.convergence.contacts:,} contacts at once"
    unsolved = unconverged_text(job.convergence)
    return ("WARNING", f"{line}. {unsolved}") if unsolved else ("INFO", line)


def unconverged_text(summary: ConvergenceSummary) -> str:
    """Returns the message about steps and poses above the tolerance, or ""."""
    return ". ".join(note.line for note in unconverged_notes(summary))


def unconverged_notes(summary: ConvergenceSummary) -> list[Note]:
    """Returns the notes on steps and poses above the tolerance."""
    found, steps = [], summary.not_converged - summary.poses_not_converged
    if steps:
        kind = "steps-astray" if summary.residual > UNSTABLE_RESIDUAL else "steps-not-converged"
        found.append(SinewError(kind, count=steps, residual=summary.residual, frame=summary.worst_frame))
    if summary.poses_not_converged:
        worst = {"residual": summary.pose_residual, "frame": summary.worst_pose_frame}
        found.append(SinewError("poses-not-converged", count=summary.poses_not_converged, **worst))
    return [note_of(each.as_warning()) for each in found]


def step_notes(summary: ConvergenceSummary) -> list[str]:
    """Returns further notes on the steps of a bake."""
    lines = [f"Largest residual {summary.residual:.1e}"] if summary.residual or not summary.pose_residual else []
    if summary.pose_residual:
        lines.append(f"Largest residual of a pose {summary.pose_residual:.1e}, in frame {summary.worst_pose_frame}")
    if summary.contacts:
        lines.append(f"Most contacts at once: {summary.contacts:,}, in frame {summary.busiest_frame}")
    if summary.unsettled:
        lines.append(f"Steps with contacts that did not settle: {summary.unsettled:,}")
    if summary.inverted_tets:
        lines.append(error_text(SinewError("inverted-after-steps", count=summary.inverted_tets)))
    return lines


def unsettled_note(summary: ConvergenceSummary) -> Note:
    """Returns the note on steps whose contacts did not settle."""
    return note_of(SinewError("contacts-unsettled", count=summary.unsettled).as_warning())


def remember_failure(scene: bpy.types.Scene, line: str) -> None:
    """Stores a failure for the panel until the next success."""
    session.messages(scene).failure = Failure(line)


def remember_error(scene: bpy.types.Scene, error: Mapping[str, Any]) -> None:
    """Stores the failure of an `error` event; bad input only until the input changes."""
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


def last_failure(scene: bpy.types.Scene) -> str:
    """Returns the last failure, or ""."""
    failure = session.messages(scene).failure
    return "" if failure is None else failure.line


def failure_to_show(scene: bpy.types.Scene, offered: Mapping[str, str]) -> str:
    """Returns the failure to show in the panel, or "". Forgets refused input after a change.

    Args:
        scene: The scene.
        offered: Kinds of failures that a box above already shows, with the name of the object.
    """
    failure = session.messages(scene).failure
    if failure is None:
        return ""
    if failure.stamp is not None and stale_errors.has_changed(scene, failure.stamp):
        forget_failure(scene)
        return ""
    return "" if failure.kind and offered.get(failure.kind) == failure.name else failure.line


def reporting_errors(act: Callable[..., set[str]]) -> Callable[..., set[str]]:
    """Wraps `execute` or `invoke` of an operator, so that it reports failures instead of raising them."""

    def guarded(operator: bpy.types.Operator, context: bpy.types.Context, *event: bpy.types.Event) -> set[str]:
        forget_failure(context.scene)
        try:
            return act(operator, context, *event)
        except SinewError as problem:
            remember_error(context.scene, problem.as_event())
            operator.report({"ERROR"}, error_text(problem))
            return {"CANCELLED"}

    # Blender checks the number of arguments
    if act.__name__ == "execute":
        return lambda operator, context: guarded(operator, context)
    return lambda operator, context, event: guarded(operator, context, event)
