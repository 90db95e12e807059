# SPDX-License-Identifier: GPL-3.0-or-later
"""The operator that shows the cracks of a brittle body at one hit, before a bake. Blender goes on meanwhile."""

from __future__ import annotations

import bpy
import numpy as np
from bpy.props import FloatProperty

from ..baking import crack_preview, undo_step
from ..baking.addon_session import session
from ..baking.crack_search import CrackSearch, FoundCracks
from ..objects import roles
from ..panels.text_rows import count_text
from .error_reporting import reporting_errors
from .modal_timer import ModalTimerOperator

CRACKS_SUFFIX = " Cracks"
CRACKS_PROPERTY = "sinew_cracks_of"  # of a preview: the name of its body
LINE_COLOR = (1.0, 0.25, 0.05, 1.0)


def cracks_of(obj: bpy.types.Object) -> list[bpy.types.Object]:
    """Returns the objects that show the cracks of a body."""
    return [each for each in bpy.data.objects if each.get(CRACKS_PROPERTY) == obj.name and each.parent == obj]


def show_cracks(context: bpy.types.Context, obj: bpy.types.Object, found: FoundCracks) -> bpy.types.Object | None:
    """Shows where cracks come to the surface of their body, or all of their edges where none does, as lines.

    They take the place of those before. Returns their object; None: there are no cracks.
    """
    before = cracks_of(obj)
    data = [each.data for each in before]
    bpy.data.batch_remove([*before, *(each for each in data if each.users <= 1)])
    if not len(found.triangles):
        return None
    mesh = bpy.data.meshes.new(obj.name + CRACKS_SUFFIX)
    faces = [] if len(found.outline) else found.triangles.tolist()
    used, edges = np.unique(found.outline, return_inverse=True)
    vertices = found.vertices if faces else found.vertices[used]
    mesh.from_pydata(vertices.tolist(), edges.reshape(-1, 2).tolist(), faces)
    made = bpy.data.objects.new(mesh.name, mesh)
    made[CRACKS_PROPERTY] = obj.name
    made.parent = obj
    made.display_type, made.show_in_front, made.color = "WIRE", True, LINE_COLOR
    made.hide_render, made.hide_select = True, True
    for collection in obj.users_collection or [context.scene.collection]:
        collection.objects.link(made)
    return made


class SINEW_OT_preview_cracks(ModalTimerOperator, bpy.types.Operator):
    """Show the cracks of the active brittle body if it hit hard ground at the point nearest to the 3D cursor.

    Nothing is baked. Esc stops; undo, or deleting the lines, removes them
    """

    bl_idname = "sinew.preview_cracks"
    bl_label = "Preview Cracks"
    bl_options = {"UNDO"}

    speed: FloatProperty(
        name="Speed (m/s)",
        description="Speed at which it hits the ground [m/s]. A fall of 1 m gives 4.4 m/s",
        default=5.0,
        min=0.001,
        soft_max=50.0,
        step=10,
    )
    _search: CrackSearch | None = None

    @classmethod
    def poll(cls, context: bpy.types.Context) -> bool:
        """Only for brittle bodies, one at a time."""
        obj = context.object
        if obj is None or not roles.is_brittle(obj) or not obj.sinew.use_fracture:
            cls.poll_message_set("Choose a body of the Type Brittle")
            return False
        if session.crack_search is not None:
            cls.poll_message_set("Cracks are being found. Esc stops")
            return False
        return True

    def invoke(self, context: bpy.types.Context, event: bpy.types.Event) -> set[str]:
        """Asks for the speed."""
        if bpy.app.background:
            return self.execute(context)
        return context.window_manager.invoke_props_dialog(self, confirm_text="Find Cracks")

    @reporting_errors
    def execute(self, context: bpy.types.Context) -> set[str]:
        """Begins, and stays to listen for Escape; without a window it waits for the end."""
        obj = context.object
        place = obj.matrix_world.inverted_safe() @ context.scene.cursor.location
        self._search = crack_preview.start(context.scene, obj, np.array(place), self.speed)
        if bpy.app.background:
            crack_preview.wait(self._search)
            return self._end(context, self._search)
        self.listen(context)
        self._tell(context)
        return {"RUNNING_MODAL"}

    @reporting_errors
    def modal(self, context: bpy.types.Context, event: bpy.types.Event) -> set[str]:
        """Lets everything through but Escape."""
        search = self._search
        if search is None or session.crack_search is not search:
            self.cancel(context)  # another file is open
            return {"CANCELLED"}
        if event.type == "ESC" and event.value == "PRESS":
            self.cancel(context)
            self.report({"INFO"}, "Cancelled")
            return {"CANCELLED"}
        if event.type != "TIMER":
            return {"PASS_THROUGH"}
        if search.poll():
            self._tell(context)
            return {"PASS_THROUGH"}
        # what is shown is part of an undo step of the whole file, which other modes do not have
        if not undo_step.can_push():
            return {"PASS_THROUGH"}
        return self._end(context, search)

    def cancel(self, context: bpy.types.Context) -> None:
        """Stops: the artist says so, the window was closed, or another file is open."""
        super().cancel(context)
        if context.workspace is not None:
            context.workspace.status_text_set(None)
        if self._search is not None and session.crack_search is self._search:
            session.end_crack_search()

    def _tell(self, context: bpy.types.Context) -> None:
        """Says in the status bar how far it is."""
        if self._search is not None and context.workspace is not None:
            so_far = count_text(self._search.piece_count, "piece")
            context.workspace.status_text_set(f"Preview Cracks: {so_far} so far.   Esc  Stop")

    def _end(self, context: bpy.types.Context, search: CrackSearch) -> set[str]:
        """Shows the cracks that a search has found, and says into how many pieces the body breaks."""
        try:
            found = search.result()
        finally:
            self.cancel(context)
        obj = next((each for each in context.scene.objects if each.session_uid == search.object_uid), None)
        if obj is None:
            return {"CANCELLED"}
        made, speed = show_cracks(context, obj, found), search.speed
        if made is None:
            self.report({"INFO"}, f'"{obj.name}" bears a hit at {speed:.3g} m/s there')
        elif found.piece_count < 2:
            self.report({"INFO"}, f'"{obj.name}" cracks at {speed:.3g} m/s, and stays in one piece')
        else:
            dust = f" and {found.dust_count:,} of dust" if found.dust_count else ""
            pieces = count_text(found.piece_count, "piece")
            self.report({"INFO"}, f'"{obj.name}" breaks into {pieces}{dust} at {speed:.3g} m/s')
        return {"FINISHED"}


CLASSES = (SINEW_OT_preview_cracks,)
