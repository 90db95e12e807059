# SPDX-License-Identifier: GPL-3.0-or-later
"""The words of every failure: kind → (one sentence, the next step), filled with `str.format`.

Sentences name the object in quotes. Kinds are grouped by the part that raises them; keep the groups.
"""

TEXTS: dict[str, tuple[str, str]] = {
    # anywhere
    "internal": ("Sinew met an error of its own: {problem}.", "Please report it with the log at {log}."),
    "cancelled": ("Cancelled.", "What was baked so far stays; Simulate goes on from there."),
    # meshes as they come in
    "mesh-empty": ('"{name}" has no faces.', "Give it at least one face."),
    "mesh-not-finite": ('"{name}" has {count} vertices whose coordinates are not numbers.', "Delete or repair them."),
    "mesh-index": ('A face of "{name}" asks for vertex {index} of {count}.', "Export the mesh again."),
    # settings
    "setting-out-of-range": ('{setting} of "{name}" is {value}; it has to be {range}.', "Change the setting."),
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
}
