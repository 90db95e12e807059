# SPDX-License-Identifier: GPL-3.0-or-later
"""What is pinned of the demo scenes of flesh, measured in the open, baked file and its cache."""

from __future__ import annotations

import bpy
import numpy as np

from sinew.solver.bake.cache import CacheReader

FPS = 24
CURLED = (28, 80)  # frames of biceps_curl with the elbow bent, the dumbbell in the hand, and not
ELBOW = (0.27, 0.33)  # where along the straight arm its elbow is [m]


def _frames(cache: CacheReader) -> range:
    last = cache.last_frame()
    assert last is not None
    return range(cache.metadata.frame_start, last + 1)


def arm(cache: CacheReader) -> dict[str, float]:
    """Returns how wide the elbow is in the last frame, times its width at rest, and what it did of its fold."""
    model, report = cache.read_model("Arm"), cache.report()
    elbow = (model["nodes"][:, 0] > ELBOW[0]) & (model["nodes"][:, 0] < ELBOW[1])
    bent = cache.read_frame(_frames(cache)[-1]).x
    return {
        "elbow_width_ratio": float(np.ptp(bent[elbow, 1]) / np.ptp(model["nodes"][elbow, 1])),
        "contacts": report[-1]["contacts"],
        "deepest_contact": max(line["deepest_contact"] for line in report),
        "largest_pose_residual": max(line["pose_residual"] for line in report),
    }


def biceps(cache: CacheReader) -> dict[str, float]:
    """Returns how wide the belly is in the last frame, times its width at rest, how far apart the ends are, how near
    the muscle ever gets to the axis of the bone behind it [m], and its activation with and without the dumbbell."""
    ahead = min(float(cache.read_frame(frame).x[:, 0].min()) for frame in _frames(cache))
    active = []
    for frame in CURLED:
        bpy.context.scene.frame_set(frame)
        active.append(bpy.data.objects["Biceps"].evaluated_get(bpy.context.evaluated_depsgraph_get()).sinew.activation)
    activations = {"activation_loaded": active[0], "activation_empty": active[1]}
    return {**_contraction(cache, "Biceps", 2), "least_ahead": ahead, **activations}


def calf(cache: CacheReader) -> dict[str, float]:
    """Returns the same of the calf, and the share of its tets that is tendon and aponeurosis."""
    tendon = cache.read_model("Calf")["fibre_tendon"]
    return {**_contraction(cache, "Calf", 2), "tendon_share": float((tendon > 0.5).mean())}


def _contraction(cache: CacheReader, key: str, along: int) -> dict[str, float]:
    """Returns how wide along y a muscle is in the last frame and how far apart its ends are, times the same at rest.

    Args:
        cache: Of one muscle.
        key: Of the muscle.
        along: The axis from end to end at rest.
    """
    rest, now = cache.read_model(key)["nodes"], cache.read_frame(_frames(cache)[-1]).x
    ends = [rest[:, along] < rest[:, along].min() + 0.01, rest[:, along] > rest[:, along].max() - 0.01]
    apart = [float(np.linalg.norm(x[ends[1]].mean(axis=0) - x[ends[0]].mean(axis=0))) for x in (now, rest)]
    return {"belly_width_ratio": float(np.ptp(now[:, 1]) / np.ptp(rest[:, 1])), "ends_ratio": apart[0] / apart[1]}


def pectoral(cache: CacheReader) -> dict[str, float]:
    """Returns how much of their length at rest the fibres of both heads have in the last frame, on average."""
    model, frame = cache.read_model("Pectoral_L"), cache.read_frame(_frames(cache)[-1])
    corners = [
        (x - x[:, :1])[:, 1:] for x in (model["nodes"][model["tets"]], frame.x[: len(model["nodes"])][model["tets"]])
    ]
    local = np.linalg.solve(corners[0].transpose(0, 2, 1), model["fibre_direction"][:, :, None].astype(float))
    stretch = np.linalg.norm(corners[1].transpose(0, 2, 1) @ local, axis=(1, 2))
    is_muscle = model["fibre_tendon"] < 0.5
    heads = [float(stretch[is_muscle & (model["fibre_unit"] == unit)].mean()) for unit in (1, 2)]
    return {"clavicular_stretch": heads[0], "sternal_stretch": heads[1]}


