# SPDX-License-Identifier: GPL-3.0-or-later
"""What can be wrong with a mesh, its tets, or a file of them."""

TEXTS: dict[str, tuple[str, str]] = {
    # meshes as they come in
    "mesh-empty": ('"{name}" has no faces.', "Give it at least one face."),
    "mesh-not-finite": ('"{name}" has {count} vertices whose coordinates are not numbers.', "Delete or repair them."),
    "mesh-index": ('A face of "{name}" asks for vertex {index} of {count}.', "Export the mesh again."),
    "mesh-too-large": (
        '"{name}" has a coordinate of {coordinate} m; {limit} m is the most.',
        "Check its unit, or scale it down.",
    ),
    "mesh-too-small": ('"{name}" is {size} m long; {limit} m is the least.', "Check its unit, or scale it up."),
    "mesh-far": (
        '"{name}" is too far from the origin for results in float32, which are therefore relative to {x}, {y}, 0.',
        "Add these coordinates to the results where they are needed.",
    ),
    "mesh-too-far": (
        '"{name}" is {size} m long and {distance} m from the origin, where its coordinates have too few digits.',
        "Move it nearer to the origin.",
    ),
    # tets
    "mesh-flat": ('"{name}" has no extent: its faces have no area.', "Give it faces with an area."),
    "no-inside": (
        '"{name}" is too open or too flat to have an inside.',
        "Choose Robust under Tets, which covers its faces, close it, or give it thickness (Solidify).",
    ),
    "nothing-inside": (
        'The tets of "{name}" are too large: none fits inside.',
        "Choose a Tet Size of {thickness} m or less, Robust under Tets, or more thickness (Solidify).",
    ),
    "tet-size-too-large": (
        'The tets of "{name}" would be {size} m long, larger than the object ({longest} m).',
        "Choose a smaller Tet Size or more Resolution Divisions.",
    ),
    "too-many-refined": (
        '"{name}" would get {count} tets by {levels} Refinements, which need {needed} of memory; {limit} is free.',
        "Choose fewer Refinements under Advanced, or a larger tet size.",
    ),
    "too-many-tets": (
        '"{name}" would get about {count} tets of {tet_size} m, which need {needed} of memory; {limit} is free.',
        "Choose a tet size of {fitting_size} m or more.",
    ),
    # mesh files
    "file-format": ("{path} is of no kind that can be used here.", "Give a file of one of these: {wanted}."),
    "file-unreadable": ("{path} cannot be read: {problem}.", "Check the path, or export the mesh again."),
    "blend-not-written": (
        "{path} could not be written: {problem}.",
        "What was baked stays: make room or choose another place, then run sinew attach with the cache folder.",
    ),
    "file-unwritable": ("{path} cannot be written: {problem}.", "Choose another place."),
    "file-gmsh-1": (
        "{path} is of Gmsh's format 1, which is too old.",
        "Save it in format 4.1: gmsh {path} -save -format msh41 -o NEW.msh.",
    ),
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
    "tets-doubled": (
        'The file of tets of "{name}" had {count} of them twice; one of each was kept.',
        "Nothing has to be done.",
    ),
    "tets-twice": ('{count} tets of "{name}" are there twice.', "Export the mesh again, each tet once."),
    "tets-elsewhere": (
        'The mesh of "{name}" and its tets hardly meet: it is {extent} m long and reaches {distance} m out of them; '
        "they are {tets_extent} m long.",
        "Check the unit and the origin of the file of tets, which is read in the object's own space.",
    ),
    "tets-without-outside": ("The tets of {path} have no outside.", "Export them again, each once."),
    "tets-no-file": ('"{name}" has no file of tets.', "Choose one as File in the panel Tets, or another Method."),
    "tets-file": ('"{name}" gets no tets: {problem}.', "{advice}."),
    "tets-without-volume": ('All tets of "{name}" are flat.', "Export the mesh again, or let Sinew make the tets."),
    # nodes that are held, and where an equilibrium is sought from
    "pins-arrays": (
        "{path} does not hold the arrays nodes, k whole numbers, and positions, k times 3 numbers.",
        "Write it with numpy.savez(path, nodes=..., positions=...).",
    ),
    "pins-none": ("{path} holds no node, so there is nothing that keeps the body in place.", "Hold at least one node."),
    "pins-outside": ("{path} holds node {node}, but the mesh has nodes 0 to {last}.", "Check which mesh it is for."),
    "pins-twice": ("{path} holds node {node} more than once.", "Name each node once."),
    "pins-not-finite": ("{path} has {count} positions that are not numbers.", "Check how it was made."),
    "pins-unused": ("{path} holds only points that no tet uses.", "Check which mesh it is for."),
    "pins-piece": (
        "A piece of {path} with {count} nodes, such as node {node}, is held nowhere.",
        "Hold nodes of every piece, or leave the piece out.",
    ),
    "start-unknown": (
        'There is no start "{start}".',
        "Choose rest, point, plane, mirror, or scatter:K with K above 0, such as scatter:10.",
    ),
}
