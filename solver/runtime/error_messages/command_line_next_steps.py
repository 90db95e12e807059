# SPDX-License-Identifier: GPL-3.0-or-later
"""Next steps for the command line: they name options where the ones of Blender's window name buttons and fields.

The same details fill them as fill the sentence of their kind.
"""

# of commands that take a mesh and options: drop, tetrahedralize, equilibrium
MESH_COMMAND_NEXT_STEPS: dict[str, str] = {
    "cancelled": "Run the command again.",
    "mesh-flat": "Give it faces with an area.",
    "no-inside": "Add --method robust, which covers its faces, close the mesh, or give it thickness.",
    "nothing-inside": "Choose more --divisions or --method robust, or give the mesh thickness.",
    "no-tets": "Choose more --divisions.",
    "tet-size-too-large": "Choose a smaller --tet-size or more --divisions.",
    "too-many-tets": "Choose fewer --divisions, for tets of {fitting_size} m or more.",
    "part-lost": "Choose {times} times the --divisions, or --method robust.",
    "parts-lost": "Choose {times} times the --divisions, or --method robust.",
    "part-without-inside": "Add --method robust, or give it thickness.",
    "parts-without-inside": "Add --method robust, or give them thickness.",
    "pieces-apart": "Choose more --divisions, or --method robust.",
    "parts-joined": "Choose more --divisions to separate them.",
    "volume-changed": "Choose more --divisions for a closer fit.",
    "soup-covered": "Merge its vertices and recalculate its normals to have it filled, or add --method robust.",
    "volume-multiplied": "Choose more --divisions, or give it thickness. Otherwise it is as heavy and stiff as its "
    "tets.",
    "tets-dropped": "Check whether a part comes loose.",
    "tets-inverted": "Repair the tet file.",
    "cut-open": "Close its holes and merge its doubles, or add --elastic.",
    "cut-uncovered": "Give its surface instead of tets, or add --elastic.",
    "cut-tets": "Give its surface instead of tets, or add --elastic.",
    "breaks-open": "Close it, or add --elastic.",
    "breaks-inside-out": "Turn its faces outwards, or add --elastic.",
    "pieces-at-limit": "Choose a larger --breaking-stress.",
    "body-in-collider": "Choose a larger --height.",
    "setting-out-of-range": "Change the option.",
    "step-not-converged": "Choose more --substeps.",
    "steps-not-converged": "Choose more --substeps.",
    "contacts-unsettled": "If the body trembles or sinks in a little, choose more --substeps.",
    "inverted-after-steps": "If the shape looks wrong, choose more --substeps or a stiffer --preset.",
    "solve-not-finite": "Choose more --substeps.",
    "exact-contact-intersects": "Move them apart, or choose Fast contact; `moves` of the error's details say how far.",
    "most-steps-unsettled": "Choose more --substeps, or a lower --youngs-modulus.",
    "collapses": "Choose --youngs-modulus {pascals}, or --simulated-scale {scale}.",
    "step-gains-energy": "Choose more --substeps, or a lower --youngs-modulus.",
}
# of commands that take a cache folder: simulate, info, finish
CACHE_COMMAND_NEXT_STEPS: dict[str, str] = {
    "cancelled": "The baked frames stay. To continue, run sinew simulate with --resume.",
    "cache-missing": "Check the path, or run sinew simulate there first.",
    "cache-no-resume": "Bake again from the start, without --resume.",
    "scene-unreadable": "Check the path, or export the scene from Blender again.",
    "disk-full": "Free some space, then run sinew simulate with --resume.",
}

# of `cut`, which takes tets and the surface in them
CUT_NEXT_STEPS: dict[str, str] = {
    "cut-open": "Close its holes and merge its doubles.",
    "cut-uncovered": "Give tets that hold it, as of tetrahedralize --method robust.",
    "cut-tets": "Repair the tet file.",
}
