# SPDX-License-Identifier: GPL-3.0-or-later
"""Messages about fracture, and about the meshes of broken bodies."""

TEXTS: dict[str, tuple[str, str]] = {
    # fracture
    "strength-all-zero": (
        'The painted breaking stress of "{name}" is 0 everywhere, so the body would break into single tets.',
        "Raise weights of its Breaking Stress Group, or clear the field.",
    ),
    "nothing-breakable": (
        'All of "{name}" is unbreakable.',
        "Remove vertices from its Unbreakable Group, or turn Fracture off.",
    ),
    "crack-guides-elsewhere": (
        'No crack guide of "{name}" runs between its tets: {guides}.',
        "Move the guides into the body, make its tets smaller, or clear Crack Guide and Guide Collection.",
    ),
    "pieces-at-limit": (
        '"{name}" reached its limit of {count} pieces at frame {frame} and breaks no further.',
        "Raise Max Pieces, or Breaking Stress.",
    ),
    # cutting the render mesh
    "cut-open": (
        'Sinew cannot cut "{name}" into closed pieces: {edges} of its edges are open or have more than two faces.',
        "Remesh a copy of it (Voxel Remesh), or close its holes and merge its doubles.",
    ),
    "cut-uncovered": (
        'Sinew cannot cut "{name}" into closed pieces: {count} of its triangles lie outside its tets.',
        "Choose Robust under Tets.",
    ),
    "cut-tets": (
        'Sinew cannot cut "{name}" into closed pieces: some of its tets overlap or have no volume.',
        "Choose Robust under Tets.",
    ),
    "cut-not-closed": (
        'Sinew could not close the pieces of "{name}".',
        "Please report this with the file.",
    ),
    # solver/simulation/cutting/cut_support.py
    "cutting-combined": (
        '"{name}" cannot be cut yet: it has {feature}.',
        "Turn {feature} off, or leave the body uncut.",
    ),
    "cutting-beside": (
        '"{name}" cannot be cut yet in a scene in which "{other}" has {feature}.',
        "Turn {feature} off there, or leave the body uncut.",
    ),
    "cutting-contact": (
        '"{name}" cannot be cut yet: it may touch itself, another body, or a collider that deforms or is sharp.',
        "Turn Self Collision off, and take what it may touch out of its Collides With.",
    ),
    # results of broken bodies
    "breaks-open": (
        'Sinew cannot break "{name}" into closed pieces: it has {defects}.',
        "Press Make Closed Copy, close the mesh by hand, or turn Fracture off.",
    ),
    "breaks-inside-out": (
        'The faces of "{name}" point inwards, so it has no volume that could break.',
        "Flip them (Edit Mode, Mesh > Normals > Recalculate Outside).",
    ),
    "shape-keys-of-pieces": (
        '"{name}" is in separate pieces, which cannot share the shape keys of one mesh.',
        "Turn Separate Pieces off, convert, and turn it on again.",
    ),
    "cracks-shown-early": (
        'The modifier "{modifier}" of "{name}" changes the broken mesh, so cracks may show before they open.',
        "Move it above Sinew's modifier.",
    ),
    "swapped-at-crack": (
        'The material "{material}" of "{name}" lets light in, so cracks would show before they open.',
        "Sinew shows the unbroken body until the first crack opens. Later cracks still show early.",
    ),
    "copy-not-closed": (
        'A voxel remesh of {size} does not close "{name}".',
        "Choose another Voxel Size, or close the mesh by hand (Mesh > Clean Up > Fill Holes).",
    ),
    "result-other-mesh": (
        'Sinew cannot make the broken mesh of "{name}", because its faces have changed since the bake.',
        "Undo the change to its mesh or modifiers, or simulate again.",
    ),
}
