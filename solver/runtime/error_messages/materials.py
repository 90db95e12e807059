# SPDX-License-Identifier: GPL-3.0-or-later
"""Messages about elastic laws, plastic flow and heat."""

TEXTS: dict[str, tuple[str, str]] = {
    # hyperelastic laws
    "hyperelastic-law": (
        'There is no elastic law called "{law}".',
        "Choose one of {laws}.",
    ),
    "hyperelastic-extension": (
        'There is no extension "{extension}" below the compression threshold {threshold}.',
        "Choose constant, linear, smooth or none, and a threshold above 0 and up to 1.",
    ),
    # self-weight
    "collapses": (
        '"{name}" is too soft for its size: it collapses under its own weight.',
        "Raise Stiffness to {stiffness}, or set Simulated Size to {size}.",
    ),
    # keyframes of materials
    "animated-value": (
        'At {time} the animation of {setting} of "{name}" gives {value}; it has to be {range}.',
        "Check its keyframes or driver at that time.",
    ),
    # plastic flow and creep
    "plastic-law": (
        'The plastic law of "{name}" is "{law}", which does not exist.',
        "Choose multiplicative or additive.",
    ),
    "paint-without-vertices": (
        'The values of {setting} do not fit the vertices of "{name}".',
        "Choose another vertex group, or clear the field.",
    ),
    "plastic-not-finite": (
        'At {time} the animation of {setting} of "{name}" gives a value that is not a number.',
        "Check its keyframes or driver at that time.",
    ),
    # heat and melting
    "melts-never": (
        '"{name}" cannot melt: its Melting Point is {melting_point} °C, but nothing around it is hotter than '
        "{hottest} °C.",
        "Add a heat source, raise Air Temperature, or turn Heat off.",
    ),
    "heat-source-small": (
        'The Radius of the heat source "{name}" ({radius} m) is smaller than the tets of "{body}" ({size} m), '
        "so it may pass between their nodes.",
        "Choose a larger Radius, or smaller tets (panel Tets).",
    ),
    "heat-source-idle": ('The heat source "{name}" has no body to heat.', "Turn Heat on for a body."),
    "heat-source-flat": ('A scale of the heat source "{name}" is zero.', "Set a scale other than zero."),
    "heat-source-not-finite": (
        'At {time} the animation of the heat source "{name}" gives a position or temperature that is not a number.',
        "Check its animation and its parents at that time.",
    ),
    "air-not-finite": (
        "At {time} the animation of Air Temperature gives a value that is not a number.",
        "Check its keyframes or driver at that time.",
    ),
    "heat-not-finite": (
        'At {time} the temperatures of "{name}" are no longer numbers.',
        "Check its Conductivity and Heat Capacity, and the heat sources near it.",
    ),
    "softening-not-rising": (
        'The temperatures in the Softening Factors of "{name}" do not increase from row to row.',
        "Sort the rows.",
    ),
    # attributes for shaders
    "attribute-without-source": (
        '{attribute} of "{name}" is 0, because {what} is off.',
        "Turn {what} on, or do not write that attribute.",
    ),
}
