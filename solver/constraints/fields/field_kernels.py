# SPDX-License-Identifier: GPL-3.0-or-later
"""The formulas of Blender's force fields for a point and a source of a field.

A field has a source at p with the normal n: the object's origin and z axis, or what of its mesh its shape says. With
the way r = x − p, the length d = |r|, a strength s, and a fall-off w that includes the body's weights, a point at x
with the velocity v is accelerated by

    force            s w r / d                              (and once more 1 / d² with gravitation)
    wind             s w n
    vortex           s w d (n × r)/|n × r|                  of a point; of other shapes, with t = s w (m × q):
                     s w (m × t) + t − v
    magnetic         v × (s w b),  b the direction of n × r (point, line) or of n
    harmonic         −s w (1 − L/d) r − 2 ζ √|s| v
    charge           c s w r
    lennardjones     s min(F (F − 1) / d, 2) r,  F = (size / d)⁶
    texture          s w g(x)
    turbulence       s w g(x)
    drag             −w (s |v|² + ζ |v|) v / |v|

and, but for harmonic, texture and drag, by the flow φ: −φ w v. q is the way from the object's origin and m its z axis.
Blender does not document these: tests compare each with its particles of the mass 1, whose accelerations they are.

What a step has to know besides is how the acceleration falls with velocity and position, as symmetric positive
semi-definite matrices: −∂a/∂v = D₁ I + D₂ v̂v̂ᵀ and −∂a/∂x ≈ K₁ I + K₂ r̂r̂ᵀ. A magnetic field turns v by the midpoint
rule instead, so that it neither takes nor gives energy.
"""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np

from ...runtime.arrays import Floats
from ...runtime.counter_rng import uniform_number
from ...runtime.jit import kernel
from ...scene.force_fields import FALLOFFS, FIELD_KINDS, Z_DIRECTIONS

FORCE, WIND, VORTEX, MAGNETIC, HARMONIC, CHARGE, LENNARD_JONES, TEXTURE, TURBULENCE, DRAG = range(len(FIELD_KINDS))
SPHERE, TUBE, CONE = range(len(FALLOFFS))
BOTH, POSITIVE, NEGATIVE = range(len(Z_DIRECTIONS))
MAX_DRAG = 2.0  # as Blender has it
MAX_LENNARD_JONES = 2.0  # the same
NOISE_STEPS = 128  # of the random numbers of Blender's noise
HALF_NOISE_STEPS = 64


class FieldNumbers(NamedTuple):
    """What kernels have to know of a field at a time, in Blender units.

    Attributes:
        kind, falloff, z_direction: Numbers of the constants above.
        strength, flow, damping, size, noise: As of `ForceField`, and so are all distances and powers; the greatest
            distances are infinite without one.
        seed, frame: What random numbers are made of.
        is_round: Whether a vortex or a magnetic field turns about each source.
        has_gravitation: As of `ForceField`.
        is_paired: Whether each point has a source of its own, instead of all of them.
        dt: Δt of the step [s]; 0 for a moment.
        centre, axis: Origin and z axis of the object, (3,) each.
    """

    kind: int
    falloff: int
    z_direction: int
    strength: float
    flow: float
    damping: float
    size: float
    noise: float
    power: float
    distance_min: float
    distance_max: float
    radial_power: float
    radial_min: float
    radial_max: float
    seed: int
    frame: int
    is_round: bool
    has_gravitation: bool
    is_paired: bool
    dt: float
    centre: Floats
    axis: Floats


class PointTraits(NamedTuple):
    """What fields see of points beside their positions and velocities.

    Attributes:
        weight: Product of the field weights of their bodies, (n,).
        charge, size: (n,) each.
        number: What random numbers are made of, (n,).
        push: The direction g of textures and turbulence, (n, 3), or (0, 3) for others.
        visibility: Share of the field that reaches each point from each source, (n, m), or (0, 0) for all of it.
    """

    weight: Floats
    charge: Floats
    size: Floats
    number: np.ndarray
    push: Floats
    visibility: Floats


class FieldEffect(NamedTuple):
    """What fields do to points.

    Attributes:
        acceleration: a, (n, 3).
        damping: −∂a/∂v or less, symmetric positive semi-definite, (n, 3, 3).
        stiffness: The same of −∂a/∂x, (n, 3, 3).
    """

    acceleration: Floats
    damping: Floats
    stiffness: Floats


