# SPDX-License-Identifier: GPL-3.0-or-later
"""Lets a scene have the digest that it had before it had features that came later, where it does not use these."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from ..attachment import drop_unused_fields
from ..contact import drop_unused_fields_of_colliders
from ..force_fields import FieldWeights
from .former_defaults import drop_later_defaults
from .former_flesh_paint import write_former_flesh_paint

if TYPE_CHECKING:
    from ..scene import Scene


FIRST_FIELDS = {"bodies", "colliders", "settings", "heat_sources", "bones", "ignored_pairs"}  # of scenes of Sinew 0.2


def drop_unused_fields_of_scene(scene: Scene, tree: dict[str, Any], arrays: dict[str, np.ndarray]) -> None:
    """Takes out of the tree and the arrays of a scene what bakes of before did not have, where it says nothing."""
    if scene.settings.linear_solver == "auto":
        del tree["settings"]["linear_solver"]  # caches of Sinew 0.2 do not have it
    if scene.settings.preroll_tolerance is None:
        del tree["settings"]["preroll_tolerance"]
    for name in [name for name in tree if name not in FIRST_FIELDS and not getattr(scene, name)]:
        del tree[name]  # earlier bakes did not have it
    for body, own in zip(scene.bodies, tree["bodies"], strict=True):
        if body.flesh is not None and not (body.flesh.keeps_volume and scene.is_loose_flesh(body)):
            del own["flesh"]["keeps_volume"]  # changes nothing, and earlier bakes did not have it
        if body.field_weights == FieldWeights():
            del own["field_weights"]
        write_former_flesh_paint(own, arrays)
        if body.meshing.fine is None:
            del own["meshing"]["fine"]
        for name in ("goal", "pressure", "stretch_limit", "muscle", "start", "seams", "surface_detail"):
            if getattr(body, name) is None:
                del own[name]
        drop_unused_fields(body.attachments, own["attachments"], arrays)
        for name in ("attachments", "hooks", "bindings", "cap_vertices", "wrap_vertices"):
            if not getattr(body, name):
                del own[name]
        if not len(body.sheet.strands):
            del arrays[own["sheet"].pop("strands")["array"]]
        if not any(body.rigid_damping):
            del own["rigid_damping"]
    for joint, own in zip(scene.joints, tree.get("joints", ()), strict=True):
        if not len(joint.second_turn):
            del arrays[own.pop("second_turn")["array"]]
    drop_unused_fields_of_colliders(scene.colliders, tree["colliders"], arrays)
    drop_later_defaults(scene, tree, arrays)
    for own in tree["bodies"]:
        if own["fracture"] is not None and not own["fracture"]["guides"]:
            del own["fracture"]["guides"]  # earlier bakes did not have it
        for name in ("material_paint", "rest_scale", "sheet"):
            if not own[name]:
                del own[name]
        if "muscle" in own and not any(own["muscle"]["fibres"].values()):
            del own["muscle"]["fibres"]  # earlier bakes did not have it
