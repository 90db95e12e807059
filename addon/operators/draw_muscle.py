# SPDX-License-Identifier: GPL-3.0-or-later
"""Draw Muscle: click a bone, points on the way, and a bone; the wheel sets the width."""

from __future__ import annotations

import bpy
import numpy as np
from bpy.props import CollectionProperty, EnumProperty, FloatProperty, StringProperty
from mathutils import Matrix

from ...solver.runtime.errors import BadInput, SinewError
from ...solver.scene.settings.muscle_shape_settings import PROFILE
from ..baking.error_messages import error_text
from ..objects import drawn_muscles, muscle_obstacles, skeleton
from ..objects.drawn_muscles import MuscleDrawing
from ..overlays.muscle_preview import MusclePreview
from ..properties.muscle_shape_properties import SinewPathPoint
from .error_reporting import reporting_errors
from .selected_objects import active_mesh
from .viewport_picking import Pick, pick

WIDTH_STEP = 1.1  # per click of the wheel
DOUBLE_CLICK_PIXELS = 4
PROFILE_KEYS = {"B": "BELLY", "F": "FAN", "S": "STRAP"}
WIDER, NARROWER = {"WHEELUPMOUSE", "NUMPAD_PLUS", "EQUAL"}, {"WHEELDOWNMOUSE", "NUMPAD_MINUS", "MINUS"}
FIRST_WORDS = "Draw Muscle: click the bone of the origin   |   Esc: cancel"
WORDS = (
    "Click: point   |   Double click or Enter: end on a bone   |   Wheel: width   |   B, F, S: belly, fan, strap   |   "
    "Backspace: one point back   |   Esc: cancel"
)


