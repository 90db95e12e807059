# SPDX-License-Identifier: GPL-3.0-or-later
"""Messages about what activates muscles: heads, sources, keys and controls."""

TEXTS: dict[str, tuple[str, str]] = {
    # solver/simulation/features/muscle_units.py
    "muscle-head-unpainted": (
        'The head {number} of the muscle "{name}" has no weights.',
        "Choose a Head Group (panel Activation), or remove the head.",
    ),
    "muscle-head-empty": (
        'No tet of the muscle "{name}" belongs to its head {number}: other heads are painted more everywhere.',
        "Paint its group stronger, remove the head, or choose smaller tets (panel Tets).",
    ),
    # addon/export/activation_inputs.py, muscle_path.py, activation_sampler.py
    "activation-object-elsewhere": (
        '"{other}", which the activation of "{name}" reads, is not in the scene "{scene}".',
        "Link it into the scene, or choose another object (panel Activation).",
    ),
    "pose-rig-none": (
        'The activation of "{name}" comes from poses, but there is no rig.',
        "Choose an armature as Rig (panel Activation).",
    ),
    "poses-none": (
        'The activation of "{name}" comes from poses, but none is stored.',
        "Pose the rig and press Store Pose (panel Activation).",
    ),
    "poses-same": (
        'The poses "{one}" and "{other}" of "{name}" are the same, so their activations contradict each other.',
        "Remove one of them (panel Activation).",
    ),
    "pose-without-joint": (
        'The pose "{pose}" of "{name}" lacks the bone "{joint}", which the first pose has.',
        "Choose the pose, bring the rig into it and press Update Pose (panel Activation).",
    ),
    "pose-bone-gone": (
        'The rig "{rig}" has no bone "{bone}", which the poses of "{name}" turn.',
        "Choose the Rig that was posed, or store the poses again (panel Activation).",
    ),
    "path-without-length": (
        'The path of the muscle "{name}" has no length: its origin is where its insertion is.',
        "Paint Origin Group and Insertion Group at either end (panel Muscle).",
    ),
    "path-vertices-gone": (
        '"{other}" has lost vertices that the path of "{name}" follows.',
        "Remove the modifier or animation that changes its number of vertices.",
    ),
    "data-file-none": (
        'The activation of "{name}" comes from data, but no file is chosen.',
        "Choose a File (panel Activation).",
    ),
    "flexed-shape-gone": (
        '"{name}" has no shape key "{key}", which is its Flexed Shape.',
        "Choose another one, or clear the field (panel Activation).",
    ),
    "flexed-shape-on": (
        'The Flexed Shape "{key}" of "{name}" has the value {value:.3g} in the rest pose, where it has to be 0.',
        "Set the value of the shape key to 0: Sinew mixes it in as the muscle gets active.",
    ),
    "flexed-shape-not-relative": (
        'The Flexed Shape "{key}" of "{name}" changes nothing: it is the basis, or the shape keys are absolute.',
        "Choose a relative shape key (panel Activation).",
    ),
    # addon/operators
    "response-points-same": (
        'Two Response Points of "{name}" are at the share {share:.3g}, so the curve would have two values there.',
        "Move one of them, or remove it (panel Activation).",
    ),
    "source-not-length": (
        'The activation of "{name}" does not come from its length.',
        "Choose By Length as its Source (panel Activation).",
    ),
    "path-still": (
        'The path of the muscle "{name}" stays as long as it is in all frames.',
        "Animate the bones that hold its ends, or choose other vertices as Origin Group and Insertion Group.",
    ),
    "pose-bones-none": (
        'No bone of "{rig}" is selected.',
        "Select bones in Pose Mode, or choose Between the Ends.",
    ),
    "no-activation-source": (
        "No selected muscle has a source of activation.",
        "Choose a Source (panel Activation).",
    ),
    "activation-driven": (
        'A driver sets the Activation of "{name}", so keyframes would change nothing.',
        "Delete the driver first (context menu of Activation).",
    ),
    "activation-in-nla": (
        'NLA strips animate the Activation of "{name}", so keyframes would blend with them.',
        "Mute these strips (NLA editor), or delete the curve of Activation in their actions.",
    ),
    "action-blended": (
        'The NLA of "{name}" blends or silences its action, so keyframes would not be its Activation.',
        "End Solo, and set Blending to Replace and Influence to 1 (NLA editor, Action).",
    ),
    "activation-animated": (
        'Keyframes or a driver set the Activation of "{name}", which the flex control would override.',
        "Clear them first (context menu of Activation).",
    ),
    "no-muscles-selected": (
        "No muscle is selected.",
        "Select flesh whose Muscle is switched on.",
    ),
    "flex-rig-none": (
        "None of the selected muscles has a rig.",
        "Select the armature together with the muscles.",
    ),
    "row-linked-whole": (
        'The file that "{name}" is linked from contains this row, so you cannot remove it here.',
        "Remove it in that file, or take away what it does here: set its activation to 0, or clear its object.",
    ),
    # solver/scene/activation/time_series_files.py
    "data-file": (
        "{path}, which activates a muscle, could not be read: {problem}.",
        "Choose another File (panel Activation).",
    ),
    "data-header": (
        '{path} has no line "endheader", which ends the header of a .sto or .mot file.',
        "Export it again, or save the rows as .csv.",
    ),
    "data-column": (
        '{path} has no column "{column}": it has {columns}.',
        "Choose one of these as Column (panel Activation).",
    ),
    "data-row": (
        "Line {line} of {path} has {count} values, but there are {wanted} columns.",
        "Correct the line, or export the file again.",
    ),
    "data-cell": (
        'Line {line} of {path} has "{cell}" where a number has to be.',
        "Correct the line, or export the file again.",
    ),
    "data-time-falls": (
        "Line {line} of {path} is at {at}, before the line above it at {before}.",
        "Sort the rows by time.",
    ),
    "data-no-rows": (
        "{path} has names of columns, but no rows.",
        "Export the file again.",
    ),
}
