# SPDX-License-Identifier: GPL-3.0-or-later
"""Contact of flesh at rest: with colliders, with other flesh, and with itself.

    contact = make_flesh_contact(part, surfaces, built.contact_points, built.colliders, self_contact)   # at build
    touching = contact.at(tracks, time, x)                                       # per solve; x: where it begins
    found = solve_in_contact(model, law, held, x, touching, …)                   # in place of newton.solve

Source: S07, section 3.10. Friction is not part of it.
"""

from .contact_terms import ContactPenalty
from .flesh_contact import FleshContact, make_flesh_contact
from .penalty_solve import ContactEquilibrium, solve_in_contact
from .render_surface import RenderSurface

__all__ = [
    "FleshContact",
    "ContactEquilibrium",
    "RenderSurface",
    "ContactPenalty",
    "make_flesh_contact",
    "solve_in_contact",
]
