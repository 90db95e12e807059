# SPDX-License-Identifier: GPL-3.0-or-later
"""Next steps on the command line, where those of Blender's window name what is not there.

They are filled with the same details as the words of the kind.
"""

# of commands that take a mesh and options: drop, tetrahedralize, equilibrium
MESH_COMMAND_NEXT_STEPS: dict[str, str] = {
    "cancelled": "Run the command again.",
    "mesh-flat": "Give it faces with an area.",
    "no-inside": "Add --method robust, which covers its faces, close it, or give it thickness.",
    "nothing-inside": "Choose more --divisions, --method robust, or give it thickness.",
    "no-tets": "Choose more --divisions.",
    "tet-size-too-large": "Choose a smaller --tet-size or more --divisions.",
    "too-many-tets": "Choose fewer --divisions, for tets of {fitting_size} m or more.",
    "part-lost": "Choose {times} times the --divisions, or --method robust.",
    "parts-lost": "Choose {times} times the --divisions, or --method robust.",
    "part-without-inside": "Add --method robust, or give it thickness.",
    "parts-without-inside": "Add --method robust, or give them thickness.",
    "pieces-apart": "Choose more --divisions, or --method robust.",
    "parts-joined": "Choose more --divisions to keep them apart.",
    "volume-changed": "Choose more --divisions for a closer fit.",
    "volume-multiplied": "Choose more --divisions, or give it thickness; else it is as heavy and stiff as its tets.",
    "tets-dropped": "Check whether something comes loose.",
    "tets-inverted": "Repair the file of tets.",
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
    "inverted-after-steps": "Choose more --substeps or a stiffer --preset if the shape looks wrong.",
    "solve-not-finite": "Choose more --substeps.",
    "step-gains-energy": "Choose more --substeps, or a lower --youngs-modulus.",
}
# of commands that take a cache folder: simulate, info, finish
CACHE_COMMAND_NEXT_STEPS: dict[str, str] = {
    "cancelled": "What was baked so far stays; sinew simulate with --resume goes on from there.",
    "cache-missing": "Check the path, or run sinew simulate there first.",
    "cache-no-resume": "Bake it again from the start, without --resume.",
    "scene-unreadable": "Check the path, or export the scene from Blender again.",
    "disk-full": "Free some space, then run sinew simulate with --resume.",
}
