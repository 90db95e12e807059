# SPDX-License-Identifier: GPL-3.0-or-later
"""The operator that makes the Wrap of muscles and bones."""

from __future__ import annotations

import uuid
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import bpy
import numpy as np
from bpy.props import FloatProperty

from ...solver.runtime.errors import BadInput, SinewError
from ..baking.child_process import child_command, fallback_command
from ..baking.error_messages import error_text
from ..baking.wrap_process import WrapRequest, find_wrap
from ..export.rest_frame_meshes import modeled_meshes
from ..objects import new_wraps, role_checks, roles
from ..properties.role_definitions import WRAP
from .error_reporting import reporting_errors

VOXELS_PER_WIDTH = 6.0
SMOOTHING = 0.25  # as a share of the Width
WIDTH_SHARE = 0.05  # of the longest side of all meshes, where no Width is chosen
# of the Width, where no Offset is chosen: smoothing sinks into bulges, and a place inside of a muscle slides on its
# faces from edge to edge
OFFSET_SHARE = 0.07


@dataclass(frozen=True)
class WrapSizes:
    """How a Wrap is made [Blender units].

    Attributes:
        width: Of grooves that are bridged; 0: by the size of what is wrapped.
        voxel_size: Of its faces; 0: by the Width.
        smoothing: As a share of the Width.
        offset: Distance outside of the meshes; 0: by the Width.
    """

    width: float = 0.0
    voxel_size: float = 0.0
    smoothing: float = SMOOTHING
    offset: float = 0.0


def wrap_objects(
    context: bpy.types.Context, wrapped: Sequence[bpy.types.Object], earlier: bpy.types.Object | None, sizes: WrapSizes
) -> tuple[bpy.types.Object, list[SinewError]]:
    """Returns a Wrap around objects, attached to them, and what is doubtful about it.

    Args:
        context: The collection that is active gets it.
        wrapped: Muscles, bone meshes and others.
        earlier: A Wrap that gets the surface; None: a new object does.
        sizes: How it is made.

    Raises:
        BadInput: The meshes cannot be wrapped so.
        SolveFailed: No process could be started, or it crashed.
    """
    scene = context.scene
    unit, meshes = scene.unit_settings.scale_length, modeled_meshes(scene, wrapped)
    longest = float(np.ptp(np.concatenate([vertices for vertices, _ in meshes]), axis=0).max())
    width = sizes.width * unit or WIDTH_SHARE * longest
    voxel = sizes.voxel_size * unit or width / VOXELS_PER_WIDTH
    offset = sizes.offset * unit or OFFSET_SHARE * width
    request = WrapRequest(meshes, width, offset, sizes.smoothing * width, voxel)
    folder = Path(bpy.app.tempdir) / f"sinew-wrap-{uuid.uuid4().hex[:12]}"
    words = request.arguments(folder)
    found = find_wrap(request, folder, [child_command(words), fallback_command(words, bpy.app.binary_path)])
    made = new_wraps.make_wrap(context, earlier, found.vertices / unit, found.quads)
    new_wraps.attach_wrap(made, wrapped, found.nearest, width / unit)
    doubts = []
    if found.part_count > 1:
        doubts.append(SinewError("wrap-in-parts", name=made.name, count=found.part_count))
    if found.tunnel_count:
        doubts.append(SinewError("wrap-with-tunnels", name=made.name, count=found.tunnel_count))
    return made, doubts


class SINEW_OT_make_wrap(bpy.types.Operator):
    """Make one smooth closed surface around the selected muscles and bone meshes, to which fat holds.

    A Wrap that is selected with them gets the new surface
    """

    bl_idname = "sinew.make_wrap"
    bl_label = "Make Wrap"
    bl_options = {"REGISTER", "UNDO"}

    width: FloatProperty(
        name="Width",
        description="Grooves that are narrower than this are bridged. 0: a twentieth of the longest side",
        default=0.0,
        min=0.0,
        soft_max=0.5,
        precision=4,
        step=1,
        subtype="DISTANCE",
        unit="LENGTH",
    )
    voxel_size: FloatProperty(
        name="Voxel Size",
        description="Size of the faces of the Wrap. Smaller follows the meshes closer. 0: a sixth of the Width",
        default=0.0,
        min=0.0,
        soft_max=0.1,
        precision=4,
        step=1,
        subtype="DISTANCE",
        unit="LENGTH",
    )
    smoothing: FloatProperty(
        name="Smoothing",
        description="How far creases are filled, as a share of the Width",
        default=SMOOTHING,
        min=0.0,
        max=2.0,
        subtype="FACTOR",
    )
    offset: FloatProperty(
        name="Offset",
        description="How far the Wrap is outside of the meshes. 0: a fourteenth of the Width, so that it is in none",
        default=0.0,
        min=0.0,
        soft_max=0.05,
        precision=4,
        step=1,
        subtype="DISTANCE",
        unit="LENGTH",
    )

    @reporting_errors
    def execute(self, context: bpy.types.Context) -> set[str]:
        """Makes the Wrap, or gives the selected one a new surface, and selects it."""
        chosen = [obj for obj in context.selected_objects if obj.type == "MESH"]
        earlier = next((obj for obj in chosen if roles.has_role(obj, WRAP)), None)
        wrapped = [obj for obj in chosen if not roles.has_role(obj, WRAP)]
        if not wrapped:
            raise BadInput("wrap-of-nothing")
        if earlier is not None:
            role_checks.check_changeable(earlier)
        sizes = WrapSizes(self.width, self.voxel_size, self.smoothing, self.offset)
        made, doubts = wrap_objects(context, wrapped, earlier, sizes)
        bpy.ops.object.select_all(action="DESELECT")
        made.select_set(True)
        context.view_layer.objects.active = made
        for doubt in doubts:
            self.report({"WARNING"}, error_text(doubt))
        if not doubts:
            self.report({"INFO"}, f'Made "{made.name}". Choose it as the Wrap of the fat (panel Layers)')
        return {"FINISHED"}


CLASSES = (SINEW_OT_make_wrap,)
