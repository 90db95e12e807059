# SPDX-License-Identifier: GPL-3.0-or-later
"""The bodies of a scene that are flesh: what they are made of, and how they follow a pose.

flesh = make_flesh(scene, model)
"""

from .flesh_bodies import FleshBodies, FleshPart, make_flesh
from .flesh_contact_setup import with_contact

__all__ = ["FleshBodies", "FleshPart", "make_flesh", "with_contact"]
