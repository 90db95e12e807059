# SPDX-License-Identifier: GPL-3.0-or-later
"""What Sinew does when Blender loads, saves, undoes, renders or ends."""

from __future__ import annotations

import atexit
import sys

import bpy
from bpy.app.handlers import persistent

from .baking import (
    attach_bake,
    bake_status,
    bake_timer,
    last_failure,
    move_caches_on_save,
    play_simulates,
    running_bake_playback,
    running_bake_poses,
    stale_errors,
)
from .baking.addon_session import session
from .blender_data import invalid_drivers, override_saving
from .blender_data.scene_by_session_uid import find_scene
from .cache import cache_folder_status, cache_paths
from .cache.bake_passes import passes
from .cache.selected_body_caches import played_folders
from .cache.temporary_folders import temporary_folders
from .evaluation import geometry_update_counter, weight_digest
from .fracture_meshes.result_objects import results_of
from .live import live_timer, run_control
from .objects import bone_rows, roles
from .playback import solved_frame

RENDER_POLL_SECONDS = 0.5


@persistent
def load_pre(*_: object) -> None:
    """Another file is about to be loaded: the bake ends, what it has baked stays."""
    run_control.end()  # the file stays where the other one cannot be read
    session.close()


@persistent
def load_post(*_: object) -> None:
    """Another file is open: finds its caches."""
    session.clear()
    run_control.remove_left_over()
    temporary_folders.start_another_file()
    bone_rows.convert_flesh_of_file(bpy.data.objects)
    _find_caches(is_undoable=True)  # Blender notes the first step after this


def _find_caches(is_undoable: bool) -> None:
    for scene in bpy.data.scenes:
        if scene.library is None:
            solved_frame.remove(roles.bodies(scene))  # its file was in the temporary folder
        attach_bake.repair_empty_paths(scene)
        attach_bake.attach(scene, detach_missing=False, is_undoable=is_undoable)
    cache_paths.lock_temporary_folders()


@persistent
def blend_import_post(imported: bpy.types.BlendImportContext, *_: object) -> None:
    """Objects of another file were linked, which stay as they are, or appended."""
    found = [item.id for item in imported.import_items if isinstance(item.id, bpy.types.Object)]
    bone_rows.convert_flesh_of_file(found)


@persistent
def undo_pre(*_: object) -> None:
    """An undo step is about to be read."""
    run_control.hide_for_undo()
    running_bake_poses.hide()


@persistent
def undo_post(*_: object) -> None:
    """Undo and redo change what the file says about a bake, but not the bake: it plays again as far as values go."""
    run_control.end_by_undo()
    run_control.remove_left_over()
    weight_digest.invalidate()
    bake_status.invalidate()
    cache_folder_status.invalidate()
    stale_errors.invalidate()
    running_bake_playback.reattach()
    for scene in bpy.data.scenes:
        attach_bake.attach(scene, is_undoable=False)


@persistent
def depsgraph_update_post(_scene: bpy.types.Scene, depsgraph: bpy.types.Depsgraph) -> None:
    """Something was evaluated again."""
    geometry_update_counter.changes.note(depsgraph)


@persistent
def animation_playback_pre(scene: bpy.types.Scene, *_: object) -> None:
    """Play was pressed."""
    play_simulates.playback_began(scene)


@persistent
def animation_playback_post(_scene: bpy.types.Scene, *_: object) -> None:
    """The animation was stopped."""
    play_simulates.playback_ended()


@persistent
def frame_change_pre(scene: bpy.types.Scene, *_: object) -> None:
    """The playhead has moved, and nothing is evaluated there yet."""
    play_simulates.hold(scene)
    running_bake_poses.follow(scene)


@persistent
def save_pre(path: str = "", *_: object) -> None:
    """The file is about to be written, perhaps to another place."""
    run_control.hide_for_save()
    running_bake_poses.hide()
    override_saving.store_override_settings(bpy.data.objects)
    move_caches_on_save.before_save(path)


@persistent
def save_post(*_: object) -> None:
    """The file was written, or could not be."""
    run_control.show_after_save()
    move_caches_on_save.after_save()
    for scene in bpy.data.scenes:
        attach_bake.repair_empty_paths(scene)


@persistent
def render_init(scene: bpy.types.Scene, *_: object) -> None:
    """A render begins: without a window, where no panel says it, warns when the bake is out of date."""
    # with a window this is another thread, which must not read what the artist may be changing
    if bpy.app.background and bake_status.status(scene).outdated:
        _warn(scene, f'The bake of "{scene.name}" is out of date: settings or animation have changed since')


