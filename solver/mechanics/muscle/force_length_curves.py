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
    if length <= SHORTEST_ACTIVE:
        return 0.0, 0.0, 0.0
    if length < STEEP_UNTIL:
        d = length - SHORTEST_ACTIVE
        return ACTIVE_STEEPNESS / 3.0 * d * d * d, ACTIVE_STEEPNESS * d * d, 2.0 * ACTIVE_STEEPNESS * d
    d, rise = STEEP_UNTIL - SHORTEST_ACTIVE, 1.0 - STEEP_UNTIL
    work = ACTIVE_STEEPNESS / 3.0 * d * d * d
    if length <= STEEP_FROM:
        e = 1.0 - length
        work += length - STEEP_UNTIL + ACTIVE_CURVATURE / 3.0 * (e * e * e - rise * rise * rise)
        return work, 1.0 - ACTIVE_CURVATURE * e * e, 2.0 * ACTIVE_CURVATURE * e
    work += 2.0 * rise - 2.0 * ACTIVE_CURVATURE / 3.0 * rise * rise * rise
    e = max(LONGEST_ACTIVE - length, 0.0)
    work += ACTIVE_STEEPNESS / 3.0 * (d * d * d - e * e * e)
    return work, ACTIVE_STEEPNESS * e * e, -2.0 * ACTIVE_STEEPNESS * e


@kernel(inline=True, device_only=True)
def toe_curve(length, scale, exponent, straight_from):
    """Returns ∫ f dℓ from 1, f and f' of f = A (exp(B (ℓ − 1)) − 1) above ℓ = 1, a straight line from a length on."""
    if length <= 1.0:
        return 0.0, 0.0, 0.0
    d = min(length, straight_from) - 1.0
    grown = math.expm1(exponent * d)
    work, force, slope = scale * (grown / exponent - d), scale * grown, scale * exponent * (grown + 1.0)
    beyond = length - straight_from
    if beyond <= 0.0:
        return work, force, slope
    return work + beyond * (force + 0.5 * beyond * slope), force + beyond * slope, slope


@kernel(inline=True)
def passive_curve(length):
    """Returns ∫ f dℓ, f and f' of a passive fibre at ℓ."""
    return toe_curve(length, PASSIVE_SCALE, PASSIVE_EXPONENT, PASSIVE_STRAIGHT_FROM)


@kernel(inline=True)
def tendon_curve(stretch):
    """Returns ∫ f dλ, f and f' of tendon at a stretch λ."""
    return toe_curve(stretch, TENDON_SCALE, TENDON_EXPONENT, TENDON_STRAIGHT_FROM)
