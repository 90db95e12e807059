# SPDX-License-Identifier: GPL-3.0-or-later
"""The words of every failure: kind → (one sentence, the next step), filled with `str.format`.

Sentences name the object in quotes. Kinds are grouped by the part that raises them; keep the groups.
"""

TEXTS: dict[str, tuple[str, str]] = {
    # anywhere
    "internal": ("Sinew met an error of its own: {problem}.", "Please report it, with {log}."),
    "cancelled": ("Cancelled.", "What was baked so far stays; Simulate goes on from there."),
    # meshes as they come in
    "mesh-empty": ('"{name}" has no faces.', "Give it at least one face."),
    "mesh-not-finite": ('"{name}" has {count} vertices whose coordinates are not numbers.', "Delete or repair them."),
    "mesh-index": ('A face of "{name}" asks for vertex {index} of {count}.', "Export the mesh again."),
    # tets
    "mesh-flat": ('"{name}" has no extent: its faces have no area.', "Give it faces with an area."),
    "no-inside": (
        '"{name}" is too open or too flat to have an inside.',
        "Choose the method Robust, which covers its faces, close it, or give it thickness (Solidify).",
    ),
    "nothing-inside": (
        'The tets of "{name}" are too large: none fits inside.',
        "Choose a Tet Size of {thickness} m or less, the method Robust, or more thickness (Solidify).",
    ),
    "tet-size-too-large": (
        'The tets of "{name}" would be {size} m long, larger than the object ({longest} m).',
        "Choose a smaller Tet Size or more Resolution Divisions.",
    ),
    "too-many-tets": (
        '"{name}" would get about {count} tets of {tet_size} m, which need {needed} of memory; {limit} is free.',
        "Choose a tet size of {fitting_size} m or more.",
    ),
    # results of bodies that broke
    "breaks-open": (
        '"{name}" cannot be kept closed when it breaks: it has {defects}.',
        "Press Make Closed Copy, close it by hand, or turn Fracture off.",
    ),
    "breaks-inside-out": (
        '"{name}" is turned inside out: its faces look inwards, so there is nothing to break.',
        "Turn them round (Edit Mode, Mesh > Normals > Recalculate Outside).",
    ),
    "shape-keys-of-pieces": (
        '"{name}" is shown in separate pieces, which shape keys of one mesh cannot be.',
        "Turn Separate Pieces off, convert, and turn it on again.",
    ),
    "cracks-shown-early": (
        'Modifier "{modifier}" of "{name}" works on the broken mesh, so cracks may show before they open.',
        "Move it above Sinew's modifier.",
    ),
    "swapped-at-crack": (
        'Light gets inside "{name}" through its material "{material}", so cracks would show before they open.',
        "The body itself is shown until the first one opens; later ones show early.",
    ),
    "copy-not-closed": (
        'Voxels of {size} do not close "{name}".',
        "Choose another Voxel Size, or close the mesh by hand (Mesh > Clean Up > Fill Holes).",
    ),
    "result-other-mesh": (
        'The broken mesh of "{name}" cannot be made: its faces are not those that were baked.',
        "Undo the change to its mesh or modifiers, or simulate again.",
    ),
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
        'The modifier "{modifier}" gives "{name}" {first} vertices at the first frame and {now} at frame {frame}.',
        "Move it below Sinew's modifier, or take its animation off.",
    ),
    "not-baked": ('"{name}" has no baked frames.', "Press Simulate first."),
    "gravity-scaled": (
        'Gravity in "{name}" is {gravity} m/s², since a Blender unit is {scale} m.',
        "Set 9.81 m/s² in Scene Properties > Gravity for motion at the scene's true size.",
    ),
    "collapses": (
        '"{name}" is too soft for its size: its weight presses on its foot with {times} times its stiffness.',
        "Raise Stiffness to {stiffness} Pa, or set Simulated Size to {size}.",
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
    "collider-deforms": (
        'The collider "{name}" changes its shape at frame {frame}, but colliders can only move and turn.',
        "Use an object that moves rigidly, parented to it for example.",
    ),
    "heat-source-deforms": (
        'The heat source "{name}" changes its shape at frame {frame}, but heat sources can only move and turn.',
        "Use an object that moves rigidly, parented to it for example.",
    ),
    # mesh files
    "file-format": ("{path} is of no kind that can be used here.", "Give a file of one of these: {wanted}."),
    "file-unreadable": ("{path} cannot be read: {problem}.", "Check the path, or export the mesh again."),
    "file-unwritable": ("{path} cannot be written: {problem}.", "Choose another place."),
    "file-library": ("{path} needs {library}, which is not installed.", "Install it: pip install {library}."),
    "file-without-tets": ("{path} holds no tets.", "Export the volume mesh, not its surface."),
    "tets-turned": (
        'The file of tets of "{name}" had {count} of them inside out; they were turned.',
        "Nothing has to be done.",
    ),
    "tets-dropped": (
        'The file of tets of "{name}" had {count} of them without volume; they were left out.',
        "Look at Viewport Display if something comes loose.",
    ),
    "tets-elsewhere": (
        'The mesh of "{name}" and its tets hardly meet: it is {extent} m long and reaches {distance} m out of them; '
        "they are {tets_extent} m long.",
        "Check the unit and the origin of the file of tets, which is read in the object's own space.",
    ),
    "tets-without-outside": ("The tets of {path} have no outside.", "Export them again, each once."),
    "tets-no-file": ('"{name}" has no file of tets.', "Choose one as File in the panel Tets, or another Method."),
    "tets-file": ('"{name}" gets no tets: {problem}.', "{advice}."),
    "tets-without-volume": ('All tets of "{name}" are flat.', "Export the mesh again, or let Sinew make the tets."),
    # settings
    "setting-out-of-range": ('{setting} of "{name}" is {value}; it has to be {range}.', "Change the setting."),
    # plastic flow and creep
    "plastic-law": (
        '"{name}" is to flow by a law called "{law}", which does not exist.',
        "Choose multiplicative or additive.",
    ),
    "paint-without-vertices": (
        'What is painted on "{name}" for {setting} does not fit its vertices.',
        "Choose another vertex group, or clear the field.",
    ),
    "plastic-not-finite": (
        'The animation of {setting} of "{name}" gives a value at {time} s that is not a number.',
        "Look at its keyframes or driver at that time.",
    ),
    # heat and melting
    "melts-never": (
        'Nothing melts "{name}": it melts at {melting_point} °C, and nothing around it is hotter than {hottest} °C.',
        "Add a heat source, raise Air Temperature, or turn Heat off.",
    ),
    "heat-source-small": (
        'The radius of the heat source "{name}", {radius} m, is smaller than the tets of "{body}" ({size} m), '
        "so it may pass between their corners.",
        "Choose a larger radius or a smaller tet size.",
    ),
    "heat-source-idle": ('The heat source "{name}" has no body to heat.', "Turn Heat on for one."),
    "heat-source-flat": ('The heat source "{name}" has a scale of zero along one axis.', "Give it a scale."),
    "heat-source-not-finite": (
        'The animation of the heat source "{name}" gives a place or temperature at {time} s that is not a number.',
        "Look at its animation and its parents at that time.",
    ),
    "air-not-finite": (
        "The animation of Air Temperature gives a value at {time} s that is not a number.",
        "Look at its keyframes or driver at that time.",
    ),
    "heat-not-finite": (
        'The temperatures of "{name}" at {time} s are no longer numbers.',
        "Look at its Conductivity and Heat Capacity, and at the heat sources near it.",
    ),
    "softening-not-rising": ('The Softening Factors of "{name}" do not rise in temperature.', "Sort the rows."),
    # scene files and tracks
    "scene-format": ("The scene at {path} has format {found}; this Sinew reads {wanted}.", "Bake it again."),
    "scene-unreadable": ("The scene at {path} cannot be read: {problem}.", "Bake it again."),
    "track-missing": ('The animated input "{name}" cannot be read: {problem}.', "Bake it again."),
    "track-late": ('The animated input "{name}" was not written up to {time} s.', "Bake it again."),
    # tets and the solve
    "no-tets": ('"{name}" has no tets inside.', "Choose a smaller tet size."),
    "tets-inverted": (
        '{count} tets of "{name}" are flat or inside out at rest.',
        "Let Sinew make the tets, or repair them.",
    ),
    "solve-not-finite": (
        "The simulation broke down at {time:.3f} s: positions are no longer numbers.",
        "Use more substeps per frame, or softer pins and slower colliders.",
    ),
    # building a simulation
    "nothing-to-simulate": ("The scene has no bodies.", "Make a mesh a body first."),
    "attach-vertices": (
        '"{name}" has {count} vertices where Sinew\'s modifier is; the cache has {wanted}.',
        "Give it the modifiers above Sinew's that it was baked with.",
    ),
    "samples-do-not-divide": (
        "{samples} Samples per Frame do not divide {substeps} Substeps per Frame.",
        "Choose numbers that do, such as {substeps} and {substeps}.",
    ),
    "pins-everything": (
        'Pins of weight 1 hold all of "{name}", so nothing is left to simulate.',
        "Take vertices out of its Pin Group, lower their weights, or choose a smaller tet size.",
    ),
    "pins-without-vertices": ('The pins of "{name}" name vertices that it does not have.', "Bake it again."),
    "tets-without-nodes": ('The tets of "{name}" name nodes that it does not have.', "Repair the file of tets."),
    "collider-flat": (
        'The collider "{name}" has a scale of zero along one axis, or coordinates that are not numbers.',
        "Give it a scale.",
    ),
    "collider-changes-size": (
        'The collider "{name}" changes its scale or shear at {time} s, but colliders can only move and turn.',
        "Take the animation off its scale.",
    ),
    "body-in-collider": (
        '"{name}" starts {depth} m deep inside the collider "{collider}".',
        "Move one of them, so that they do not touch at the first frame.",
    ),
    "collider-in-body": (
        'The collider "{collider}" starts inside "{name}".',
        "Move one of them; to hold a body from within, use a Pin Group.",
    ),
    "part-lost": (
        '{part} of "{name}" is thinner than its tets and got none.',
        "Choose a tet size of {size} m or less ({times} times the Resolution Divisions), or the method Robust.",
    ),
    "part-without-inside": (
        '{part} of "{name}" has no thickness and got no tets.',
        "Choose the method Robust, or give it thickness (Solidify).",
    ),
    "pieces-apart": (
        '"{name}" is thinner than its tets in places, so it falls into {count} pieces.',
        "Choose a smaller tet size, or the method Robust.",
    ),
    "parts-joined": (
        '{count} tets of "{name}" join surfaces that lie far apart along the mesh, such as lips or fingers.',
        "Choose a smaller tet size to keep them apart; Viewport Display shows them.",
    ),
    "mesh-open": (
        '"{name}" has holes; what is inside was decided by how far the surface winds around it.',
        "Close the holes if the tets are not where you want them.",
    ),
    "volume-changed": (
        'The tets of "{name}" fill {percent} % of its volume.',
        "Choose a smaller tet size for a closer fit.",
    ),
    "gravity-in-shape-free": (
        'Nothing holds "{name}" at the first frame, so it falls in spite of Gravity Already in Shape.',
        "Pin it, or let it touch a collider at the first frame.",
    ),
    "targets-not-finite": (
        'The animation of the pins of "{name}" gives coordinates at {time} s that are not numbers.',
        "Look at its modifiers and shape keys at that time.",
    ),
    "step-not-converged": (
        "A step of frame {frame} stopped at a relative residual of {residual:.2g}, above the tolerance.",
        "Raise Max Iterations, lower Volume Preservation, or use more substeps per frame.",
    ),
    "steps-not-converged": (
        "{count} steps stopped at Max Iterations, above the Tolerance: at worst with a relative residual of "
        "{residual:.2g} in frame {frame}.",
        "Raise Max Iterations, lower Volume Preservation, or use more substeps per frame.",
    ),
    "contacts-unsettled": (
        "{count} steps went on before their contacts had settled.",
        "Use more substeps per frame if bodies sink in or tremble.",
    ),
    "inverted-after-steps": (
        "Up to {count} tets were inside out after a step.",
        "Use more substeps per frame or a stiffer material if the shape looks wrong.",
    ),
    # attributes for shaders
    "attribute-without-source": ('{attribute} of "{name}" is 0: {what} is off.', "Turn {what} on, or leave it out."),
    # breaking
    "strength-all-zero": (
        'The paint of the strength of "{name}" is 0 everywhere, so it would fall to dust.',
        "Paint the group under Breaking Stress, or clear the field.",
    ),
    "nothing-breakable": (
        'All of "{name}" is unbreakable.',
        "Take vertices out of the group Unbreakable, or turn Fracture off.",
    ),
    "pieces-at-limit": (
        '"{name}" has fallen into {count} pieces at frame {frame}, as many as it may; it breaks no further.',
        "Raise Most Pieces, or Breaking Stress.",
    ),
    # Blender's window
    "nothing-selected": ("Nothing is selected.", "Select a mesh object first."),
    "not-a-mesh": ('"{name}" is not a mesh but a {type}.', "Select a mesh, or convert it: Object > Convert > Mesh."),
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
    "no-bodies": ('The scene "{name}" has no bodies.', "Select a mesh and press Make Body."),
    "no-such-object": ('There is no object "{name}" in the scene "{scene}".', "Check the name."),
    "no-such-scene": ('There is no scene "{name}" in {path}.', "Check the name."),
    "not-a-body": ('"{name}" is not a body.', "Make it one first, with Make Body."),
    "bake-running": ('The scene "{name}" is being baked.', "Wait for it, or press Cancel."),
    "bake-protected": ('The bake of the scene "{name}" is protected.', "Turn the lock beside Delete Bake off first."),
    "nothing-to-attach": (
        'No mesh of the scene "{name}" has the name of a body in {path}.',
        "Check the cache, or the names of the objects.",
    ),
    # cutting the render mesh
    "cut-open": (
        '"{name}" cannot be kept closed when it breaks: it has {edges} open or wrong edges.',
        "Remesh a copy of it (Voxel Remesh), or close its holes and merge its doubles.",
    ),
    "cut-uncovered": (
        '{count} triangles of "{name}" leave its tets, so it cannot be kept closed when it breaks.',
        "Choose the method Robust.",
    ),
    "cut-tets": (
        'Tets of "{name}" overlap or have no volume, so it cannot be kept closed when it breaks.',
        "Choose the method Robust.",
    ),
    "cut-not-closed": ('The cracks of "{name}" could not be closed.', "Show its tets, and report this with the file."),
    "frame-range-empty": ("The frame range {start} to {end} holds no frames.", "Set the end after the start."),
    "blend-unreadable": ("{path} cannot be opened: {problem}.", "Check the path, and that it is a .blend file."),
    "bake-not-moved": (
        "The bake could not be moved beside the file and stays in {path}, which a restart may empty: {problem}.",
        "Make room there, then save again.",
    ),
    "folder-in-use": ("{path} holds other files.", "Choose a folder of its own for the cache."),
    # the command line
    "no-such-preset": ('There is no preset "{name}".', "Choose one of {known}."),
    # the child process
    "child-not-started": (
        "The solver could not be started: {code}.",
        "Look at log.txt in the cache folder; installing Sinew again may help.",
    ),
    "child-silent": ("The solver said nothing for {seconds} s and was ended.", "Look at log.txt in the cache folder."),
    "child-crashed": (
        "The solver crashed {place}: {code}.",
        "What was baked so far stays: resume the bake, and report log.txt of the cache folder.",
    ),
    # the cache and its disk
    "cache-missing": ("There is no bake in {path}.", "Press Simulate, or choose another cache folder."),
    "cache-format": ("The bake in {path} has format {found}; this Sinew reads {wanted}.", "Bake it again."),
    "cache-unreadable": ("The bake in {path} cannot be read: {problem}.", "Delete it and bake again."),
    "cache-damaged": ("{file} of the bake in {path} is damaged: {problem}.", "Bake it again, or resume before it."),
    "cache-broken-body": (
        'In the bake in {path} "{name}" is in pieces at frame {frame}, but Fracture is off for it now.',
        "Turn Fracture on, resume from a frame before it broke, or simulate anew.",
    ),
    "cache-locked": (
        "Another Sinew is baking into {path}.",
        "Wait for it or cancel it, or choose another cache folder.",
    ),
    "cache-frame-missing": ("Frame {frame} of the bake in {path} is not there.", "Resume from an earlier frame."),
    "cache-other-shape": (
        "The bake in {path} has other bodies, vertices, first frame or frame rate.",
        "Bake it again from the start.",
    ),
    "cache-out-of-date": (
        "The bake in {path} was made with {what} that changed since.",
        "Bake it again, or accept the changes to resume with them (--accept-changes).",
    ),
    "cache-no-resume": ("The bake in {path} has no frame to resume from.", "Bake it again from the start."),
    "not-a-cache": ("{path} is not a Sinew cache, so nothing was deleted.", "Choose the folder of a bake."),
    "body-key": (
        'The key "{key}" of "{name}" cannot name a file, or is there twice.',
        "Use letters, digits, _ and -.",
    ),
    "disk-full": (
        "The disk of {path} is full; what was baked so far is safe.",
        "Free some space, then resume the bake.",
    ),
    "folder-read-only": ("{path} lies on a drive that cannot be written.", "Choose another cache folder."),
    "folder-not-allowed": ("Sinew is not allowed to write {path}.", "Change its permissions or choose another folder."),
    "folder-gone": (
        "{path} is not there any more ({problem}); what was baked so far is as safe as its drive.",
        "Connect the drive again, then resume the bake.",
    ),
    "disk-failed": ("The disk of {path} failed: {problem}.", "Check the drive, then resume the bake."),
}
