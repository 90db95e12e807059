# SPDX-License-Identifier: GPL-3.0-or-later
"""The numbers behind sentences, in the field's terms: kind → what was measured, filled with `str.format`.

The window shows them as tooltips, the command line behind the sentence.
"""

MEASUREMENTS: dict[str, str] = {
    "contacts-unsettled": "In {count} steps the contact solve did not converge: some contacts still switched between "
    "sticking, sliding and separating",
    "steps-not-converged": "The largest relative residual is {residual:.2g}",
    "steps-astray": "At worst, the unbalanced force is {residual:.2g} times the applied force",
    "poses-not-converged": "The largest residual is {residual:.2g}",
    "collapses": "The pressure of its own weight on its base is {times} times its Stiffness (ρ g H / E)",
    "hangs-far": "Where it is thickest, the pressure of its own weight is {times} times its Stiffness (ρ g H / E)",
    "mesh-open": "Inside is where the winding number of its surface is above one half",
}
