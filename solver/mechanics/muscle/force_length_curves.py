# SPDX-License-Identifier: GPL-3.0-or-later
"""Force–length curves of muscle fibres and of tendon, with integral and slope.

Those of fibres are over the peak isometric stress, that of tendon over its stress at a strain of 3 %.

ℓ is the length of a fibre over its optimal length. The active curve has its largest force, 1, at ℓ = 1 and none
outside 0.4 to 1.6; its slope jumps at 0.6 and 1.4. The passive curve begins at ℓ = 1 and is a straight line from 1.4
on, that of tendon from a stretch of 1.03 on.

Source: Zajac 1989, figures 2 and 5, in the closed form of Blemker, Pinsky and Delp 2005, table 1; S07, section 2.5.
"""

from __future__ import annotations

import math

from ...runtime.jit import kernel

SHORTEST_ACTIVE, STEEP_UNTIL, STEEP_FROM, LONGEST_ACTIVE = 0.4, 0.6, 1.4, 1.6  # ℓ
ACTIVE_STEEPNESS, ACTIVE_CURVATURE = 9.0, 4.0
PASSIVE_SCALE, PASSIVE_EXPONENT, PASSIVE_STRAIGHT_FROM = 0.05, 6.6, 1.4
TENDON_EXPONENT, TENDON_STRAIGHT_FROM = 46.4, 1.03
TENDON_SCALE = 1.0 / math.expm1(TENDON_EXPONENT * (TENDON_STRAIGHT_FROM - 1.0))


@kernel(inline=True)
def active_curve(length):
    """Returns ∫ f dℓ from 0, f and f' of the active curve at ℓ."""
    rise = 1.0 - STEEP_UNTIL
    # parts of the length on the steep slope up, on the parabola and on the steep slope down
    d = min(max(length, SHORTEST_ACTIVE), STEEP_UNTIL) - SHORTEST_ACTIVE
    e = 1.0 - min(max(length, STEEP_UNTIL), STEEP_FROM)
    g = LONGEST_ACTIVE - min(max(length, STEEP_FROM), LONGEST_ACTIVE)
    last = LONGEST_ACTIVE - STEEP_FROM
    work = ACTIVE_STEEPNESS / 3.0 * (d * d * d + last * last * last - g * g * g)
    work += rise - e + ACTIVE_CURVATURE / 3.0 * (e * e * e - rise * rise * rise)
    if length < STEEP_UNTIL:
        return work, ACTIVE_STEEPNESS * d * d, 2.0 * ACTIVE_STEEPNESS * d
    if length <= STEEP_FROM:
        return work, 1.0 - ACTIVE_CURVATURE * e * e, 2.0 * ACTIVE_CURVATURE * e
    return work, ACTIVE_STEEPNESS * g * g, -2.0 * ACTIVE_STEEPNESS * g


@kernel(inline=True, device_only=True)
def toe_growth(length, exponent, straight_from):
    """Returns exp(B (ℓ − 1)) − 1, zero up to ℓ = 1 and constant from a length on."""
    return math.expm1(exponent * (min(length, straight_from) - 1.0)) if length > 1.0 else 0.0


@kernel(inline=True, device_only=True)
def toe_curve(length, growth, scale, exponent, straight_from):
    """Returns ∫ f dℓ from 1, f and f' of f = A (exp(B (ℓ − 1)) − 1) above ℓ = 1, a straight line from a length on.

    `growth` is that of `toe_growth`.
    """
    d, beyond = max(min(length, straight_from) - 1.0, 0.0), max(length - straight_from, 0.0)
    work, force = scale * (growth / exponent - d), scale * growth
    slope = scale * exponent * (growth + 1.0) if length > 1.0 else 0.0
    return work + beyond * (force + 0.5 * beyond * slope), force + beyond * slope, slope


@kernel(inline=True, device_only=True)
def passive_growth(length):
    """Returns `toe_growth` of passive fibres."""
    return toe_growth(length, PASSIVE_EXPONENT, PASSIVE_STRAIGHT_FROM)


@kernel(inline=True, device_only=True)
def passive_curve_of(length, growth):
    """Returns `passive_curve`, without a branch, for `passive_growth`."""
    return toe_curve(length, growth, PASSIVE_SCALE, PASSIVE_EXPONENT, PASSIVE_STRAIGHT_FROM)


@kernel(inline=True, device_only=True)
def tendon_growth(stretch):
    """Returns `toe_growth` of tendon."""
    return toe_growth(stretch, TENDON_EXPONENT, TENDON_STRAIGHT_FROM)


@kernel(inline=True, device_only=True)
def tendon_curve_of(stretch, growth):
    """Returns `tendon_curve`, without a branch, for `tendon_growth`."""
    return toe_curve(stretch, growth, TENDON_SCALE, TENDON_EXPONENT, TENDON_STRAIGHT_FROM)


@kernel(inline=True)
def passive_curve(length):
    """Returns ∫ f dℓ, f and f' of a passive fibre at ℓ."""
    return passive_curve_of(length, passive_growth(length))


@kernel(inline=True)
def tendon_curve(stretch):
    """Returns ∫ f dλ, f and f' of tendon at a stretch λ."""
    return tendon_curve_of(stretch, tendon_growth(stretch))
