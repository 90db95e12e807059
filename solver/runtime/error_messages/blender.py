# SPDX-License-Identifier: GPL-3.0-or-later
"""Messages about Blender's data and window."""

TEXTS: dict[str, tuple[str, str]] = {
    # reading Blender's objects
    "in-edit-mode": ('"{name}" is in Edit Mode.', "Leave Edit Mode (Tab) and simulate again."),
    "object-gone": ('"{name}" was deleted while Sinew read it.', "Simulate again."),
    "object-flat": (
        'A scale of "{name}" is zero or not a number.',
        "Reset the scale (Object > Clear > Scale).",
    ),
    "group-gone": (
        'The setting {field} names "{group}", but "{name}" has no such vertex group or attribute.',
        "Choose another one in that field, or clear it.",
    ),
    "group-empty": (
        'All weights of "{group}" are 0, but {field} of "{name}" uses it.',
        "Paint it in Weight Paint Mode, or clear the field.",
    ),
    "attribute-not-weights": (
        'The attribute "{group}" of "{name}" does not store one number per vertex.',
        "Store it as a Float on the Point domain.",
    ),
    "attribute-not-vectors": (
        'The attribute "{group}" of "{name}" does not store one vector per vertex.',
        "Store it as a Vector on the Point domain.",
    ),
    "render-differs": (
        'The modifier "{modifier}" gives "{name}" {viewport} vertices in the viewport but {render} in a render, '
        "so a render could not show the bake.",
        "Make its viewport and render settings equal, or move it below Sinew's modifier.",
    ),
    "modifier-asks-for-viewport": (
        'The modifier "{modifier}" makes "{name}" differ between viewport and render (Is Viewport).',
        "Move it below Sinew's modifier.",
    ),
    "vertices-change": (
        'The modifier "{modifier}" gives "{name}" {first} vertices at frame {start} but {now} at frame {frame}.',
        "Move it below Sinew's modifier, or remove its animation.",
    ),
    "forces-not-baked": (
        'The bake of "{name}" has no forces for the selected objects.',
        "Select colliders that took part in the bake, or press Simulate first.",
    ),
    "copied-onto-keys": (
        'Keyframes or drivers of "{name}" go on setting {settings}.',
        "Choose Clear Keyframes or Delete Driver in the context menu of a field where the copied value is to count.",
    ),
    "nothing-to-copy-to": (
        'No other selected object has the role of "{name}".',
        "Select objects that are bodies, colliders … as it is.",
    ),
    "no-object-of-role": (
        "No visible object that can be selected has the role {role}.",
        "Show it in the Outliner, or give an object that role in the menu Add.",
    ),
    "no-such-take": ('"{scene}" has no take "{name}" with a bake.', "Choose one of the list in the panel Cache."),
    "take-of-other-meshes": (
        'The bodies have other vertices now than in the take "{name}".',
        "Play that take instead of comparing it.",
    ),
    "not-baked": ('"{name}" has no baked frames.', "Press Simulate first."),
    "gravity-scaled": (
        'Gravity in "{name}" is {gravity} m/s², because one Blender unit is {scale} m.',
        "For motion at true size, set 9.81 m/s² in Scene Properties > Gravity.",
    ),
    "hangs-far": (
        '"{name}" is so soft that it may hang far below its bones or pins, and the solver may not find its poses.',
        "Raise Stiffness to {stiffness}, or let bones hold more of it: raise the Radius of its armature bones "
        "(panel Bones) or the Distance of its bone meshes.",
    ),
    "normals-free": (
        'The custom normals of "{name}" are free vectors, which modifiers do not rotate.',
        "Store them again with the node Set Mesh Normal in Tangent Space, or clear them.",
    ),
    "posed-twice": (
        'The modifier "{modifier}" below Sinew\'s modifier poses "{name}" a second time.',
        "Move Sinew's modifier below it.",
    ),
    "affect-not-faded": (
        '"{group}" is not a vertex group of "{name}", so Simulated Group has a hard edge.',
        "Use a vertex group.",
    ),
    "heat-source-deforms": (
        'The heat source "{name}" deforms at frame {frame}, but heat sources can only move and rotate.',
        "Use an object that moves rigidly, such as one with a parent.",
    ),
    # reading flesh and bones in Blender
    "armature-none": (
        'Hold by Armature is on for "{name}", but no Armature modifier is above Sinew\'s modifier.',
        "Add an Armature modifier with an object, or turn Hold by Armature off.",
    ),
    "armature-no-groups": (
        'No deforming bone of "{armature}" has weights in "{name}".',
        "Paint vertex groups with the names of the bones, or turn Hold by Armature off.",
    ),
    "bone-vertices-change": (
        'The bone "{name}" has {first} vertices in the rest pose but {now} at frame {frame}.',
        "Remove the animation that changes its number of vertices.",
    ),
    "rest-shape-vertices": (
        'The shape keys of frame {frame} give "{name}" {now} vertices, but its rest pose has {first}.',
        "Move the modifier that adds or removes vertices below Sinew's modifier.",
    ),
    "bone-shaped-by-body": (
        'The shape of the bone "{name}" depends on "{body}", which Sinew simulates.',
        "Remove the modifier that follows the body, or let the armature move the bone.",
    ),
    "keys-not-followed": (
        'The shape keys of "{name}" move, but flesh takes its shape from its bones.',
        "Turn on Rest Shape from Shape Keys, so that the flesh follows them.",
    ),
    "bone-holds-no-flesh": (
        'The bone "{name}" is set to hold "{body}", but this bake has no such flesh.',
        "Choose another Body for the bone, or clear the field.",
    ),
    # settings
    "setting-out-of-range": ('{setting} of "{name}" is {value}, but it has to be {range}.', "Change the setting."),
    # Blender's window
    "nothing-selected": ("Nothing is selected.", "Select a mesh object first."),
    "body-not-in-view-layer": (
        '"{name}" is not in the view layer.',
        "Enable its collection in the Outliner.",
    ),
    "not-a-mesh": (
        '"{name}" is not a mesh: its type is {type}.',
        "Select a mesh, or convert the object (Object > Convert > Mesh).",
    ),
    "not-a-heat-source": (
        '"{name}" cannot be a heat source: its type is {type}.',
        "Select an empty or a mesh, or press Add Heat Source.",
    ),
    "row-linked": (
        'The file that "{name}" is linked from contains this row, so you cannot remove it here.',
        "Set its factors to 1, or remove it in that file.",
    ),
    "linked-without-override": (
        '"{name}" is linked from another file, so you cannot change it here.',
        "Make a library override first (Object > Library Override > Make).",
    ),
    "mesh-shared": (
        'The bodies "{name}" and "{other}" share the mesh "{mesh}".',
        "Make it single-user first (Object > Relations > Make Single User > Object & Data).",
    ),
    "no-vertices-selected": ('No vertex of "{name}" is selected.', "Select vertices in Edit Mode first."),
    "no-bodies": ('The scene "{name}" has no bodies.', "Select a mesh and press Make Body or Make Flesh."),
    "no-such-object": ('The scene "{scene}" has no object "{name}".', "Check the name."),
    "no-such-scene": ('{path} has no scene "{name}".', "Check the name."),
    "not-a-body": ('"{name}" is not a body.', "Press Make Body first."),
    "bake-running": ('Sinew is baking the scene "{name}".', "Wait for the bake, or press Cancel."),
    "live-nothing-to-keep": ("The live run has not come to a whole frame.", "Press Live, and let it run for a moment."),
    # addon/live/kept_shape.py, addon/evaluation/unposed_vertices.py
    "shape-of-no-run": ("No live run has a shape that could be kept.", "Press Live, and let it run for a moment."),
    "shape-torn": (
        '"{name}" is torn, so its mesh cannot have this shape.',
        "Press Keep instead: the take has the torn mesh.",
    ),
    "shape-mesh-linked": (
        'The mesh of "{name}" belongs to another file, so it cannot have this shape as a shape key.',
        "Make its data local (Object > Relations > Make Local).",
    ),
    "shape-vertices-made": (
        'The mesh of "{name}" cannot have this shape: the modifier "{modifier}" before Sinew changes its vertices.',
        "Apply that modifier, or move it below Sinew's.",
    ),
    "shape-not-unique": (
        '"{name}" cannot be taken back through "{modifier}": {count} vertices may have come from several places.',
        "Keep the shape in another pose, or change the weights there.",
    ),
    "shape-not-reached": (
        '"{name}" cannot be taken back through the modifier "{modifier}", which bends more than bones do.',
        "Apply that modifier, or move it below Sinew's.",
    ),
    "live-not-kept": (
        'The bake of "{name}" is no live run that was kept.',
        "Press Live, then Keep, and bake at Final while that take plays.",
    ),
    "live-hand-left-out": (
        'The take has all that the hand did, but the scene "{name}" has not: {what}.',
        "Key it by hand where a bake is to repeat it.",
    ),
    "live-hand-kept": (
        'What the hand did is in the scene "{name}" now, and a bake repeats it: {what}.',
        "Edit or delete these where a bake is to do otherwise.",
    ),
    "live-kept-as-preview": (
        'The take of "{name}" has Preview Tets, as the run had them, so Preview is chosen below Simulate.',
        "Press Bake at Final to repeat the run with the final ones.",
    ),
    "live-end-moved": (
        'The scene "{name}" ended at frame {before} and now ends at {last}, where the take does.',
        "Set End back in the timeline where less is to be rendered.",
    ),
    "live-keep-folder": (
        'The folder in the field Cache of the scene "{name}" has a bake, which stays.',
        "Empty the field, or name another folder, and press Keep again.",
    ),
    "live-acts-later": (
        '{what} of "{name}" has changed, which the live run reads at its beginning alone.',
        "Stop, and press Live again.",
    ),
    "live-collider-vertices-change": (
        'The collider "{name}" has {now} vertices instead of {first}, so it keeps its last shape.',
        "Stop, and press Live again.",
    ),
    "live-not-running": ("Nothing runs live that could be grabbed.", "Press Live first."),
    "bake-protected": ('The bake of the scene "{name}" is locked.', "Turn off the lock beside Delete Bake first."),
    "nothing-to-attach": (
        'No mesh of the scene "{name}" has the name of a body in {path}.',
        "Check the cache, or the names of the objects.",
    ),
}