@kernel()
def add_field_effect(field, traits, x, v, sources, normals, first, effect):
    """Adds what a field does to points from `first` on.

    Args:
        field: `FieldNumbers`.
        traits: `PointTraits` of all points.
        x, v: Of the points from `first` on, (k, 3) each.
        sources, normals: Of the field: (m, 3) each, or where they are paired one for each of these points, (k, 3).
        first: Number of the first of these points.
        effect: `FieldEffect` of these points, changed.
    """
    source_count = 1 if field.is_paired else len(sources)
    out = np.empty(7)
    for k in range(len(x)):
        i = first + k
        if not traits.weight[i] > 0.0:
            continue
        point, velocity = (x[k, 0], x[k, 1], x[k, 2]), (v[k, 0], v[k, 1], v[k, 2])
        push = (0.0, 0.0, 0.0)
        if len(traits.push):
            push = (traits.push[i, 0], traits.push[i, 1], traits.push[i, 2])
        speed_direction = direction(velocity)
        for number in range(source_count):
            j = k if field.is_paired else number
            seen = traits.visibility[i, number] if len(traits.visibility) else 1.0
            normal = (normals[j, 0], normals[j, 1], normals[j, 2])
            way = minus(point, (sources[j, 0], sources[j, 1], sources[j, 2]))
            distance2 = dot(way, way)
            if field.falloff == SPHERE and distance2 > field.distance_max * field.distance_max:
                continue
            distance = math.sqrt(distance2)
            w = seen * traits.weight[i] * falloff(field, point, normal, distance)
            if not w > 0.0:
                continue
            strength, damping = field.strength, field.damping
            if field.noise > 0.0:
                strength += noise(field, traits.number[i], number, 0)
                if field.kind == HARMONIC or field.kind == DRAG:
                    damping += noise(field, traits.number[i], number, 2)
            if field.kind == HARMONIC:
                add_harmonic(field, way, distance, velocity, strength, damping, w, out)
            elif field.kind == DRAG:
                add_drag(velocity, strength, damping, w, out)
            else:
                size = traits.size[i] if field.kind == LENNARD_JONES else traits.charge[i]
                add_force(field, point, velocity, way, distance, normal, push, strength, w, size, out)
            for axis in range(3):
                effect.acceleration[k, axis] += out[axis]
                effect.damping[k, axis, axis] += out[3]
                effect.stiffness[k, axis, axis] += out[5]
            add_outer(speed_direction, out[4], effect.damping[k])
            add_outer(scaled(way, 1.0 / distance if distance > 0.0 else 0.0), out[6], effect.stiffness[k])


@kernel(device_only=True)
def add_harmonic(field, way, distance, velocity, strength, damping, w, out):
    """Writes a (3), D₁, D₂, K₁, K₂ of a spring of the rest length `size` into `out`, (7,)."""
    stretched = 1.0
    if field.size > 0.0:
        stretched = (distance - field.size) / distance if distance > 0.0 else 0.0
    slowing = 2.0 * damping * math.sqrt(abs(strength))
    for axis in range(3):
        out[axis] = -strength * w * stretched * way[axis] - slowing * velocity[axis]
    out[3], out[4] = max(slowing, 0.0), 0.0
    out[5] = max(strength * w * stretched, 0.0)
    out[6] = max(strength * w, 0.0) - out[5]


@kernel(device_only=True)
def add_drag(velocity, strength, damping, w, out):
    """Writes a, D₁, D₂, K₁, K₂ of a drag into `out`, (7,)."""
    strength, damping = min(strength, MAX_DRAG), min(damping, MAX_DRAG)
    speed = math.sqrt(dot(velocity, velocity))
    slowing = w * (strength * speed + damping)
    for axis in range(3):
        out[axis] = -slowing * velocity[axis]
    out[3], out[4] = max(slowing, 0.0), max(w * strength * speed, 0.0)
    out[5] = out[6] = 0.0


@kernel(device_only=True)
def add_force(field, point, velocity, way, distance, normal, push, strength, w, trait, out):
    """Writes a, D₁, D₂, K₁, K₂ of all other fields into `out`, (7,); `trait` is the charge or the size of the point."""
    s, spring, slowing = strength * w, 0.0, 0.0
    a = push
    if field.kind == FORCE:
        if field.has_gravitation:
            s = s / (distance * distance) if distance > 0.0 else 0.0
        a = scaled(direction(way), s)
    elif field.kind == WIND:
        a = scaled(normal, s)
    elif field.kind == VORTEX:
        if field.is_round:
            a = scaled(direction(cross(normal, way)), s * distance)
        else:
            turning = scaled(cross(field_axis(field), minus(point, field_centre(field))), s)
            inward = scaled(cross(field_axis(field), turning), s)
            a = minus(plus(inward, turning), velocity)
            slowing = 1.0
    elif field.kind == MAGNETIC:
        a = magnetic(velocity, scaled(direction(cross(normal, way)) if field.is_round else normal, s), field.dt)
    elif field.kind == CHARGE:
        a = scaled(way, trait * s)
        spring = max(-trait * s, 0.0)
    elif field.kind == LENNARD_JONES:
        a = scaled(way, strength * lennard_jones(trait, distance))
    else:
        a = scaled(push, s)
    flow = 0.0 if field.kind == TEXTURE else field.flow * w
    for axis in range(3):
        out[axis] = a[axis] - flow * velocity[axis]
    out[3], out[4], out[5], out[6] = max(slowing + flow, 0.0), 0.0, spring, 0.0


