# SPDX-License-Identifier: GPL-3.0-or-later
"""Words of what goes wrong where bodies meet colliders, each other and themselves."""

TEXTS: dict[str, tuple[str, str]] = {
    # solver/contact/colliders/build_colliders.py, solver/contact/colliders/deforming_collider.py
    "collider-not-finite": (
        'The collider "{name}" is at a place that is not a number at frame {frame}.',
        "Look at its animation, drivers and modifiers at that frame.",
    ),
    "collider-of-another-mesh": (
        'The animation of the collider "{name}" is that of a mesh with another number of vertices.',
        "Bake it again.",
    ),
    # addon/reading
    "collider-vertices-change": (
        'The collider "{name}" has {first} vertices in the rest pose and {now} at frame {frame}.',
        "Take the animation off what changes its number of vertices.",
    ),
    "collider-shaped-by-body": (
        'The collider "{name}" takes its shape from "{body}", which is to be simulated.',
        "Take the modifier off that follows it.",
    ),
    # solver/scene/validation.py
    "collider-sides": (
        'The collider "{name}" has the sides "{sides}", which is none of {known}.',
        "Choose one of them.",
    ),
    "collider-shape": (
        'The collider "{name}" has the shape "{shape}", which is none of {known}.',
        "Choose one of them.",
    ),
    "collider-plane-deforms": (
        'The collider "{name}" is a plane without end, which cannot change its shape.',
        "Choose the Shape Mesh.",
    ),
    "ignored-pair-unknown": (
        '"{name}" is to pass through what the scene does not have.',
        "Bake it again.",
    ),
    # solver/contact/initial/resolve_overlap.py
    "bodies-overlap": (
        '"{name}" and "{other}" are so deep in each other at the first frame that nothing says which way is out.',
        "Move one of them out, or let them pass through each other with Collides With.",
    ),
    # solver/simulation/sheet_warnings.py
    "sheet-in-body": (
        'At frame {frame} the sheet "{name}" is inside "{body}" all at once: nothing says which side of it is out, so '
        "the body stays on both sides.",
        "Let it come in from outside over some frames, or put it somewhere else.",
    ),
    # addon/baking/error_messages.py
    "contacts-unsettled": (
        "In {count} steps, points that touch were still changing between holding, sliding and letting go when the "
        "step had to end.",
        "If bodies tremble or sink in a little, use more Substeps per Frame, or a Thickness.",
    ),
    # solver/bake/bake_warnings.py
    "most-steps-unsettled": (
        "In {count} of {steps} steps with contact, points that touch were still changing, or energy came from nothing, "
        "when the step had to end: what is seen there may be wrong.",
        "Use more Substeps per Frame (--substeps), or a lower Stiffness for what is small and hard.",
    ),
    # solver/simulation/time_step.py
    "step-gains-energy": (
        'At {time} the blows on "{name}" cannot be worked out, though the step was cut into up to {parts} parts: it '
        "would get more energy from nothing than it had.",
        "Use more Substeps per Frame, or a lower Stiffness for what is small and hard; what was baked so far stays.",
    ),
    # addon/export/contact_warnings.py
    "scales-differ": (
        '"{name}" and "{other}" touch, but their Simulated Sizes are not the same part of their true sizes: beside the '
        "other, the first one moves as if it were {times} times smaller, so it falls faster and presses harder.",
        "Give both the same part of their true size, or let them pass through each other with Collides With.",
    ),
    "thin-for-tets": (
        'The tets of "{name}" are {tet_size} m long and it is about {thickness} m thick: with less than one tet '
        "through it, it dents and folds coarsely where others touch it.",
        "Choose a Tet Size of {wanted} m or less, or more Resolution Divisions.",
    ),
    "filter-empty": (
        '"{name}" touches nothing: nothing that it could touch is in "{collection}".',
        "Put bodies or colliders in that collection, or clear Collides With.",
    ),
    "filter-one-sided": (
        '"{name}" touches nothing: "{other}" collides only with what is in "{collection}", and "{name}" is not.',
        "Put it in there, or clear Collides With of the other.",
    ),
    "driven-by-force": (
        'A driver moves "{name}" by the force on "{collider}", which is what this bake gives: every bake would be of '
        "the forces of the one before.",
        "Bake the driver to keyframes, or let it drive something that takes no part.",
    ),
}
