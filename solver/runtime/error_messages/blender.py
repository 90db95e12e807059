# SPDX-License-Identifier: GPL-3.0-or-later
"""What can be wrong in Blender's data or window."""

TEXTS: dict[str, tuple[str, str]] = {
    # reading Blender's objects
    "in-edit-mode": ('"{name}" is in Edit Mode.', "Leave it (Tab) and simulate again."),
    "object-gone": ('"{name}" was deleted while it was read.', "Simulate again."),
    "object-flat": (
        '"{name}" is scaled to nothing along an axis, or to something that is not a number.',
        "Give it a scale (Object > Clear > Scale).",
    ),
    "group-gone": (
        '"{name}" has no vertex group or attribute "{group}", which {field} asks for.',
        "Choose another one in that field, or clear it.",
    ),
    "group-empty": (
        '"{group}", which {field} of "{name}" asks for, is 0 everywhere.',
        "Paint it in Weight Paint Mode, or clear the field.",
    ),
    "attribute-not-weights": (
        'The attribute "{group}" of "{name}" does not hold one number per vertex.',
        "Store it as a Float on the Point domain.",
    ),
    "render-differs": (
        'The modifier "{modifier}" gives "{name}" {viewport} vertices in the viewport and {render} in a render, '
        "where the bake would not show.",
        "Make its viewport and render settings equal, or move it below Sinew's modifier.",
    ),
    "modifier-asks-for-viewport": (
        'The modifier "{modifier}" of "{name}" looks different in the viewport and in a render (Is Viewport).',
        "Move it below Sinew's modifier.",
    ),
    "vertices-change": (
        'The modifier "{modifier}" gives "{name}" {first} vertices at frame {start} and {now} at frame {frame}.',
        "Move it below Sinew's modifier, or take its animation off.",
    ),
    "forces-not-baked": (
        'The bake of "{name}" tells of no force on the selected objects.',
        "Select colliders that were there when it was baked, or press Simulate first.",
    ),
    "not-baked": ('"{name}" has no baked frames.', "Press Simulate first."),
    "gravity-scaled": (
        'Gravity in "{name}" is {gravity} m/s², since a Blender unit is {scale} m.',
        "Set 9.81 m/s² in Scene Properties > Gravity for motion at the scene's true size.",
    ),
    "hangs-far": (
        '"{name}" is so soft that it may hang far off its bones or pins, and its poses may not be found: '
        "where it is thickest, its weight is {times} times its stiffness.",
        "Raise Stiffness to {stiffness} Pa, or let bones hold more of it: a larger Radius or Distance.",
    ),
    "normals-free": (
        'The custom normals of "{name}" are free vectors, which no modifier turns.',
        "Store them again with the node Set Mesh Normal in Tangent Space, or clear them.",
    ),
    "posed-twice": (
        'The modifier "{modifier}" below Sinew\'s poses "{name}" a second time.',
        "Move Sinew's modifier below it.",
    ),
    "affect-not-faded": (
        '"{group}" is no vertex group of "{name}", so Affect holds the rest, but does not fade at the border.',
        "Use a vertex group.",
    ),
    "heat-source-deforms": (
        'The heat source "{name}" changes its shape at frame {frame}, but heat sources can only move and turn.',
        "Use an object that moves rigidly, parented to it for example.",
    ),
    # reading flesh and bones in Blender
    "armature-none": (
        '"{name}" is to be held by the bones of its armature, but has no Armature modifier above Sinew\'s.',
        "Give it one with an object, or turn Armature Bones off.",
    ),
    "armature-no-groups": (
        'No bone of "{armature}" that deforms has a weight in "{name}".',
        "Paint vertex groups with the names of the bones, or turn Armature Bones off.",
    ),
    "bone-vertices-change": (
        'The bone "{name}" has {first} vertices in the rest pose and {now} at frame {frame}.',
        "Take the animation off what changes its number of vertices.",
    ),
    "rest-shape-vertices": (
        'With the shape keys of frame {frame}, "{name}" has {now} instead of {first} vertices in the rest pose.',
        "Move the modifier that adds or removes vertices below Sinew's.",
    ),
    "bone-shaped-by-body": (
        'The bone "{name}" takes its shape from "{body}", which is to be simulated.',
        "Take the modifier off that follows it, or let the armature move the bone.",
    ),
    "keys-not-followed": (
        'The shape keys of "{name}" move, but flesh takes its shape from its bones.',
        "Turn on Rest Shape from Shape Keys for it to follow them.",
    ),
    "bone-holds-no-flesh": (
        'The bone "{name}" is to hold "{body}", which is no flesh of this bake.',
        "Choose another Body for it, or none.",
    ),
    # settings
    "setting-out-of-range": ('{setting} of "{name}" is {value}; it has to be {range}.', "Change the setting."),
    # Blender's window
    "nothing-selected": ("Nothing is selected.", "Select a mesh object first."),
    "not-a-mesh": (
        '"{name}" is not a mesh but of the type {type}.',
        "Select a mesh, or convert it: Object > Convert > Mesh.",
    ),
    "not-a-heat-source": (
        '"{name}" is a {type}, which cannot be a heat source.',
        "Select an empty or a mesh, or press Add Heat Source.",
    ),
    "row-linked": (
        'This row of "{name}" comes from the file that it is linked from, and cannot be removed here.',
        "Set its factors to 1, or change it there.",
    ),
    "linked-without-override": (
        '"{name}" is linked from another file and cannot be changed here.',
        "Make a library override first: Object > Library Override > Make.",
    ),
    "mesh-shared": (
        '"{name}" and "{other}" are two bodies with one mesh, "{mesh}".',
        "Make it single-user first: Object > Relations > Make Single User > Object & Data.",
    ),
    "no-vertices-selected": ('No vertex of "{name}" is selected.', "Select some in Edit Mode first."),
    "no-bodies": ('The scene "{name}" has no bodies.', "Select a mesh and press Make Body or Make Flesh."),
    "no-such-object": ('There is no object "{name}" in the scene "{scene}".', "Check the name."),
    "no-such-scene": ('There is no scene "{name}" in {path}.', "Check the name."),
    "not-a-body": ('"{name}" is not a body.', "Make it one first, with Make Body."),
    "bake-running": ('The scene "{name}" is being baked.', "Wait for it, or press Cancel."),
    "bake-protected": ('The bake of the scene "{name}" is protected.', "Turn the lock beside Delete Bake off first."),
    "nothing-to-attach": (
        'No mesh of the scene "{name}" has the name of a body in {path}.',
        "Check the cache, or the names of the objects.",
    ),
}
