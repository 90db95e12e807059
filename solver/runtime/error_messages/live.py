# SPDX-License-Identifier: GPL-3.0-or-later
"""Messages about simulations that run live."""

TEXTS: dict[str, tuple[str, str]] = {
    "live-command-invalid": ('Sinew cannot do "{command}": {problem}.', "Find the commands in docs/architecture.md."),
    "live-no-such-body": (
        'There is no body "{name}" to grab.',
        "Stop, and start again with the objects as they are now.",
    ),
    "live-no-such-grab": ("Nothing is grabbed by the number {number}.", "Grab something first."),
    "live-no-such-brush": ("No brush with the number {number} is held.", "Hold it somewhere first."),
    "live-no-heat": (
        "No body has a temperature that could be changed.",
        "Stop, turn on Heat for the body that is to warm up, and start again.",
    ),
    "live-only-flesh": (
        "Flesh cannot be softened or hardened while it runs.",
        "Change Stiffness in the panel Material instead.",
    ),
    "live-no-such-control": (
        'The running simulation does not read "{name}".',
        "Stop, and start again: it then has the setting as it is now.",
    ),
    "live-no-such-shape": (
        'There is no shape {number} of the collider "{name}" that could be read.',
        "Stop, and start again with the objects as they are now.",
    ),
    "live-rate": ("A rate of {rate:g} is no speed.", "Choose a --rate above 0."),
    "live-controls-unreadable": ("Sinew cannot read {path}: {problem}.", "Stop, and start again."),
    "live-inputs-unreadable": ("Sinew cannot repeat the run in {path}: {problem}.", "Run it live again."),
    "live-replay-differs": (
        "The run differs from the recorded one at step {step}.",
        "It was recorded by another version of Sinew, or the scene has changed: run it live again.",
    ),
    "live-unsettled": (
        "Where bodies touch, they may tremble or sink in a little.",
        "If you see that, set a Thickness, or bake with more Substeps Per Frame.",
    ),
    "live-last": ("The last {seconds:g} s cannot be kept.", "Choose a number of seconds above 0."),
    "live-torn-before": (
        '"{name}" was torn before the seconds that are to be kept.',
        "Keep the whole run, or so many seconds that it is whole at their beginning.",
    ),
    "live-restart-unreadable": (
        "The last seconds cannot be repeated from {path}: {problem}.",
        "Keep the whole run instead.",
    ),
    "start-follows-pose": (
        '"{name}" follows its pose at every frame, so it has no start of its own.',
        "Keep its shape as a shape key instead, or choose another Motion in the panel Flesh.",
    ),
    "start-torn": (
        '"{name}" is torn, so it cannot begin like this.',
        "Press Keep instead: the take has the torn mesh.",
    ),
    "start-of-other-mesh": (
        'The mesh of "{name}" has another shape at the first frame than when its start was kept.',
        "Remove its start in the panel Size and Start, or undo what has changed the mesh or its pose.",
    ),
    "start-damaged": ('The start that is kept in "{name}" cannot be read.', "Remove it in the panel Size and Start."),
    "start-of-no-run": ("No live run has a state that could be kept.", "Press Live, and let it run for a moment."),
}
