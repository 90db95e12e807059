# SPDX-License-Identifier: GPL-3.0-or-later
"""What can be wrong with the method by which a body resists."""

TEXTS: dict[str, tuple[str, str]] = {
    "method-unknown": (
        '"{name}" is to resist by a method called "{method}", which does not exist.',
        "Choose one of {known}.",
    ),
    "method-switch": (
        '{switch} of the method of "{name}" is to be "{value}", which does not exist.',
        "Choose one of {known}.",
    ),
    "method-combined": (
        '"{name}" resists by the method {method}, which {feature} is not made for.',
        "Choose another Method for it under Advanced, such as Polar, or turn {feature} off.",
    ),
    # bodies that are stepped by one solve
    "step-astray": (
        "A step of frame {frame} went astray: at its end it leaves {residual:.2g} times all that acts in it.",
        "Use more substeps per frame, raise Max Iterations, or turn off One Newton Step of bodies whose Method is "
        "Green or Hybrid.",
    ),
    "steps-astray": (
        "{count} steps did not converge, and at worst, in frame {frame}, one leaves {residual:.2g} times all that acts "
        "in it: what moves there comes out of nothing.",
        "Use more substeps per frame, raise Max Iterations, or turn off One Newton Step of bodies whose Method is "
        "Green or Hybrid.",
    ),
}
