# SPDX-License-Identifier: GPL-3.0-or-later
"""Contact of flesh in equilibrium: with colliders, with other flesh, and with itself.

    contact = make_flesh_contact(part, surfaces, built.contact_points, built.colliders, self_contact)   # once
    penalty = contact_penalty(contact, tracks, time, x)                          # per solve, which begins at x
    result = solve_in_contact(problem, x, penalty, …)                             # in place of `equilibrium.solve`

Source: S07, section 3.10. There is no friction.
"""

from .contact_penalty import ContactPenalty, contact_penalty, contact_penalty_at_poses
from .flesh_contact import FleshContact, make_flesh_contact
from .flesh_surface import RenderSurface
from .penalty_solve import ContactEquilibrium, solve_in_contact

__all__ = [
    "FleshContact",
    "ContactEquilibrium",
    "RenderSurface",
    "ContactPenalty",
    "contact_penalty",
    "contact_penalty_at_poses",
    "make_flesh_contact",
    "solve_in_contact",
]
