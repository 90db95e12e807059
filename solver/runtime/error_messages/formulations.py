# SPDX-License-Identifier: GPL-3.0-or-later
"""Messages about the formulation of a body's elasticity."""

TEXTS: dict[str, tuple[str, str]] = {
    "method-unknown": (
        'The formulation of "{name}" is "{method}", which does not exist.',
        "Choose one of {known}.",
    ),
    "method-switch": (
        '{switch} of "{name}" is "{value}", which does not exist.',
        "Choose one of {known}.",
    ),
    "method-combined": (
        '"{name}" uses the formulation {method}, which does not support {feature}.',
        "Choose another one for it under Advanced, such as Polar, or turn {feature} off.",
    ),
}