@kernel(device_only=True)
def magnetic(v, field_vector, dt):
    """Returns (v⁺ − v) / Δt where v⁺ = v + Δt ½ (v + v⁺) × B, which turns v; v × B for Δt = 0."""
    half = scaled(field_vector, 0.5 * dt)
    return scaled(cross(plus(v, cross(v, half)), field_vector), 1.0 / (1.0 + dot(half, half)))


@kernel(device_only=True)
def lennard_jones(size, distance):
    """Returns F (F − 1) / d, at most 2."""
    if not distance > 0.0:
        return 0.0
    ratio = (size / distance) ** 6
    return min(ratio * (ratio - 1.0) / distance, MAX_LENNARD_JONES)


@kernel(device_only=True)
def falloff(field, point, normal, distance):
    """Returns how much of a field is left at a point."""
    way = minus(point, field_centre(field))
    along = dot(normal, way)
    if (field.z_direction == POSITIVE and along < 0.0) or (field.z_direction == NEGATIVE and along > 0.0):
        return 0.0
    if field.falloff == SPHERE:
        return power_law(distance, field.distance_min, field.distance_max, field.power)
    left = power_law(abs(along), field.distance_min, field.distance_max, field.power)
    if left == 0.0:
        return 0.0
    if field.falloff == TUBE:
        off = minus(way, scaled(normal, along))
        radius = math.sqrt(dot(off, off))
    else:
        length = math.sqrt(dot(way, way))
        cosine = along / length if length > 0.0 else 1.0
        radius = math.degrees(math.acos(min(max(cosine, -1.0), 1.0)))
    return left * power_law(radius, field.radial_min, field.radial_max, field.radial_power)


@kernel(device_only=True)
def power_law(distance, least, most, power):
    """Returns (1 + d − least)⁻ᵖ; 1 nearer than `least`, 0 farther than `most`."""
    if distance > most:
        return 0.0
    if distance < least or power == 0.0:
        return 1.0
    base = 1.0 + distance - least
    if power == 1.0:
        return 1.0 / base
    if power == 2.0:
        return 1.0 / (base * base)
    return base**-power


@kernel(device_only=True)
def noise(field, point, source, draw):
    """Returns a random change of the strength, with the distribution of Blender's.

    ± k A / (128 (1 + u)) with k of 0 to 127, the sign of k > 64, and u of [0, 1).
    """
    first = uniform_number(field.seed, field.frame, point, 4 * source + draw)
    second = uniform_number(field.seed, field.frame, point, 4 * source + draw + 1)
    k = math.floor(first * NOISE_STEPS)
    size = k / (1.0 + second) * field.noise / NOISE_STEPS
    return size if k > HALF_NOISE_STEPS else -size


@kernel(device_only=True)
def field_centre(field):
    """Returns the origin of the field's object."""
    return (field.centre[0], field.centre[1], field.centre[2])


@kernel(device_only=True)
def field_axis(field):
    """Returns the z axis of the field's object."""
    return (field.axis[0], field.axis[1], field.axis[2])


@kernel(device_only=True)
def add_outer(u, factor, matrix):
    """Adds factor u uᵀ to a matrix, (3, 3)."""
    if factor == 0.0:
        return
    for i in range(3):
        for j in range(3):
            matrix[i, j] += factor * u[i] * u[j]


@kernel(device_only=True)
def dot(a, b):
    """Returns a · b."""
    return a[0] * b[0] + a[1] * b[1] + a[2] * b[2]


@kernel(device_only=True)
def cross(a, b):
    """Returns a × b."""
    return (a[1] * b[2] - a[2] * b[1], a[2] * b[0] - a[0] * b[2], a[0] * b[1] - a[1] * b[0])


@kernel(device_only=True)
def plus(a, b):
    """Returns a + b."""
    return (a[0] + b[0], a[1] + b[1], a[2] + b[2])


@kernel(device_only=True)
def minus(a, b):
    """Returns a − b."""
    return (a[0] - b[0], a[1] - b[1], a[2] - b[2])


@kernel(device_only=True)
def scaled(a, factor):
    """Returns factor · a."""
    return (a[0] * factor, a[1] * factor, a[2] * factor)


@kernel(device_only=True)
def direction(a):
    """Returns a / |a|, zero for zero."""
    length = math.sqrt(dot(a, a))
    return scaled(a, 1.0 / length if length > 0.0 else 0.0)
