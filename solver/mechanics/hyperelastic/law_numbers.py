# SPDX-License-Identifier: GPL-3.0-or-later
"""Numbers of the hyperelastic laws and of their extensions below the compression threshold."""

from __future__ import annotations

NEO_HOOKEAN = 0
MOONEY_RIVLIN = 1
STABLE_NEO_HOOKEAN = 2
COROTATED = 3
STVK = 4
HYBRID = 5
# not a material: an auxiliary law that untangles inverted tets, see `rotation_weight` of energy_densities.py
WEIGHTED_COROTATED = 6

LAWS = {
    "neo-hookean": NEO_HOOKEAN,
    "mooney-rivlin": MOONEY_RIVLIN,
    "stable-neo-hookean": STABLE_NEO_HOOKEAN,
    "corotated": COROTATED,
    "stvk": STVK,
    "hybrid": HYBRID,
}
# those that have no stress at J ≤ 0 and are extended; the others have an energy everywhere
EXTENDED_LAWS = ("neo-hookean", "mooney-rivlin")

# What holds below the compression threshold t:
#   none      the law itself; neo-Hookean and Mooney–Rivlin have no energy there unless J > 0
#   constant  stress and its differential at stretches that are raised to t (S07, section 3.9). No energy belongs to it.
#   linear    functions of the volume ratio J go on below t³ as parabolas: their derivative is linear there
#   smooth    the same as cubics: stress has two continuous derivatives
# The last two have an energy for every F, and change only laws whose energy has a logarithm or a root of J.
NO_EXTENSION = 0
CONSTANT_EXTENSION = 1
LINEAR_EXTENSION = 2
SMOOTH_EXTENSION = 3

EXTENSIONS = {
    None: NO_EXTENSION,
    "constant": CONSTANT_EXTENSION,
    "linear": LINEAR_EXTENSION,
    "smooth": SMOOTH_EXTENSION,
}

EXTENSION_STRETCH = 0.7  # 0.5 to 0.9 all bring bodies back from a random scatter

# Number of a law → what its own parameter is where a body does not say: of Mooney–Rivlin, the share of μ before the
# second invariant. Source: S07, section 2.5: muscle has 30 kPa before the first and 10 kPa before the second.
DEFAULT_PARAMETERS = {MOONEY_RIVLIN: 0.25}