@persistent
def render_pre(scene: bpy.types.Scene, *_: object) -> None:
    """A frame is about to be rendered: warns when it is not baked."""
    if bpy.app.background:
        _warn_of_frame(scene, scene.frame_current)
    else:
        # as above: a timer in Blender's main thread looks at the scene
        session.rendered_frames.put((scene.session_uid, scene.frame_current))


def check_rendered_frames() -> float:
    """Warns of rendered frames that are not baked; a timer where Blender has a window."""
    while not session.rendered_frames.empty():
        uid, frame = session.rendered_frames.get_nowait()
        scene = find_scene(uid)
        if scene is not None:
            _warn_of_frame(scene, frame)
    return RENDER_POLL_SECONDS


def _warn_of_frame(scene: bpy.types.Scene, frame: int) -> None:
    line = missing_bake_text(scene, frame)
    if line and last_failure.failure_text(scene) != line:
        _warn(scene, line)


def missing_bake_text(scene: bpy.types.Scene, frame: int) -> str:
    """Returns a warning when `frame` is to be rendered and the bodies of `scene` are not baked there, or ""."""
    bodies = roles.bodies(scene)
    shown = [*bodies, *(made for obj in bodies if obj.sinew.is_replaced for made in results_of(obj))]
    if not any(not obj.hide_render for obj in shown):
        return ""
    for bake_pass in passes(scene, cache_paths.cache_folder(scene)):
        ends = [cache_folder_status.read_status(each).last_frame for each in played_folders(bake_pass.folder)]
        last = min((end for end in ends if end is not None), default=None)
        what = "" if bake_pass.is_only else f" of pass {bake_pass.number}"
        if last is None or ends[0] is None:
            return f'The bodies{what} of "{scene.name}" are not baked and render undeformed. Press Simulate first'
        if frame > last:
            known = f"up to frame {last} only"
            return f'"{scene.name}" is baked {known}{what and f" in{what[3:]}"}: later frames render without motion'
    return ""


def _warn(scene: bpy.types.Scene, line: str) -> None:
    last_failure.store_failure_text(scene, line)
    print(f"sinew: {line}", file=sys.stderr)
    if not bpy.app.background:
        bpy.app.timers.register(lambda: _show_warning(line), first_interval=0.0)


def _show_warning(line: str) -> None:
    def draw(self: bpy.types.Menu, _context: bpy.types.Context) -> None:
        self.layout.label(text=line)

    bpy.context.window_manager.popup_menu(draw, title="Sinew", icon="ERROR")


HANDLERS = {
    "load_pre": load_pre,
    "load_post": load_post,
    "blend_import_post": blend_import_post,
    "undo_pre": undo_pre,
    "redo_pre": undo_pre,
    "undo_post": undo_post,
    "redo_post": undo_post,
    "depsgraph_update_post": depsgraph_update_post,
    "animation_playback_pre": animation_playback_pre,
    "animation_playback_post": animation_playback_post,
    "frame_change_pre": frame_change_pre,
    "save_pre": save_pre,
    "save_post": save_post,
    "save_post_fail": save_post,
    "render_init": render_init,
    "render_pre": render_pre,
}


def register() -> None:
    """Starts listening; finds the caches of the file that is already open."""
    for name, handler in HANDLERS.items():
        if hasattr(bpy.app.handlers, name):  # Blender 4.5 tells nobody what was appended
            getattr(bpy.app.handlers, name).append(handler)
    atexit.register(session.close)
    if not bpy.app.background:
        bpy.app.timers.register(check_rendered_frames, first_interval=RENDER_POLL_SECONDS, persistent=True)
    # while Blender starts, add-ons are enabled before there is a file to look at
    if hasattr(bpy.data, "scenes"):
        invalid_drivers.retry_drivers()  # Blender itself does where it loads a file
        _find_caches(is_undoable=bpy.app.background)


def unregister() -> None:
    """Stops listening, ends a bake that runs, and forgets the file."""
    atexit.unregister(session.close)
    run_control.end()
    session.close()
    bake_timer.stop()
    play_simulates.stop()
    live_timer.stop()
    if bpy.app.timers.is_registered(check_rendered_frames):
        bpy.app.timers.unregister(check_rendered_frames)
    for name, handler in HANDLERS.items():
        if hasattr(bpy.app.handlers, name):
            getattr(bpy.app.handlers, name).remove(handler)
    session.clear()
