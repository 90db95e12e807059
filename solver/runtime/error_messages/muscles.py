# SPDX-License-Identifier: GPL-3.0-or-later
"""Messages about muscles and their fibres."""

TEXTS: dict[str, tuple[str, str]] = {
    # solver/simulation/features/muscles.py
    "muscle-not-flesh": (
        '"{name}" is a muscle, but no flesh.',
        "Choose Follow Pose or Jiggle as its Type, or switch Muscle off.",
    ),
    # solver/mechanics/muscle/fibres/muscle_region.py
    "muscle-end-missing": (
        'The {end} of the muscle "{name}" touches none of its nodes, so its fibres have no direction.',
        "Paint more of it or move the bone closer, or choose smaller tets (panel Tets).",
    ),
    "muscle-ends-overlap": (
        'Origin and insertion of the muscle "{name}" share {count} of its nodes.',
        "Paint them apart, or choose smaller tets (panel Tets).",
    ),
    "muscle-piece-unattached": (
        'A piece of the muscle "{name}" touches no {end}: {count} tets in {pieces} pieces have no fibre direction.',
        "Join the pieces or extend the {end} to each of them, or choose smaller tets (panel Tets).",
    ),
    # solver/mechanics/muscle/fibres/harmonic_coordinate.py, direction_tensors.py
    "fibres-unconverged": (
        'The linear solve for the fibres of "{name}" did not converge.',
        "Let Sinew make the tets, or repair flat ones.",
    ),
    # solver/mechanics/muscle/fibres/lattice_fibres.py
    "fibre-lattice-too-small": (
        '{count} of {all} tets of "{name}" lie outside the lattice "{lattice}", which gives its fibres.',
        "Scale or move the points of the lattice until it surrounds the muscle.",
    ),
    "fibre-lattice-folded": (
        'The lattice "{lattice}" is flat or folds over itself at {count} tets of "{name}".',
        "Move its points apart there.",
    ),
    "fibre-lattice-flat": (
        'The lattice "{lattice}" has only one point along {axis}, the fibre direction of "{name}".',
        "Raise its Resolution along {axis}, or choose another axis.",
    ),
    # solver/mechanics/muscle/fibres/curve_fibres.py
    "fibre-curves-empty": (
        'No curve that gives the fibres of "{name}" has a length.',
        "Draw at least one strand along the fibres.",
    ),
    # solver/mechanics/muscle/fibres/build_fibres.py
    "fibre-curves-far": (
        'The curves that give the fibres of "{name}" are {distance} m away from it.',
        "Move them onto the muscle, or choose other curves.",
    ),
    "tendon-without-muscle": (
        'The tendons leave nothing of "{name}" to contract: its fibres are at most {length} m long.',
        "Lower Origin Tendon or Insertion Tendon (panel Muscle).",
    ),
    "pennation-without-aponeurosis": (
        '"{name}" has a pennation angle, but no painted aponeurosis towards which fibres could turn.',
        "Paint tendon inside the muscle, or set the angle to zero.",
    ),
}