class SINEW_OT_draw_muscle(bpy.types.Operator):
    """Draw a muscle: click a bone, points on the way, and double-click a bone. The wheel sets the width"""

    bl_idname = "sinew.draw_muscle"
    bl_label = "Draw Muscle"
    bl_options = {"REGISTER", "UNDO"}

    points: CollectionProperty(
        type=SinewPathPoint,
        name="Points",
        description="Locations in world space from origin to insertion",
        options={"HIDDEN"},
    )
    origin: StringProperty(name="Origin", description="Bone mesh, or armature, on which the muscle begins")
    origin_bone: StringProperty(name="Origin Bone", description="Bone of the armature on which the muscle begins")
    insertion: StringProperty(name="Insertion", description="Bone mesh, or armature, on which the muscle ends")
    insertion_bone: StringProperty(name="Insertion Bone", description="Bone of the armature on which the muscle ends")
    profile: EnumProperty(
        name=PROFILE.label,
        description=PROFILE.tooltip,
        items=[(choice.identifier, choice.label, choice.tooltip) for choice in PROFILE.choices],
        default=PROFILE.default,
    )
    width: FloatProperty(
        name="Width",
        description="Of the muscle where it is widest. 0: as suits its length",
        default=0.0,
        min=0.0,
        subtype="DISTANCE",
    )

    @classmethod
    def poll(cls, context: bpy.types.Context) -> bool:
        """Only in Object Mode and Pose Mode."""
        if context.mode not in {"OBJECT", "POSE"}:
            cls.poll_message_set("Leave Edit Mode")
            return False
        return True

    @reporting_errors
    def execute(self, context: bpy.types.Context) -> set[str]:
        """Makes the muscle through the given points."""
        bones = skeleton.skeleton_bones(context, set())
        ends = [_find_bone(bones, *names) for names in self._ends()]
        points = np.array([tuple(point.location) for point in self.points], np.float64).reshape(-1, 3)
        if len(points) < 2:
            raise BadInput("drawn-points-together")
        self.width = self.width or drawn_muscles.initial_width(points, self.profile)
        drawing = MuscleDrawing(ends[0], ends[1], points, self.profile, self.width)
        obj, doubts = drawn_muscles.new_muscle(context, drawing)
        if context.mode == "POSE":
            bpy.ops.object.mode_set(mode="OBJECT")
        for other in context.selected_objects:
            other.select_set(False)
        obj.select_set(True)
        context.view_layer.objects.active = obj
        for other in muscle_obstacles.open_obstacles(obj):
            self.report({"WARNING"}, error_text(SinewError("draw-obstacle-open", name=obj.name, other=other.name)))
        for doubt in doubts:
            self.report({"WARNING"}, error_text(doubt))
        if ends[0] == ends[1]:
            self.report({"WARNING"}, error_text(SinewError("muscle-one-bone", name=obj.name, bone=ends[0].name)))
        else:
            between = f"from {ends[0].name} to {ends[1].name}"
            self.report({"INFO"}, f'Made "{obj.name}" {between}. Key Activation in the panel Muscle, and simulate')
        return {"FINISHED"}

    @reporting_errors
    def invoke(self, context: bpy.types.Context, event: bpy.types.Event) -> set[str]:
        """Begins to draw."""
        if context.area is None or context.area.type != "VIEW_3D":
            raise BadInput("draw-outside-view")
        self._bones = skeleton.skeleton_bones(context, set())
        if len(self._bones) < 2:
            raise BadInput("muscle-no-bones", count=len(self._bones))
        self._picks: list[Pick] = []
        self._factor = 1.0
        self._last_press: tuple[int, int, Matrix] | None = None
        self._preview = MusclePreview(context)
        self._area = context.area
        self._hover(context, event)
        context.window_manager.modal_handler_add(self)
        return {"RUNNING_MODAL"}

    def modal(self, context: bpy.types.Context, event: bpy.types.Event) -> set[str]:
        """Adds points, sets width and profile, and makes the muscle in the end."""
        kind, is_press = event.type, event.value in {"PRESS", "DOUBLE_CLICK"}
        if kind == "MOUSEMOVE":
            self._hover(context, event)
            return {"PASS_THROUGH"}
        if kind in {"ESC", "RIGHTMOUSE"} and is_press:
            self._end()
            return {"CANCELLED"}
        if not is_press or event.ctrl or event.alt:
            is_release = kind == "LEFTMOUSE" and not is_press
            return {"RUNNING_MODAL"} if is_release else {"PASS_THROUGH"}
        if kind == "LEFTMOUSE":
            if not self._is_in_region(event):
                return {"PASS_THROUGH"}
            return self._finish(context) if self._is_second_click(event) else self._add_point(context, event)
        if kind in {"RET", "NUMPAD_ENTER"}:
            return self._finish(context)
        if kind == "BACK_SPACE":
            del self._picks[-1:]
            self._last_press = None
        elif kind in WIDER | NARROWER:
            self._factor *= WIDTH_STEP if kind in WIDER else 1.0 / WIDTH_STEP
        elif kind in PROFILE_KEYS:
            self.profile = PROFILE_KEYS[kind]
        else:
            return {"PASS_THROUGH"}
        self._hover(context, event)
        return {"RUNNING_MODAL"}

    def cancel(self, _context: bpy.types.Context) -> None:
        """Ends where Blender ends it, as when another file is opened."""
        self._end()

    def _ends(self) -> tuple[tuple[str, str], tuple[str, str]]:
        return (self.origin, self.origin_bone), (self.insertion, self.insertion_bone)

    def _is_in_region(self, event: bpy.types.Event) -> bool:
        """Whether the mouse is over the scene, and not over the sidebar or another editor."""
        regions = [r for r in self._area.regions if r.type != "WINDOW" and r.width > 1 and r.height > 1]
        own = next(r for r in self._area.regions if r.type == "WINDOW")

        def holds(region: bpy.types.Region) -> bool:
            x, y = event.mouse_x - region.x, event.mouse_y - region.y
            return 0 <= x < region.width and 0 <= y < region.height

        return holds(own) and not any(holds(region) for region in regions)

    def _is_second_click(self, event: bpy.types.Event) -> bool:
        """Whether a press is where the one before was, in the same view.

        It may come late: a point upon a point means nothing else, and while a slow view is drawn no time can be told.
        """
        last, view = self._last_press, self._area.spaces.active.region_3d.perspective_matrix.copy()
        self._last_press = (event.mouse_x, event.mouse_y, view)
        if last is None or last[2] != view or not self._picks:
            return False
        return max(abs(event.mouse_x - last[0]), abs(event.mouse_y - last[1])) <= DOUBLE_CLICK_PIXELS

    def _pick(self, context: bpy.types.Context, event: bpy.types.Event) -> Pick | None:
        own = next(r for r in self._area.regions if r.type == "WINDOW")
        mouse = (event.mouse_x - own.x, event.mouse_y - own.y)
        last = self._picks[-1].place if self._picks else None
        return pick(context, (own, self._area.spaces.active.region_3d), mouse, self._bones, last)

    def _add_point(self, context: bpy.types.Context, event: bpy.types.Event) -> set[str]:
        found = self._pick(context, event)
        if found is not None and (self._picks or found.bone is not None):
            self._picks.append(found)
        self._hover(context, event)
        return {"RUNNING_MODAL"}

    def _hover(self, context: bpy.types.Context, event: bpy.types.Event) -> None:
        """Shows the muscle up to the mouse, and what a click does."""
        found = self._pick(context, event)
        picks = [*self._picks, *([found] if found is not None else [])]
        bone = found.bone.name if found is not None and found.bone is not None else ""
        words = WORDS if self._picks else FIRST_WORDS
        self._area.header_text_set(f"{words}   |   On {bone}" if bone else words)
        drawing = self._drawing(picks) if self._picks else None
        self._preview.show(drawing, [each.place for each in picks], bool(bone))
        self._area.tag_redraw()

    def _drawing(self, picks: list[Pick]) -> MuscleDrawing | None:
        points = np.array([each.place for each in picks], np.float64)
        width = self._factor * drawn_muscles.initial_width(points, self.profile)
        first, last = picks[0].bone, picks[-1].bone or picks[0].bone
        if first is None or last is None or not width > 0.0:
            return None
        return MuscleDrawing(first, last, points, self.profile, width)

    def _finish(self, context: bpy.types.Context) -> set[str]:
        """Makes the muscle, if its last point is on a bone."""
        if len(self._picks) < 2 or self._picks[-1].bone is None:
            self.report({"WARNING"}, error_text(SinewError("draw-end-on-bone")))
            return {"RUNNING_MODAL"}
        drawing = self._drawing(self._picks)
        self._end()
        if drawing is None:
            return {"CANCELLED"}
        self.width = drawing.width
        self.origin, self.origin_bone = drawing.origin.obj.name, drawing.origin.bone
        self.insertion, self.insertion_bone = drawing.insertion.obj.name, drawing.insertion.bone
        self.points.clear()
        for place in drawing.points.tolist():
            self.points.add().location = place
        return self.execute(context)

    def _end(self) -> None:
        self._preview.end()
        self._area.header_text_set(None)
        self._area.tag_redraw()


