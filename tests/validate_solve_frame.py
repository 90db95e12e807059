# SPDX-License-Identifier: GPL-3.0-or-later
"""How long Solve This Frame takes, from the press to what is shown, with the process that waits.

python -m pytest -s tests/validate_solve_frame.py

One muscle: the armature of two bones and the stretched sphere of docs/first_muscle.md, made a muscle by Make Muscle,
fully active with the second bone bent by 70°. Spindles: twelve around an elbow that bends by 0.5 rad, those of one
side active. The arm of demo_blends/arm_layers.py: its twelve muscles in two poses of the curl, as the demo is.
"""

from __future__ import annotations

import importlib
import math
import time
from pathlib import Path

import numpy as np
import pytest

bpy = pytest.importorskip("bpy", reason="needs Blender's module")

from mathutils import Matrix

from fixtures.blender_scenes import add_mesh, fresh
from fixtures.muscle_bodies import revolved
from sinew.addon.baking.solver_warm_up import solver_in_waiting
from sinew.addon.blender_data.sinew_modifier import find_solved_modifier
from test_make_muscle import elbow, select

DEMO_FOLDER = Path(__file__).resolve().parent.parent / "demo_blends"
LAST, TRIES, MUSCLES = 25, 5, 12
MAX_SECONDS_OF_MUSCLE, MAX_SECONDS_OF_ARM = 1.0, 8.0


def first_muscle() -> bpy.types.Object:
    """Returns the muscle of docs/first_muscle.md, keyed, at its last frame."""
    scene = fresh()
    bpy.ops.object.armature_add()
    rig = bpy.context.object
    bpy.ops.object.mode_set(mode="EDIT")
    lower, upper = rig.data.edit_bones["Bone"], rig.data.edit_bones.new("Bone.001")
    upper.head, upper.tail, upper.parent = lower.tail, (0.0, 0.0, 2.0), lower
    bpy.ops.object.mode_set(mode="OBJECT")
    bpy.ops.mesh.primitive_uv_sphere_add(location=(0.3, 0.0, 1.0), scale=(0.18, 0.18, 0.75))
    bpy.ops.object.transform_apply(location=False, rotation=False)
    muscle = bpy.context.object
    bpy.ops.sinew.make_muscle()
    bone, rest = rig.pose.bones["Bone.001"], rig.data.bones["Bone.001"].matrix_local.to_3x3()
    for frame, degrees, activation in ((1, 0.0, 0.0), (LAST, 70.0, 1.0)):
        turn = Matrix.Rotation(math.radians(degrees), 3, "Y")
        bone.rotation_quaternion = (rest.inverted() @ turn @ rest).to_quaternion()
        bone.keyframe_insert("rotation_quaternion", frame=frame)
        muscle.sinew.activation = activation
        muscle.sinew.keyframe_insert("activation", frame=frame)
    scene.frame_set(LAST)
    return muscle


def spindles() -> list[bpy.types.Object]:
    """Returns twelve spindles of 1.35 m in a ring around an elbow, 9 cm thick, at the last frame."""
    scene = fresh()
    rig, muscles = elbow(""), []
    along = np.linspace(0.0, 1.0, 25)
    radius = 0.015 + 0.03 * np.sin(np.pi * along) ** 2
    surface = revolved(np.concatenate([[0.0], radius, [0.0]]), np.concatenate([[0.0], along, [1.0]]), 12)
    for number in range(MUSCLES):
        angle = 2.0 * np.pi * number / MUSCLES
        place = [1.0 + 0.19 * np.cos(angle), 0.19 * np.sin(angle), 0.6]
        muscles.append(add_mesh(f"M{number:02d}", surface.vertices * [1.0, 1.0, 1.35] + place, surface.triangles))
    select(*muscles)
    bpy.ops.sinew.make_muscle()
    fore = rig.pose.bones["Fore"]
    fore.rotation_mode = "XYZ"
    for frame, share in ((1, 0.0), (LAST, 1.0)):
        fore.rotation_euler.x = 0.5 * share
        fore.keyframe_insert("rotation_euler", frame=frame)
        for obj in muscles:
            obj.sinew.activation = share * (1.0 if obj.data.vertices[0].co.y > 0.0 else 0.1)
            obj.sinew.keyframe_insert("activation", frame=frame)
    scene.frame_set(LAST)
    return muscles


def seconds_of(muscles: list[bpy.types.Object]) -> float:
    """Returns how long it takes to solve some muscles with a process that waits [s]."""
    end = time.monotonic() + 120.0
    while not solver_in_waiting.is_ready:
        assert time.monotonic() < end, "no process waits"
        solver_in_waiting.update(False, True)
        time.sleep(0.05)
    select(*muscles)
    started = time.monotonic()
    assert bpy.ops.sinew.solve_frame() == {"FINISHED"}
    assert all(find_solved_modifier(obj) is not None for obj in muscles)
    return time.monotonic() - started


@pytest.mark.timed
def test_one_muscle_takes_less_than_a_second() -> None:
    muscle = first_muscle()
    seconds = [seconds_of([muscle]) for _ in range(TRIES)]
    print(f"one muscle: {', '.join(f'{each:.2f}' for each in seconds)} s")
    solver_in_waiting.close()
    assert min(seconds) < MAX_SECONDS_OF_MUSCLE


@pytest.mark.timed
@pytest.mark.xfail(reason="44 Newton iterations on the way and in the pose, 17 s of processor time")
def test_twelve_spindles_take_less_than_eight_seconds() -> None:
    muscles = spindles()
    seconds = seconds_of(muscles)
    print(f"{MUSCLES} spindles: {seconds:.1f} s")
    solver_in_waiting.close()
    assert seconds < MAX_SECONDS_OF_ARM


@pytest.mark.timed
@pytest.mark.parametrize(
    "frame",
    [
        5,
        pytest.param(
            20,
            marks=pytest.mark.xfail(reason="76 Newton iterations, most of them on the way, 14 s; see Rejected ideas"),
        ),
    ],
)
def test_the_muscles_of_arm_layers_take_less_than_eight_seconds(frame: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.syspath_prepend(str(DEMO_FOLDER))
    demo = importlib.import_module("arm_layers")
    demo.build()
    bpy.context.scene.frame_set(frame)
    seconds = seconds_of([bpy.data.objects[name] for names in demo.GROUPS.values() for name in names])
    print(f"muscles of arm_layers at frame {frame}: {seconds:.1f} s")
    solver_in_waiting.close()
    assert seconds < MAX_SECONDS_OF_ARM
