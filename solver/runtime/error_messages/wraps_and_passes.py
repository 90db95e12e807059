# SPDX-License-Identifier: GPL-3.0-or-later
"""Messages about wraps, fat and passes."""

TEXTS: dict[str, tuple[str, str]] = {
    # solver/mesh/wrap/wrap_surface.py
    "wrap-too-fine": (
        "A wrap with a voxel size of {voxel} m would need more memory than a computer should give it.",
        "Choose a voxel size of {least} m or more, or a larger Width.",
    ),
    "wrap-empty": (
        "Nothing is inside the chosen meshes, so there is nothing to wrap.",
        "Choose closed meshes, or a smaller Smoothing.",
    ),
    # addon/objects/new_wraps.py
    "wrap-in-parts": (
        'The Wrap "{name}" is {count} separate surfaces: some meshes are farther apart than its Width.',
        "Choose a larger Width, or wrap these meshes on their own.",
    ),
    # addon/operators/quick_fat.py
    "quick-fat-no-skin": (
        '"{name}" is a muscle, a bone mesh or a Wrap, around which fat lies.',
        "Select the mesh of the character.",
    ),
    "quick-fat-nothing": (
        'No muscle or bone mesh is inside of "{name}", and no armature poses it.',
        "Add an Armature modifier, or make muscles or bone meshes inside of it first (menu Add).",
    ),
    # addon/export/fat_check.py
    "wrap-elsewhere": (
        'The Wrap "{wrap}" of "{name}" is not in the scene "{scene}".',
        "Link it to the scene, or choose another Wrap in the panel Layers.",
    ),
    "wrap-is-body": (
        'The Wrap "{wrap}" of "{name}" is simulated itself.',
        "Remove it from Sinew, or choose another Wrap in the panel Layers.",
    ),
    "wrap-combined": (
        '"{name}" ends at a Wrap, and cannot have {feature} as well.',
        "Switch {feature} off, or choose no Wrap in the panel Layers.",
    ),
    "skin-capped": (
        'The mesh of "{name}" has holes: {count}. They are closed for the physics; the mesh that you see stays open.',
        "Pin what has to stay where it is, such as the rim of a neck.",
    ),
    # solver/simulation/wrap_position_check.py
    "wrap-outside": (
        'The Wrap inside of "{name}" is outside of it with {share} % of its surface.',
        "Make the skin larger, or make the Wrap again around fewer meshes or with a smaller Width and Offset.",
    ),
    # addon/export/baked_grounds.py
    "pass-not-baked": (
        "Pass {number} follows pass {earlier}, which is not baked{done}.",
        "Press Simulate, which bakes what is missing, or simulate pass {earlier} in the panel Cache first.",
    ),
    "pass-without-preroll": (
        "Pass {number} follows pass {earlier}, whose bake has no pre-roll.",
        "Simulate pass {earlier} again in the panel Cache.",
    ),
    "pass-without-body": (
        'Pass {number} follows pass {earlier}, which was baked without "{name}".',
        "Press Simulate, which bakes what is out of date, or simulate pass {earlier} in the panel Cache first.",
    ),
    "baked-without-wrap": (
        '"{name}" was baked without the Wrap "{wrap}", to which a body that follows it is attached.',
        "Press Simulate, which bakes what is out of date.",
    ),
    "pass-other-times": (
        '"{name}", which this bake follows, was baked with another first frame, frame rate or pre-roll.',
        "Press Simulate, which bakes all bodies, or simulate its pass again in the panel Cache.",
    ),
    "selected-follows-unbaked": (
        'Simulate Selected leaves "{name}" as it is baked, and it is not baked{done}.',
        "Press Simulate, which bakes all bodies, or select it as well.",
    ),
    "selected-follows-broken": (
        'Simulate Selected leaves "{name}" as it is baked, and nothing can follow the pieces that it broke into.',
        "Press Simulate, which bakes all bodies, or select it as well.",
    ),
    # addon/baking/simulate_selected.py
    "no-body-selected": (
        'None of the selected objects in "{name}" is a body.',
        "Select the bodies that are to be baked again.",
    ),
    "selected-without-bake": (
        '"{name}" is not baked yet, nor are the other bodies that Simulate Selected follows.',
        "Press Simulate, which bakes all bodies, first.",
    ),
    "selected-not-resumable": (
        'Some bodies of "{name}" were baked after the others, with Simulate Selected, and no bake goes on from there.',
        "Press Simulate, which bakes all bodies from the first frame.",
    ),
    # addon/command_line/headless.py
    "selected-cancelled": ("Cancelled.", "The bake from before stays."),
    "selected-from-first-frame": (
        "Selected bodies are baked from the first frame.",
        "Leave out --resume or --selected.",
    ),
    # addon/baking/simulate_selected.py
    "selected-follows-outdated": (
        '"{name}" has changed since it was baked. The selected bodies follow it as it was baked.',
        "Select it as well, or press Simulate, to bake it as it is now.",
    ),
    # addon/baking/passes_to_bake.py
    "no-such-pass": (
        'Nothing in "{name}" is in pass {number}.',
        "Simulate another pass, or give an object this Pass in the panel Layers.",
    ),
    # addon/export/pass_check.py
    "pass-follows-later": (
        '"{name}" in pass {number} is attached to "{target}" in pass {later}, which comes later.',
        "Attach it to something of an earlier pass, or give both the same Pass in the panel Layers.",
    ),
    "pass-shaped-by-later": (
        '"{name}" in pass {number} is shaped by "{target}" in pass {later}, which comes later.',
        "Choose an object of an earlier pass in its modifiers, or give both the same Pass in the panel Layers.",
    ),
    "wrap-with-tunnels": (
        'Tunnels go through the Wrap "{name}": {count}. Between round shapes its Width has to be larger than the gap.',
        "Choose a larger Width, or leave it: fat fills the tunnels.",
    ),
    "wrap-of-nothing": (
        "Nothing that can be wrapped is selected.",
        "Select the muscles and the bone meshes that lie under the skin.",
    ),
}