class SINEW_OT_rebuild_muscle_shape(bpy.types.Operator):
    """Make the mesh of the active drawn muscle anew, outside the bone meshes and muscles as they are now"""

    bl_idname = "sinew.rebuild_muscle_shape"
    bl_label = "Rebuild Shape"
    bl_options = {"REGISTER", "UNDO"}

    @classmethod
    def poll(cls, context: bpy.types.Context) -> bool:
        """Only for a muscle of Draw Muscle."""
        return context.object is not None and drawn_muscles.is_drawn(context.object)

    @reporting_errors
    def execute(self, context: bpy.types.Context) -> set[str]:
        """Notes what is around the muscle, and rebuilds it."""
        obj = active_mesh(context)
        muscle_obstacles.store_obstacles(context, obj, drawn_muscles.path_in_world(obj))
        drawn_muscles.rebuild_shape(obj)
        return {"FINISHED"}


def _find_bone(bones: list[skeleton.SkeletonBone], name: str, bone: str) -> skeleton.SkeletonBone:
    """Returns the bone of an armature, or the bone mesh, of these names.

    Raises:
        BadInput: "draw-bone-missing": there is none.
    """
    for each in bones:
        if (each.obj.name, each.bone) == (name, bone):
            return each
    raise BadInput("draw-bone-missing", name=bone or name)


CLASSES = (SINEW_OT_draw_muscle, SINEW_OT_rebuild_muscle_shape)
