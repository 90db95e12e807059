# SPDX-License-Identifier: GPL-3.0-or-later
"""Messages about bindings."""

TEXTS = {
    "binding-circle": (
        "Bindings go in a circle: {names}.",
        "Let one of them follow something that follows none of the others.",
    ),
    "bound-twice": (
        "{name} is bound to two places at once.",
        "Remove one of its bindings.",
    ),
    "binding-target-flat": (
        "A point is bound to nodes that coincide, are on a line or in a plane: {nodes}.",
        "Bind it to other nodes, or to fewer of them.",
    ),
    "binding-too-far": (
        'Points are bound so far outside of "{name}" that a node of it would have no mass.',
        "Bind points that are nearer, or give it larger tets.",
    ),
    "particles-too-heavy": (
        'Soft-bound particles on "{name}" take {mass} kg, which leaves a node of it without mass.',
        "Give them less mass.",
    ),
}