def head(cache: CacheReader) -> dict[str, float]:
    """Returns how far flesh gets from where the skull would carry it [m], and how far what the skull holds."""
    model = cache.read_model("Head")
    rest, held = model["nodes"], model["attached"] >= 0
    free, stuck = [], []
    for frame in _frames(cache):
        bpy.context.scene.frame_set(frame)
        turn = np.array(bpy.data.objects["Neck"].matrix_world)
        away = np.linalg.norm(cache.read_frame(frame).x - rest @ turn[:3, :3].T - turn[:3, 3], axis=1)
        free.append(away[~held].max())
        stuck.append(away[held].max())
    return {"farthest_from_skull": float(max(free)), "held_off_skull": float(max(stuck))}


def belly(cache: CacheReader) -> dict[str, float]:
    """Returns how far the rendered belly and the rest of the body get from where the rig alone has them [m]."""
    body = bpy.data.objects["Wrestler"]
    bake = next(modifier for modifier in body.modifiers if modifier.type == "MESH_CACHE")
    body.modifiers["Subdivision"].show_viewport = False
    soft = _weights(body, "Belly") > 0
    moved, still = [], []
    for frame in _frames(cache):
        bpy.context.scene.frame_set(frame)
        bake.show_viewport = True
        both = _shown(body)
        bake.show_viewport = False
        away = np.linalg.norm(both - _shown(body), axis=1)
        moved.append(away[soft].max())
        still.append(away[~soft].max())
    return {
        "at_first": float(moved[0]),
        "farthest_from_rig": float(max(moved)),
        "rest_off_rig": float(max(still)),
        "soft_vertices": float(soft.mean()),
    }


def blown_head(cache: CacheReader) -> dict[str, float]:
    """Returns how far the wind has moved ears and jowls along x by the last frame [m], on average, and how fast ears
    flap: the spread of their velocity over the last ten frames [m/s]."""
    rest, frames = cache.read_model("Head")["nodes"], _frames(cache)
    ears, jowls = np.abs(rest[:, 1]) > 0.165, (rest[:, 2] < -0.10) & (rest[:, 0] > 0.05)
    x = np.array([cache.read_frame(frame).x[:, 0] for frame in frames[-11:]])
    return {
        "ears_blown": float((x[-1] - rest[:, 0])[ears].mean()),
        "jowls_blown": float((x[-1] - rest[:, 0])[jowls].mean()),
        "ears_flap": float(np.diff(x[:, ears].mean(axis=1)).std() * FPS),
    }


def _weights(obj: bpy.types.Object, name: str) -> np.ndarray:
    group = obj.vertex_groups[name].index
    return np.array([sum(e.weight for e in v.groups if e.group == group) for v in obj.data.vertices])


def _shown(obj: bpy.types.Object) -> np.ndarray:
    """Returns the vertices of `obj` after its modifiers [m], (n, 3)."""
    mesh = obj.evaluated_get(bpy.context.evaluated_depsgraph_get()).data
    points = np.empty((len(mesh.vertices), 3), np.float32)
    mesh.vertices.foreach_get("co", points.ravel())
    return points


MEASURES = {
    "bending_arm": ("Arm", arm),
    "biceps_curl": ("Biceps", biceps),
    "pennate": ("Calf", calf),
    "pec_bounce": ("Pectoral.L", pectoral),
    "belly": ("Wrestler", belly),
    "belly_goal": ("Wrestler", belly),
    "shaken_cheek": ("Head", head),
    "flag_ear_dog": ("Head", blown_head),
}
