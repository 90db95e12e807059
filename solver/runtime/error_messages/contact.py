# SPDX-License-Identifier: GPL-3.0-or-later
"""Messages about contact of bodies with colliders, with each other and with themselves."""

TEXTS: dict[str, tuple[str, str]] = {
    # solver/contact/colliders/rigid_colliders.py, solver/contact/colliders/deforming_collider.py
    "collider-not-finite": (
        'A coordinate of the collider "{name}" is not a number at frame {frame}.',
        "Check its animation, drivers and modifiers at that frame.",
    ),
    "collider-of-another-mesh": (
        'The animation of the collider "{name}" belongs to a mesh with another number of vertices.',
        "Bake it again.",
    ),
    # addon/export
    "collider-vertices-change": (
        'The collider "{name}" has {first} vertices in the rest pose but {now} at frame {frame}.',
        "Remove the animation that changes its number of vertices.",
    ),
    "collider-shaped-by-body": (
        'The shape of the collider "{name}" depends on "{body}", which Sinew simulates.',
        "Remove the modifier that follows the body.",
    ),
    # solver/scene/validation.py
    "collider-sides": (
        'Sides of the collider "{name}" is "{sides}", which does not exist.',
        "Choose one of {known}.",
    ),
    "collider-shape": (
        'The shape of the collider "{name}" is "{shape}", which does not exist.',
        "Choose one of {known}.",
    ),
    "collider-plane-deforms": (
        'The collider "{name}" is an endless plane, which cannot deform.',
        "Choose Mesh as its Shape.",
    ),
    "ignored-pair-unknown": (
        'A collision filter refers to "{name}", which the scene does not have.',
        "Bake it again.",
    ),
    # solver/scene/exact_contact_validation.py
    "exact-contact-without": (
        'Exact contact cannot simulate {feature} yet, which "{name}" is or has.',
        "Choose Fast as Contact, or remove that.",
    ),
    # solver/simulation/exact_contact/exact_start.py
    "exact-contact-intersects": (
        '"{name}" and "{other}" intersect at {time}, near {place}, so Exact contact cannot keep them apart.',
        "Press Check and then Separate, which moves bodies apart, let them pass through each other with a Collision "
        "Collection, or choose Fast as Contact.",
    ),
    "exact-contact-crosses-itself": (
        '"{name}" intersects itself at the start, at {count} places, the first near {place}.',
        "Exact contact keeps these apart once they have parted, and everything else at once.",
    ),
    "exact-contact-touches": (
        '"{name}" touches something at the start and begins {millimetres:.3g} mm away from it.',
        "Exact contact needs some room. Move it there to see it where it begins.",
    ),
    # solver/bake/contact_convergence_warnings.py
    "exact-contact-let-in": (
        "In {count} frames, the first of them {frame}, what moves by its animation left bodies no room and was let in.",
        "The timeline marks these frames, and Show Contacts the places. Leave bodies more room there if this is seen.",
    ),
    "exact-contact-unsettled": (
        "In {count} steps, the first of them in frame {frame}, Exact contact stopped before its bodies had settled; "
        "nothing intersects, but they may be slower than they should.",
        "If that is seen, use more Substeps Per Frame.",
    ),
    # solver/contact/initial/resolve_overlap.py
    "bodies-overlap": (
        '"{name}" and "{other}" overlap so deeply at the first frame that Sinew cannot tell which way is out.',
        "Move one of them out, or let them pass through each other with a Collision Collection.",
    ),
    # solver/bake/bake_loop.py
    "collider-jumps-in": (
        'At frame {frame} the collider "{name}" is suddenly where a body is, which it pushes out at once.',
        "If that looks wrong, move it in from outside over some frames, or place it elsewhere.",
    ),
    # solver/simulation/enclosed_collider_sheets.py
    "sheet-in-body": (
        'At frame {frame} the collider "{name}" is suddenly inside "{body}", which stays on both sides of its faces.',
        "Move the collider in from outside over some frames, or place it elsewhere.",
    ),
    # addon/baking/error_messages.py
    "contacts-unsettled": (
        "Where bodies touch, they may tremble or sink in a little.",
        "If you see that, use more Substeps Per Frame, or set a Thickness.",
    ),
    # solver/bake/contact_convergence_warnings.py
    "most-steps-unsettled": (
        "In {count} of {steps} steps with contact, the contact solve did not converge or bodies gained energy, so the "
        "motion may be wrong.",
        "Use more Substeps Per Frame, or lower the Stiffness of small hard bodies.",
    ),
    # solver/bake/deep_contact_warnings.py
    "sank-in": (
        'At frame {frame}, "{name}" has sunk {depth} m into "{other}", more than contact could push out.',
        "Choose a smaller Tet Size for it, lower the Activation of what presses it, or move both apart in that pose.",
    ),
    # solver/simulation/step_halving.py
    "step-gains-energy": (
        'At {time} the solver cannot compute the impact on "{name}": even with the step split into up to {parts} '
        "parts, the body would gain more energy than it had.",
        "Use more Substeps Per Frame, or lower the Stiffness of small hard bodies. The baked frames stay.",
    ),
    # addon/export/contact_warnings.py
    "scales-differ": (
        '"{name}" and "{other}" touch, but their Simulated Sizes scale them differently: beside "{other}", "{name}" '
        "moves as if it were {times} times smaller, so it falls faster and presses harder.",
        "Scale both by the same factor, or let them pass through each other with a Collision Collection.",
    ),
    "thin-for-tets": (
        '"{name}" is about {thickness} m thick, but its tets are {tet_size} m long. With less than one tet across its '
        "thickness, it dents and folds coarsely where others touch it.",
        "Choose a Tet Size of {wanted} m or less, or more Divisions.",
    ),
    "filter-empty": (
        '"{name}" touches nothing: "{collection}" contains nothing that it could touch.',
        "Put bodies or colliders in that collection, or clear Collision Collection.",
    ),
    "filter-one-sided": (
        '"{name}" touches nothing: "{other}" collides only with "{collection}", and "{name}" is not in it.',
        'Put "{name}" in that collection, or clear the Collision Collection of "{other}".',
    ),
    "driven-by-force": (
        'A driver moves "{name}" by the force on "{collider}", which this bake computes, so each bake would depend on '
        "the previous one.",
        "Bake the driver to keyframes, or let it drive an object that is not part of the simulation.",
    ),
}
