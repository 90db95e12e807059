# SPDX-License-Identifier: GPL-3.0-or-later
"""A mesh that falls on the ground: its scene, and the report of its motion."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from ..bake.cache import CacheReader
from ..mesh.boundary_faces import boundary_surface
from ..mesh.geometry.coordinate_range import MAX_FLOAT32_DISTANCE_IN_SIZES
from ..mesh.geometry.triangle_surface import Surface, make_surface
from ..mesh.tet_repair import RepairedTets
from ..runtime.arrays import Floats
from ..scene.scene import Body, Collider, Material, Meshing, Scene, Settings

BODY_KEY = "body"


def drop_scene(
    name: str,
    shape: Surface | RepairedTets,
    material: Material,
    meshing: Meshing,
    height: float | None,
    settings: Settings,
    simulated_scale: float = 1.0,
) -> Scene:
    """Returns a scene in which a shape falls on the plane z = 0.

    Args:
        name: Of the body.
        shape: A surface to fill, or tets, whose outer faces are the render mesh; in metres, z up.
        material, meshing: Of the body.
        height: Of its lowest point at the start [m]; None: half its longest side.
        settings: Frames, steps and tolerance.
        simulated_scale: See `Body`.
    """
    surface = shape if isinstance(shape, Surface) else make_surface(*boundary_surface(shape.nodes, shape.tets), name)
    low, high = surface.bounds
    lift = 0.5 * float((high - low).max()) if height is None else height
    raised = np.array([0.0, 0.0, lift - low[2]]) - results_origin(shape)
    body = Body(
        surface.vertices + raised, surface.triangles, material, meshing, BODY_KEY, name, simulated_scale=simulated_scale
    )
    if isinstance(shape, RepairedTets):
        body = replace(body, meshing=Meshing("given"), tet_nodes=shape.nodes + raised, tets=shape.tets)
    return Scene((body,), (Collider("ground", "Ground"),), settings)


def results_origin(shape: Surface | RepairedTets) -> Floats:
    """Returns where the origin of the results is in the file's coordinates [m], (3,).

    This is the origin of the file, unless the shape is too far away for float32. Then it is below or above the shape.
    """
    points = shape.vertices[np.unique(shape.triangles)] if isinstance(shape, Surface) else shape.nodes
    low, high = points.min(axis=0), points.max(axis=0)
    middle = 0.5 * (low + high) * [1.0, 1.0, 0.0]
    return middle if np.linalg.norm(middle) > MAX_FLOAT32_DISTANCE_IN_SIZES * (high - low).max() else np.zeros(3)


def drop_report(reader: CacheReader, seconds: Sequence[float], substeps: int) -> dict[str, Any]:
    """Returns steps, residuals, lowest point [m], volume ratio, inverted tets and seconds per frame of a bake.

    `body` has the values of the last frame: pieces, largest stress [Pa], largest plastic strain.

    Args:
        reader: The cache, baked.
        seconds: Of each computed frame, from the `frame` events.
        substeps: Steps per frame.
    """
    model = reader.read_model(BODY_KEY)
    fill = model["fill"]
    lines, summary = reader.report()[1:], reader.convergence()
    first, last = reader.baked_range() or (0, -1)
    volumes = [_filled_volume(*_tets_at_frame(reader, frame, model["tets"]), fill) for frame in range(first, last + 1)]
    samples = reader.metadata.sample_count(last)
    lowest = [float(reader.read_samples(BODY_KEY, i)[0, :, 2].min()) for i in range(samples)]
    return {
        "frames": last - first + 1,
        "steps": len(lines) * substeps,
        "steps_not_converged": summary.not_converged,
        "steps_with_unsettled_contacts": summary.unsettled,
        "residual_max": summary.residual,
        "residuals": [line["residual"] for line in lines],
        "iterations_per_step": sum(line["iterations"] for line in lines) / max(len(lines) * substeps, 1),
        "tets": len(model["tets"]),
        "nodes": len(model["nodes"]),
        "lowest_point": min(lowest),
        "lowest_point_at_end": lowest[-1],
        "volume_ratio": volumes[-1] / volumes[0],
        "volume_ratio_min": min(volumes) / volumes[0],
        "volume_ratio_max": max(volumes) / volumes[0],
        "inverted_tets": lines[-1]["inverted_tets"] if lines else 0,
        "inverted_tets_max": summary.inverted_tets,
        "contacts_at_end": lines[-1]["contacts"] if lines else 0,
        "body": lines[-1].get("bodies", {}).get(BODY_KEY, {}) if lines else {},
        "results": reader.results(),
        "seconds_per_frame": float(np.mean(seconds)) if seconds else 0.0,
        "seconds_per_frame_max": max(seconds, default=0.0),
    }


def _tets_at_frame(reader: CacheReader, frame: int, whole: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Returns node positions [m] and the tets between them at a frame."""
    found = reader.read_frame(frame)
    tets = reader.read_topology(found.topology)["tets"] if found.topology else whole
    return found.x.astype(np.float64), tets


def _filled_volume(x: np.ndarray, tets: np.ndarray, fill: np.ndarray) -> float:
    """Returns Σ fill · tet volume [m³]."""
    corners = x[tets]
    return float((fill * np.linalg.det(corners[:, 1:] - corners[:, :1])).sum() / 6.0)
