# SPDX-License-Identifier: GPL-3.0-or-later
"""What the add-on remembers between two calls by Blender, and when it forgets it."""

from __future__ import annotations

from pathlib import Path
from types import SimpleNamespace

import pytest

bpy = pytest.importorskip("bpy")

from fixtures.blender_scenes import add_box, fresh
from sinew.addon import handlers
from sinew.addon.baking import last_failure, move_caches_on_save, undo_step
from sinew.addon.baking.addon_session import Note, PendingSave, session
from sinew.addon.evaluation import geometry_update_counter
from sinew.addon.objects import roles
from sinew.addon.runtime.memo import Memo


def body() -> bpy.types.Object:
    obj = add_box("Box")
    roles.make_body(obj)
    return obj


def test_another_file_starts_without_memories(tmp_path: Path) -> None:
    scene = fresh()
    mesh = body().data
    bpy.ops.wm.save_as_mainfile(filepath=str(tmp_path / "a.blend"))
    mesh.vertices[0].co.x += 1.0
    mesh.update()
    bpy.context.view_layer.update()
    assert geometry_update_counter.change_count(mesh) > 0
    uid, results = mesh.session_uid, Memo[int](2)
    results.result("a", 0, lambda: 1)
    last_failure.store_failure_text(scene, "It failed")
    session.messages(scene).notes = [Note("A note")]
    session.messages(scene).warnings = [Note("A warning")]
    assert session.messages(scene).lines == ["A note", "A warning"]
    undo_step.schedule(scene)
    session.pending_save = PendingSave("nowhere")
    bpy.ops.wm.open_mainfile(filepath=str(tmp_path / "a.blend"))
    assert session._messages == {} and not undo_step.is_due() and session.pending_save is None
    assert results.latest("a") is None and geometry_update_counter.changes.count(uid) == 0


def test_a_save_is_forgotten_when_it_has_ended(tmp_path: Path) -> None:
    """Also what it noted of attributes: a later failure must not bring paths of an earlier file back."""
    scene = fresh()
    body()
    bpy.ops.wm.save_as_mainfile(filepath=str(tmp_path / "a.blend"))
    scene.sinew.cache_path = "//chosen.sinew"
    move_caches_on_save.before_save(str(tmp_path / "deep" / "b.blend"))
    assert scene.sinew.cache_path == "//../chosen.sinew"
    assert session.pending_save is not None and session.pending_save.paths[scene.session_uid]["cache_path"]
    move_caches_on_save.after_save()
    assert scene.sinew.cache_path == "//chosen.sinew" and session.pending_save is None
    scene.sinew.cache_path = "//other.sinew"
    move_caches_on_save.after_save()
    assert scene.sinew.cache_path == "//other.sinew"


def test_a_render_in_a_thread_reads_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    scene = fresh()
    body()
    timers = SimpleNamespace(register=lambda *_, **__: None)
    windowed = SimpleNamespace(app=SimpleNamespace(background=False, timers=timers), data=bpy.data)
    monkeypatch.setattr(handlers, "bpy", windowed)
    with monkeypatch.context() as in_thread:
        in_thread.setattr(handlers, "missing_bake_text", lambda *_: pytest.fail("read beside the artist"))
        in_thread.setattr(handlers.bake_status, "status", lambda *_: pytest.fail("read beside the artist"))
        handlers.render_init(scene)
        handlers.render_pre(scene)
        assert last_failure.failure_text(scene) == ""
    assert handlers.check_rendered_frames() > 0.0
    assert "not baked" in last_failure.failure_text(scene) and session.rendered_frames.empty()
