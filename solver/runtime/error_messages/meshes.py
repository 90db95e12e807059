# SPDX-License-Identifier: GPL-3.0-or-later
"""Messages about meshes, tets and their files."""

TEXTS: dict[str, tuple[str, str]] = {
    # surface meshes
    "mesh-empty": ('"{name}" has no faces.', "Give it at least one face."),
    "mesh-not-finite": ('"{name}" has {count} vertices whose coordinates are not numbers.', "Delete or repair them."),
    "mesh-index": (
        'A face of "{name}" refers to vertex {index}, but the mesh has {count} vertices.',
        "Export the mesh again.",
    ),
    "mesh-too-large": (
        '"{name}" has a coordinate of {coordinate} m; the limit is {limit} m.',
        "Check its unit, or scale it down.",
    ),
    "mesh-too-small": ('"{name}" is {size} m long; the limit is {limit} m.', "Check its unit, or scale it up."),
    "mesh-far": (
        '"{name}" is too far from the origin for float32, so its results are relative to {x}, {y}, 0.',
        "Add these coordinates to the results where you need them.",
    ),
    "mesh-too-far": (
        '"{name}" is {size} m long and {distance} m from the origin, where its coordinates have too few digits.',
        "Move it nearer to the origin.",
    ),
    "edge-too-long": (
        'An edge of "{name}" is {length} m long, far longer than its tets of {tet_size} m.',
        "Check the position of its vertices, or choose larger tets.",
    ),
    # tets
    "mesh-flat": ('"{name}" has no extent: its faces have no area.', "Give it faces with an area."),
    "no-inside": (
        '"{name}" is too open or too flat to have an inside.',
        "Choose Robust under Tets, which covers its faces, close the mesh, or give it thickness (Solidify).",
    ),
    "nothing-inside": (
        'The tets of "{name}" are too large: none fits inside.',
        "Choose a Tet Size of {thickness} m or less, more Divisions, Robust under Tets, or more thickness (Solidify).",
    ),
    "tet-size-too-large": (
        'The tets of "{name}" would be {size} m long, larger than the object ({longest} m).',
        "Choose a smaller Tet Size or more Divisions.",
    ),
    "too-many-refined": (
        '"{name}" would get {count} tets with {levels} Refinements, which need {needed} of memory; {limit} is free.',
        "Choose fewer Refinements under Advanced, or larger tets (panel Tets).",
    ),
    "too-many-tets": (
        '"{name}" would get about {count} tets of {tet_size} m, which need {needed} of memory; {limit} is free.',
        "Choose a Tet Size of {fitting_size} m or more, or fewer Divisions.",
    ),
    # mesh files
    "file-format": ("Sinew cannot read files of the type of {path}.", "Use a file of one of these types: {wanted}."),
    "file-unreadable": ("Sinew cannot read {path}: {problem}.", "Check the path, or export the mesh again."),
    "blend-not-written": (
        "Sinew could not write {path}: {problem}.",
        "The baked frames stay. Free some space or choose another path, then run sinew attach with the cache folder.",
    ),
    "file-unwritable": ("Sinew cannot write {path}: {problem}.", "Choose another path."),
    "file-gmsh-1": (
        "{path} has Gmsh format 1, which is too old.",
        "Save it in format 4.1: gmsh {path} -save -format msh41 -o NEW.msh.",
    ),
    "file-library": (
        "Sinew needs {library} to read {path}, but it is not installed.",
        "Install it: pip install {library}.",
    ),
    "file-without-tets": ("{path} contains no tets.", "Export the volume mesh, not its surface."),
    "tets-turned": (
        'The tet file of "{name}" had {count} inverted tets. Sinew reoriented them.',
        "You need not do anything.",
    ),
    "tets-dropped": (
        'The tet file of "{name}" had {count} tets without volume. Sinew left them out.',
        "If a part comes loose, check the tets with Viewport Display.",
    ),
    "tets-doubled": (
        'The tet file of "{name}" had {count} tets twice. Sinew kept one of each.',
        "You need not do anything.",
    ),
    "tets-twice": ('"{name}" has {count} tets twice.', "Export the mesh again, with each tet once."),
    "tets-elsewhere": (
        'The mesh of "{name}" hardly overlaps its tets: it is {extent} m long and extends {distance} m out of them; '
        "the tets are {tets_extent} m long.",
        "Check the unit and the origin of the tet file, which Sinew reads in the object's local space.",
    ),
    "tets-without-outside": ("The tets of {path} have no outer faces.", "Export the mesh again, with each tet once."),
    "tets-no-file": (
        '"{name}" has no tet file.',
        "Choose a File in the panel Tets, or choose Smooth or Robust.",
    ),
    "tets-file": ('"{name}" gets no tets: {problem}.', "{advice}."),
    "tets-without-volume": ('All tets of "{name}" are flat.', "Export the mesh again, or let Sinew make the tets."),
    # fixed nodes and the start of an equilibrium
    "pins-arrays": (
        "{path} needs two arrays: nodes with k whole numbers, and positions with k times 3 numbers.",
        "Write it with numpy.savez(path, nodes=..., positions=...).",
    ),
    "pins-none": ("{path} fixes no node, so nothing holds the body in place.", "Fix at least one node."),
    "pins-outside": (
        "{path} fixes node {node}, but the mesh has nodes 0 to {last}.",
        "Check which mesh it belongs to.",
    ),
    "pins-twice": ("{path} fixes node {node} more than once.", "List each node once."),
    "pins-not-finite": ("{path} has {count} positions that are not numbers.", "Check how you made it."),
    "pins-unused": ("{path} fixes only points that no tet uses.", "Check which mesh it belongs to."),
    "pins-piece": (
        "A piece of {path} with {count} nodes, such as node {node}, has no fixed node.",
        "Fix nodes of every piece, or leave the piece out.",
    ),
    "start-unknown": (
        'There is no start "{start}".',
        "Choose rest, point, plane, mirror, or scatter:K with K above 0, such as scatter:10.",
    ),
}
