# SPDX-License-Identifier: GPL-3.0-or-later
"""What a force field does to points at a time: its numbers, its sources, and what absorbs it, for the kernels."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from ...runtime.arrays import Floats, Indices, floats
from ...runtime.errors import SolveFailed
from ...runtime.threads.thread_pool import run_in_chunks
from ...scene.force_fields import (
    ANIMATED_FIELD_NUMBERS,
    FALLOFFS,
    FIELD_KINDS,
    LINE,
    MAGNETIC,
    POINT,
    TEXTURE,
    TURBULENCE,
    VORTEX,
    Z_DIRECTIONS,
    ForceField,
    TextureGrid,
)
from ...scene.tracks import TrackReader
from .absorption import Absorber, visibility
from .field_kernels import FieldEffect, FieldNumbers, PointTraits, add_field_effect
from .field_sources import FieldPlacer, PlacedField, Sources
from .gradient_noise import turbulence

PAIRS_AT_ONCE = 1 << 20  # ways from points to sources that are looked along at a time
POINTS_PER_PART = 256  # of what a thread takes


@dataclass(frozen=True)
class FieldMoment:
    """When a field acts.

    Attributes:
        tracks: The animated inputs.
        time: [s].
        frame: Number of the frame, of which random numbers are made.
        frame_seconds: Duration of a frame [s].
        dt: Δt of the step [s]; 0 for a moment.
    """

    tracks: TrackReader
    time: float
    frame: int
    frame_seconds: float
    dt: float = 0.0


@dataclass(frozen=True)
class ExposedPoints:
    """Points that feel a field.

    Attributes:
        x, v: Positions [m] and velocities [m/s], (n, 3) each.
        weight: Product of the field weights of their bodies, (n,).
        charge: (n,).
        size: [m], (n,).
        number: In their bodies, (n,).
    """

    x: Floats
    v: Floats
    weight: Floats
    charge: Floats
    size: Floats
    number: Indices


def no_effect(count: int) -> FieldEffect:
    """Returns the effect of no field on so many points."""
    return FieldEffect(np.zeros((count, 3)), np.zeros((count, 3, 3)), np.zeros((count, 3, 3)))


def field_numbers(own: ForceField, placed: PlacedField, moment: FieldMoment) -> FieldNumbers:
    """Returns the numbers of a field at a moment, its sources not paired.

    Raises:
        SolveFailed: The animation gives no numbers.
    """
    numbers = {name: _number(own, name, moment) for name in ANIMATED_FIELD_NUMBERS if name != "wind_factor"}
    for name, is_used, without in (
        ("distance_min", own.use_distance_min, 0.0),
        ("distance_max", own.use_distance_max, math.inf),
        ("radial_min", own.use_radial_min, 0.0),
        ("radial_max", own.use_radial_max, math.inf),
    ):
        if not is_used:
            numbers[name] = without
    turns_about_sources = {VORTEX: (POINT,), MAGNETIC: (POINT, LINE)}
    return FieldNumbers(
        kind=FIELD_KINDS.index(own.kind),
        falloff=FALLOFFS.index(own.falloff),
        z_direction=Z_DIRECTIONS.index(own.z_direction),
        **numbers,
        seed=own.seed,
        frame=moment.frame,
        is_round=own.shape in turns_about_sources.get(own.kind, ()),
        has_gravitation=own.has_gravitation,
        is_paired=False,
        dt=moment.dt,
        centre=placed.centre,
        axis=placed.axis,
    )


def wind_share(own: ForceField, moment: FieldMoment) -> float:
    """Returns the share of a field that presses on surfaces; raises as `field_numbers`."""
    return min(max(_number(own, "wind_factor", moment), 0.0), 1.0)


def _number(own: ForceField, name: str, moment: FieldMoment) -> float:
    track = f"field.{own.key}.{name}"
    value = moment.tracks.sample(track, moment.time) if moment.tracks.has(track) else getattr(own, name)
    if not math.isfinite(value):
        raise SolveFailed("force-field-not-finite", name=own.name, time=round(moment.time, 3))
    return float(value)


def field_effect(
    placer: FieldPlacer, moment: FieldMoment, exposed: ExposedPoints, absorbers: Sequence[Absorber] = ()
) -> FieldEffect:
    """Returns what a field does to points: a [m/s²], −∂a/∂v [1/s] and −∂a/∂x [1/s²].

    Raises:
        SolveFailed: The animation gives no numbers.
    """
    own, unit = placer.force_field, placer.force_field.unit
    placed = placer.at(moment.tracks, moment.time)
    numbers = field_numbers(own, placed, moment)
    x, v = floats(exposed.x / unit), floats(exposed.v / unit)
    sources = placed.sources(x, v, exposed.number, moment.frame_seconds)
    numbers = numbers._replace(is_paired=sources.is_paired)
    effect = no_effect(len(x))
    traits = PointTraits(
        weight=floats(exposed.weight),
        charge=floats(exposed.charge),
        size=floats(exposed.size / unit),
        number=exposed.number.astype(np.int64),
        push=_push(placed, numbers, x),
        visibility=np.zeros((0, 0)),
    )
    for some, seen in _parts_by_visibility(sources, x, moment, absorbers if own.is_absorbed else (), unit):
        _add(numbers, traits._replace(visibility=seen), x, v, some, effect)
    effect.acceleration[:] *= unit
    return effect


def _add(
    numbers: FieldNumbers, traits: PointTraits, x: Floats, v: Floats, sources: Sources, effect: FieldEffect
) -> None:
    def work(part: slice) -> None:
        own = part if sources.is_paired else slice(None)
        rows = FieldEffect(*(array[part] for array in effect))
        positions, normals = sources.positions[own], sources.normals[own]
        add_field_effect(numbers, traits, x[part], v[part], positions, normals, part.start, rows)

    run_in_chunks(len(x), work, POINTS_PER_PART)


def _parts_by_visibility(
    sources: Sources, x: Floats, moment: FieldMoment, absorbers: Sequence[Absorber], unit: float
) -> list[tuple[Sources, Floats]]:
    """Returns the sources in parts, each with the share of the field that reaches points, (n, m) or (0, 0) for all."""
    if not absorbers or not len(x):
        return [(sources, np.zeros((0, 0)))]
    tracks, time = moment.tracks, moment.time
    if sources.is_paired:
        seen = visibility(absorbers, tracks, time, x * unit, sources.positions * unit)
        return [(sources, seen[:, None].copy())]
    parts, at_once = [], max(PAIRS_AT_ONCE // len(x), 1)
    for first in range(0, len(sources.positions), at_once):
        own = slice(first, first + at_once)
        some = Sources(sources.positions[own], sources.normals[own], False)
        columns = (np.broadcast_to(p, x.shape) for p in some.positions)
        rays = [visibility(absorbers, tracks, time, x * unit, column * unit) for column in columns]
        parts.append((some, np.ascontiguousarray(np.column_stack(rays))))
    return parts


def _push(placed: PlacedField, numbers: FieldNumbers, x: Floats) -> Floats:
    """Returns the direction of textures and turbulence at points, (n, 3), or (0, 3) for other fields."""
    own = placed.force_field
    if own.kind == TURBULENCE:
        at = x if own.is_global else x - placed.centre + placed.axis
        columns = [turbulence(np.roll(at, -axis, axis=1), numbers.size) for axis in range(3)]
        return floats(2.0 * np.column_stack(columns) - 1.0)
    if own.kind == TEXTURE and own.texture is not None:
        return _texture_push(placed, own.texture, x)
    return np.zeros((0, 3))


def _texture_push(placed: PlacedField, grid: TextureGrid, x: Floats) -> Floats:
    own, at = placed.force_field, x
    if own.is_object_space:
        at = x @ placed.to_object[:3, :3].T + placed.to_object[:3, 3]
        if own.is_2d:
            at[:, 2] = 0.0
    elif own.is_2d:
        at = x - (x @ placed.axis)[:, None] * placed.axis
    push = interpolate(grid, at)
    if own.is_2d:
        push -= (push @ placed.axis)[:, None] * placed.axis
    return floats(push)


def interpolate(grid: TextureGrid, points: Floats) -> Floats:
    """Returns the values of a grid at points, trilinear, those of its border outside of it, (n, 3)."""
    last = np.array(grid.values.shape[:3], np.int64) - 1
    place = np.clip((points - grid.lower) / grid.spacing, 0.0, last)
    cell = np.minimum(place.astype(np.int64), np.maximum(last - 1, 0))
    inside = place - cell
    result = np.zeros((len(points), 3))
    for corner in np.ndindex(2, 2, 2):
        share = np.prod(np.where(np.array(corner) == 1, inside, 1.0 - inside), axis=1)
        i, j, k = np.minimum(cell + np.array(corner, np.int64), last).T
        result += share[:, None] * grid.values[i, j, k]
    return result
