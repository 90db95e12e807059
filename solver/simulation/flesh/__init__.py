# SPDX-License-Identifier: GPL-3.0-or-later
"""The bodies of a scene that are flesh: what they are made of, and how they follow a pose.

model = apply_painted_material(scene, meshes, model)
flesh = make_flesh(scene, model)
"""

from .flesh_bodies import FleshBodies, FleshPart, make_flesh
from .flesh_contact_setup import with_contact
from .painted_material import apply_painted_material

__all__ = ["FleshBodies", "FleshPart", "make_flesh", "with_contact", "apply_painted_material"]
