# SPDX-License-Identifier: GPL-3.0-or-later
"""Messages about rigid cores and rigid bodies."""

TEXTS: dict[str, tuple[str, str]] = {
    "rigid-damping-soft": (
        '"{name}" has the damping of a rigid body, but it is soft.',
        "Fill it as Rigid, or use Damping and Mass Damping of its material.",
    ),
    "core-none": (
        'No tet of "{name}" is as deep below the surface as its Skin Thickness of {thickness} m; the deepest possible '
        "core node is {depth} m deep.",
        "Lower Skin Thickness, choose smaller tets, or turn Rigid Core off.",
    ),
    "core-not-painted": (
        'The Core Mask of "{name}" has no weight above 0.5, so it has no core.',
        "Paint the surface above the core, or clear the group.",
    ),
    "core-everything": (
        'With a Skin Thickness of {thickness} m, all of "{name}" is core and nothing is soft.',
        "Raise Skin Thickness, or paint a Core Mask.",
    ),
    "core-without-axis": (
        'The hinge of the rigid core of "{name}" has no direction.',
        "Give the Hinge object a scale other than zero.",
    ),
    "core-axis-not-finite": (
        'At {time} the hinge of the rigid core of "{name}" has no direction.',
        "Give the Hinge object a scale other than zero at that time.",
    ),
    "core-object-elsewhere": (
        'The rigid core of "{name}" uses "{other}", which is not in the scene "{scene}".',
        "Choose another object for Hinge or Spring Target, or clear the field.",
    ),
    "core-combined": (
        '"{name}" has a rigid core, which does not support {feature}.',
        "Change that, or turn Rigid Core off.",
    ),
    "rigid-combined": (
        '"{name}" is rigid, which does not support {feature}.',
        "Change that, or choose another Fill than Rigid under Tets.",
    ),
    "rigid-world-empty": (
        'The rigid body world of "{name}" has no mesh that Sinew does not move yet.',
        "Select meshes, and press Make Rigid in the menu Add.",
    ),
    "rigid-bounces": (
        '"{name}" has a Bounciness of {value} in Blender. Sinew has none: it does not bounce back.',
        "Set Bounciness to 0 in Blender's Rigid Body panel to hide this.",
    ),
    "rigid-moved-by-blender": (
        'Blender\'s rigid body world moves "{name}", too: its collection "{collection}" alone has it in the scene.',
        "Link the object to another collection of the scene, too, or choose another one for the Rigid Body World.",
    ),
    "rigid-in-linked-world": (
        'Blender\'s rigid body world moves "{name}", too: its collection "{collection}" is linked or overridden.',
        "Choose a local collection for the Rigid Body World, or unlink the object from it in the file that it is from.",
    ),
    "rigid-compound": (
        '"{name}" has the shape Compound Parent in Blender. Sinew takes its own mesh alone.',
        "Join the parts to one mesh, or choose Mesh or Convex Hull as Shape.",
    ),
    "rigid-without-volume": (
        '"{name}" is rigid, but encloses next to nothing, so it has no inertia.',
        "Close the mesh, or give it some thickness with a Solidify modifier.",
    ),
}
