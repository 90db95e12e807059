# SPDX-License-Identifier: GPL-3.0-or-later
"""Messages about bindings."""

TEXTS = {
    "binding-circle": (
        "Bindings go in a circle: {names}.",
        "Let one of them follow something that follows none of the others.",
    ),
    "bound-twice": (
        '"{name}" is bound to two places at once.',
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
    "binding-to-itself": (
        'A binding of "{name}" has "{name}" itself as its target.',
        "Choose another body as its target, or remove it.",
    ),
    "binding-target-missing": (
        'A binding of "{name}" has the target "{target}", which is no body of the scene.',
        "Choose a simulated body as its target, or remove it.",
    ),
    "binding-repeated": (
        '"{name}" is bound to "{target}" twice.',
        "Remove one of the two bindings.",
    ),
    "binding-out-of-reach": (
        'No node of "{name}" is within the reach of {reach} m of "{target}": the nearest is {distance} m away.',
        "Raise the reach, move the bodies together, or remove the binding.",
    ),
    "binding-stepping": (
        '"{name}" moves by {own} and "{target}", to which it is bound, by {other}.',
        "Give both the same Stepping.",
    ),
    "binding-combined": (
        '"{name}" is bound to another body or the target of a binding, which does not support {feature}.',
        "Turn {feature} off, or Exact of its attachment, which then holds by springs.",
    ),
    "binding-breaks": (
        'An attachment of "{name}" is exact and has a Breaking Force, at which only springs let go.',
        "Set its Breaking Force to 0, or turn Exact off, which leaves stiff springs.",
    ),
    "binding-keyed": (
        'Keys on On or Strength cannot let "{name}" go from "{target}", to which it is attached exactly.',
        "Remove these keys, or turn Exact of the attachment off, which then holds by stiff springs.",
    ),
    "bound-at-rest": (
        "The model has bound nodes, which an equilibrium of one body does not move.",
        "Simulate it with damping until it is at rest, or leave out what is bound.",
    ),
    "bound-by-two-schemes": (
        "Bound nodes move by another scheme than the nodes that they follow.",
        "Give all bodies that are bound to each other the same Stepping.",
    ),
    "particles-bdf2": (
        "Particles are bound softly in a model with bodies that move by BDF2.",
        "Let these bodies move by implicit Euler or Newmark.",
    ),
    "adaptive-combined": (
        '"{name}" has the fill Adaptive, which does not support {feature} yet.',
        "Turn {feature} off, or set Fill of its Tets to Robust or Smooth.",
    ),
    "levels-combined": (
        '"{name}" has Refine While Simulating, which does not support {feature} yet.',
        "Turn {feature} off, or Refine While Simulating in the Tets of the body.",
    ),
    "levels-beside": (
        '"{name}" has Refine While Simulating, beside which "{other}" cannot have {feature} yet.',
        "Turn {feature} off, or Refine While Simulating in the Tets of the body.",
    ),
    "levels-live": (
        '"{name}" has Refine While Simulating, which works in bakes alone: what a hand holds is in certain tets.',
        "Turn Refine While Simulating off in its Tets while you run the scene live.",
    ),
    "bound-to-rigid": (
        'A binding fixes "{name}" to "{target}", which is rigid: bodies cannot be bound to rigid ones yet.',
        "Attach them by springs: turn Exact off in the row, or choose Spring.",
    ),
    "bound-core": (
        'A binding of "{name}" reaches its rigid core, whose nodes move with the core.',
        "Lower the reach of the binding, or bind the other body to this one.",
    ),
    "bound-nodes-held": (
        '{count} bound nodes of "{name}" are held by {force} as well.',
        "Hold its target instead, or lower the reach of the binding.",
    ),
    "particles-too-heavy": (
        'Soft-bound particles on "{name}" take {mass} kg, which leaves a node of it without mass.',
        "Give them less mass.",
    ),
}
