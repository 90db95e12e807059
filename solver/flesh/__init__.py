# SPDX-License-Identifier: GPL-3.0-or-later
"""The bodies of a scene that are flesh: what they are made of, and how they follow a pose.

model = with_painted_flesh(scene, meshes, model)
flesh = make_flesh(scene, model)
"""

from .bodies import FleshBodies, FleshPart, make_flesh
from .contact import with_contact
from .painted_moduli import with_painted_flesh

__all__ = ["FleshBodies", "FleshPart", "make_flesh", "with_contact", "with_painted_flesh"]
