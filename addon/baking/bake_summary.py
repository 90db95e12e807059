# SPDX-License-Identifier: GPL-3.0-or-later
"""How a bake ended, as text: frames, contacts, steps and poses above the tolerance."""

from __future__ import annotations

from ...solver.bake.cache.convergence_summary import ConvergenceSummary
from ...solver.runtime.errors import SinewError
from .addon_session import Note
from .error_messages import error_text, message_text, note_of
from .state_machine import Job

# residual above which a step has diverged; too few iterations alone leave 1.4 times the applied force
UNSTABLE_RESIDUAL = 10.0


def ending_message(job: Job, is_dropped: bool = False) -> tuple[str, str]:
    """Returns Blender's report level and the message for the end of a bake, whose frames may have been deleted."""
    if job.error is not None:
        return "ERROR", message_text(job.error["kind"], job.error["sentence"], job.error["next_step"])
    if job.phase == "cancelled" and is_dropped:
        return "INFO", "Cancelled. The bake from before stays"
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
