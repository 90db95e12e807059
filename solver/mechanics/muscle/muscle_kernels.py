# SPDX-License-Identifier: GPL-3.0-or-later
"""Energy, stress and tangent of muscle tets in the diagonal frame, F̂ = diag(σ), fibres along w = Vᵀ f.

With the derivatives ψ_a and ψ_ab by the invariants I_a of `muscle_energy.py`, fully:

    P̂ = Σ_a ψ_a ∂I_a/∂F,   T = Σ_ab ψ_ab ∂I_a/∂F ⊗ ∂I_b/∂F + Σ_a ψ_a ∂²I_a/∂F²

    ∂I/∂F = 2 F̂,   ∂J/∂F = cof F̂,   ∂I4/∂F_ij = 2 y_i w_j,   ∂I5/∂F_ij = 2 y_i w_j (σ_i² + σ_j²),   y = F̂ w

Fascia adds ½ E Σ max(|σ_i| − 1, 0)², which resists elongation in every direction.

All is for 32 tets at a time, as in `diagonal_frame_stress_simd.py`: number k of the tet in lane i lies at k · L + i.

Source: S07, sections 2.5 (fascia) and A.3; derivatives by F instead of C, of own derivation.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from ...runtime.arrays import Bools, Floats
from ...runtime.jit import kernel
from ...runtime.simd.lane_count import LANES
from .muscle_energy import muscle_energy, muscle_transcendental, shear_argument

MIN_STRETCH_DIFFERENCE = 1.0e-9  # below which a difference quotient is the derivative

L = LANES

# First rows of the groups of numbers of a lane
STRETCHES, DIRECTION = 0, 3  # σ and w
FIBRE, SHEAR, FASCIA = 6, 12, 14  # what `muscle_energy` takes, and E
INVARIANTS, TRANSCENDENTAL = 15, 20  # I, J, I4, I5 and ω; `muscle_transcendental`
ENERGY, FIRST, SECOND = 24, 25, 29  # ψ, ψ_a and ψ_ab
LANE_ROWS = 39
# The same of the tangent's work, behind ∂I4/∂F and ∂I5/∂F: Σ_b ψ_ab ∂I_b/∂F for the four a, y and σ²
COMBINED, FORWARD, SQUARES, WORK_ROWS = 18, 54, 57, 60


class MuscleArrays(NamedTuple):
    """What kernels read of the k tets of a muscle term.

    Attributes:
        direction: Unit fibre directions f at rest, (k, 3).
        unit: The contractile unit of each tet, whose activation it has, (k,).
        tendon: Share τ of tendon, (k,).
        peak_stress: σ_max [Pa], (k,).
        tendon_stress: σ_t of tendon at a strain of 3 % [Pa], (k,).
        optimal_stretch: λ_o, (k,).
        is_deviatoric: Whether the stretch λ of fibres is without the change of volume, (k,).
        shear: Moduli of shear along and across fibres G1, G2 [Pa], (k, 2).
        fascia: Modulus E of fascia [Pa], (k,).
    """

    direction: Floats
    unit: npt.NDArray[np.int32]
    tendon: Floats
    peak_stress: Floats
    tendon_stress: Floats
    optimal_stretch: Floats
    is_deviatoric: Bools
    shear: Floats
    fascia: Floats


@kernel()
def muscle_energies(begin, stretches, V, arrays, activation, least_J, psi):
    """Writes ψ [J/m³] of tets from `begin` on, (c,), at stretches (c, 3) and frames V, (c, 3, 3)."""
    N = np.empty(LANE_ROWS * L)
    for first in range(0, len(psi), L):
        count = min(L, len(psi) - first)
        muscle_lanes(begin, first, count, stretches, V, arrays, activation, least_J, N)
        for lane in range(count):
            total = N[ENERGY * L + lane]
            for i in range(3):
                excess = max(abs(N[i * L + lane]) - 1.0, 0.0)
                total += 0.5 * N[FASCIA * L + lane] * excess * excess
            psi[first + lane] = total


@kernel()
def muscle_stresses(begin, stretches, V, arrays, activation, least_J, stress):
    """Writes P̂ of tets from `begin` on [Pa], (c, 9), rows of matrices one after the other."""
    N, P = np.empty(LANE_ROWS * L), np.empty(9 * L)
    for first in range(0, len(stress), L):
        count = min(L, len(stress) - first)
        muscle_lanes(begin, first, count, stretches, V, arrays, activation, least_J, N)
        write_stresses(first, count, N, P, stress)


@kernel()
def muscle_tangents(begin, stretches, V, arrays, activation, least_J, stress, tangent):
    """Writes P̂, (c, 9), and T, (c, 9, 9), of tets from `begin` on [Pa], rows of matrices one after the other."""
    N, P, G, T = np.empty(LANE_ROWS * L), np.empty(9 * L), np.empty(WORK_ROWS * L), np.empty(81 * L)
    for first in range(0, len(stress), L):
        count = min(L, len(stress) - first)
        muscle_lanes(begin, first, count, stretches, V, arrays, activation, least_J, N)
        write_stresses(first, count, N, P, stress)
        combine_gradients(N, G)
        multiply_gradients(N, G, T)
        add_invariant_hessians(N, G, T)
        for lane in range(count):
            out, fascia = tangent[first + lane], N[FASCIA * L + lane]
            for r in range(9):
                for c in range(r, 9):
                    out[r, c] = out[c, r] = T[(9 * r + c) * L + lane]
            if fascia > 0.0:
                add_fascia_tangent(stretches[first + lane], fascia, out)


@kernel(device_only=True)
def muscle_lanes(begin, first, count, stretches, V, arrays, activation, least_J, N):
    """Writes σ, w, material, invariants, ψ and its derivatives of `count` tets; lanes beyond repeat the last of them.

    `begin + first` is the first of them among the tets of the term, `first` among the stretches and frames.
    """
    for lane in range(L):
        place = first + min(lane, count - 1)
        tet, s, frame = begin + place, stretches[place], V[place]
        f = arrays.direction[tet]
        for i in range(3):
            N[i * L + lane] = s[i]
            N[(DIRECTION + i) * L + lane] = frame[0, i] * f[0] + frame[1, i] * f[1] + frame[2, i] * f[2]
        N[FIBRE * L + lane], N[(FIBRE + 1) * L + lane] = activation[arrays.unit[tet]], arrays.tendon[tet]
        N[(FIBRE + 2) * L + lane], N[(FIBRE + 3) * L + lane] = arrays.peak_stress[tet], arrays.tendon_stress[tet]
        N[(FIBRE + 4) * L + lane] = arrays.optimal_stretch[tet]
        N[(FIBRE + 5) * L + lane] = 1.0 if arrays.is_deviatoric[tet] else 0.0
        N[SHEAR * L + lane], N[(SHEAR + 1) * L + lane] = arrays.shear[tet, 0], arrays.shear[tet, 1]
        N[FASCIA * L + lane] = arrays.fascia[tet]
    A, E = N[INVARIANTS * L : ENERGY * L], N[ENERGY * L : LANE_ROWS * L]
    invariant_lanes(least_J, N, A)
    transcendental_lanes(least_J, N, A)
    energy_lanes(least_J, N, A, E)


@kernel(device_only=True)
def invariant_lanes(least_J, N, A):
    """Writes I, J, I4, I5 and ω into A."""
    for i in range(L):
        s, t, u, x, y, z = N[i], N[L + i], N[2 * L + i], N[3 * L + i], N[4 * L + i], N[5 * L + i]
        p, q, r = s * s, t * t, u * u
        a, b, c = p * x * x, q * y * y, r * z * z
        I, J, I4, I5 = p + q + r, s * t * u, a + b + c, p * a + q * b + r * c  # noqa: E741
        A[i], A[L + i], A[2 * L + i], A[3 * L + i] = I, J, I4, I5
        A[4 * L + i] = shear_argument(I, J, I4, I5, least_J, N[(SHEAR + 1) * L + i])


@kernel(device_only=True)
def transcendental_lanes(least_J, N, A):
    """Writes `muscle_transcendental` into A, behind the invariants."""
    for i in range(L):
        A[5 * L + i], A[6 * L + i], A[7 * L + i], A[8 * L + i] = muscle_transcendental(
            A[L + i], A[2 * L + i], A[4 * L + i], least_J, fibre_of(i, N)
        )


@kernel(device_only=True)
def energy_lanes(least_J, N, A, E):
    """Writes ψ and its derivatives into E."""
    for i in range(L):
        (
            E[i], E[L + i], E[2 * L + i], E[3 * L + i], E[4 * L + i], E[5 * L + i], E[6 * L + i], E[7 * L + i],
            E[8 * L + i], E[9 * L + i], E[10 * L + i], E[11 * L + i], E[12 * L + i], E[13 * L + i], E[14 * L + i],
        ) = muscle_energy(
            (A[i], A[L + i], A[2 * L + i], A[3 * L + i]),
            least_J,
            A[4 * L + i],
            (A[5 * L + i], A[6 * L + i], A[7 * L + i], A[8 * L + i]),
            fibre_of(i, N),
            (N[SHEAR * L + i], N[(SHEAR + 1) * L + i]),
        )  # fmt: skip


@kernel(inline=True, device_only=True)
def fibre_of(i, N):
    """Returns what `muscle_energy` takes of the fibres of lane i."""
    return (
        N[FIBRE * L + i], N[(FIBRE + 1) * L + i], N[(FIBRE + 2) * L + i], N[(FIBRE + 3) * L + i],
        N[(FIBRE + 4) * L + i], N[(FIBRE + 5) * L + i],
    )  # fmt: skip


@kernel(device_only=True)
def write_stresses(first, count, N, P, stress):
    """Writes P̂ = Σ_a ψ_a ∂I_a/∂F with what fascia adds, from row `first` on; P is work space, (9 L,)."""
    for r in range(3):
        for c in range(3):
            for i in range(L):
                s, t = N[r * L + i], N[c * L + i]
                by_4, by_5 = N[(FIRST + 2) * L + i], N[(FIRST + 3) * L + i]
                along = 2.0 * s * N[(DIRECTION + r) * L + i] * N[(DIRECTION + c) * L + i]
                P[(3 * r + c) * L + i] = along * (by_4 + by_5 * (s * s + t * t))
        a, b = (r + 1) % 3, (r + 2) % 3
        for i in range(L):
            s = N[r * L + i]
            own = 2.0 * N[FIRST * L + i] * s + N[(FIRST + 1) * L + i] * N[a * L + i] * N[b * L + i]
            P[4 * r * L + i] += own + fascia_stress(s, N[FASCIA * L + i])
    for i in range(count):
        for r in range(9):
            stress[first + i, r] = P[r * L + i]


@kernel(allow_fma=True, device_only=True)
def combine_gradients(N, G):
    """Writes ∂I4/∂F and ∂I5/∂F, 9 rows each, Σ_b ψ_ab ∂I_b/∂F of the four invariants a, 9 rows each, y and σ²."""
    for i in range(3):
        s, w, y, square = row(N, i), row(N, DIRECTION + i), row(G, FORWARD + i), row(G, SQUARES + i)
        for lane in range(L):
            y[lane] = s[lane] * w[lane]
            square[lane] = s[lane] * s[lane]
    for k in range(9):
        y, w, p, q = (
            row(G, FORWARD + k // 3),
            row(N, DIRECTION + k % 3),
            row(G, SQUARES + k // 3),
            row(G, SQUARES + k % 3),
        )
        by_4, by_5 = row(G, k), row(G, 9 + k)
        for lane in range(L):
            by_4[lane] = 2.0 * y[lane] * w[lane]
        for lane in range(L):
            by_5[lane] = by_4[lane] * (p[lane] + q[lane])
        for a in range(4):
            write_sum(row(G, COMBINED + 9 * a + k), second(N, a, 2), by_4, second(N, a, 3), by_5)
    for i in range(3):  # the gradients of I and J are diagonal
        s, t, u = row(N, i), row(N, (i + 1) % 3), row(N, (i + 2) % 3)
        for a in range(4):
            out, of_I, of_J = row(G, COMBINED + 9 * a + 4 * i), second(N, a, 0), second(N, a, 1)
            for lane in range(L):
                out[lane] += 2.0 * of_I[lane] * s[lane] + of_J[lane] * t[lane] * u[lane]


@kernel(allow_fma=True, device_only=True)
def multiply_gradients(N, G, T):
    """Writes Σ_ab ψ_ab ∂I_a/∂F ⊗ ∂I_b/∂F on and above the diagonal of T, (81 L,)."""
    for r in range(9):
        for c in range(r, 9):
            write_sum(row(T, 9 * r + c), row(G, r), row(G, COMBINED + 18 + c), row(G, 9 + r), row(G, COMBINED + 27 + c))
    for i in range(3):
        s, t, u = row(N, i), row(N, (i + 1) % 3), row(N, (i + 2) % 3)
        for c in range(4 * i, 9):
            out, of_I, of_J = row(T, 36 * i + c), row(G, COMBINED + c), row(G, COMBINED + 9 + c)
            for lane in range(L):
                out[lane] += 2.0 * s[lane] * of_I[lane] + t[lane] * u[lane] * of_J[lane]


@kernel(allow_fma=True, device_only=True)
def add_invariant_hessians(N, G, T):
    """Adds Σ_a ψ_a ∂²I_a/∂F² on and above the diagonal of T, (81 L,).

    ∂²I = 2 δ_ik δ_jl,   ∂²J/∂F_ii ∂F_jj = σ_k,   ∂²J/∂F_ij ∂F_ji = −σ_k,   ∂²I4 = 2 δ_ik w_j w_l, and with z = F̂ᵀ y

        ∂²I5 = 2 (δ_ik (z_l w_j + w_l z_j + σ_i² w_j w_l) + δ_il σ_i y_k w_j + δ_jl y_i y_k + δ_jk y_i σ_j w_l)
    """
    of_I, of_J = row(N, FIRST), row(N, FIRST + 1)
    for r in range(9):
        out = row(T, 10 * r)
        for lane in range(L):
            out[lane] += 2.0 * of_I[lane]
        for c in range(r, 9):
            add_fibre_hessian(r // 3, r % 3, c // 3, c % 3, N, G, row(T, 9 * r + c))
    for i in range(3):
        for j in range(i + 1, 3):
            s, beside, across = row(N, 3 - i - j), row(T, 36 * i + 4 * j), row(T, 9 * (3 * i + j) + 3 * j + i)
            for lane in range(L):
                beside[lane] += of_J[lane] * s[lane]
            for lane in range(L):
                across[lane] -= of_J[lane] * s[lane]


@kernel(allow_fma=True, device_only=True)
def add_fibre_hessian(i, j, k, l, N, G, out):  # noqa: E741
    """Adds ψ_4 ∂²I4 + ψ_5 ∂²I5 by F_ij and F_kl, (L,)."""
    by_4, by_5 = row(N, FIRST + 2), row(N, FIRST + 3)
    wj, wl, yi, yk = row(N, DIRECTION + j), row(N, DIRECTION + l), row(G, FORWARD + i), row(G, FORWARD + k)
    if i == k:
        p, q, r = row(G, SQUARES + i), row(G, SQUARES + j), row(G, SQUARES + l)
        for lane in range(L):
            bent = by_4[lane] + by_5[lane] * (p[lane] + q[lane] + r[lane])
            out[lane] += 2.0 * wj[lane] * wl[lane] * bent
    if i == l:
        s = row(N, i)
        for lane in range(L):
            out[lane] += 2.0 * by_5[lane] * s[lane] * yk[lane] * wj[lane]
    if j == l:
        for lane in range(L):
            out[lane] += 2.0 * by_5[lane] * yi[lane] * yk[lane]
    if j == k:
        s = row(N, j)
        for lane in range(L):
            out[lane] += 2.0 * by_5[lane] * yi[lane] * s[lane] * wl[lane]


@kernel(inline=True, device_only=True)
def row(numbers, k):
    """Returns number k of all lanes, (L,).

    Loops over few rows at a time: LLVM compares every two of them before it works on several lanes at once, and gives
    up where these are more than eight pairs.
    """
    return numbers[k * L : (k + 1) * L]


@kernel(inline=True, device_only=True)
def second(N, a, b):
    """Returns ψ_ab of all lanes, (L,)."""
    low, high = min(a, b), max(a, b)
    return row(N, SECOND + low * (7 - low) // 2 + high)


@kernel(allow_fma=True, inline=True, device_only=True)
def write_sum(out, a, b, c, d):
    """Writes a b + c d, (L,) each."""
    for lane in range(L):
        out[lane] = a[lane] * b[lane] + c[lane] * d[lane]


@kernel(inline=True, device_only=True)
def fascia_stress(stretch, modulus):
    """Returns the derivative of ½ E max(|σ| − 1, 0)² by σ [Pa]."""
    excess = max(abs(stretch) - 1.0, 0.0)
    return modulus * excess if stretch > 0.0 else -modulus * excess


@kernel(device_only=True)
def add_fascia_tangent(s, modulus, T):
    """Adds the tangent of ½ E Σ max(|σ_i| − 1, 0)², a convex function of F."""
    for i in range(3):
        j = (i + 1) % 3
        T[4 * i, 4 * i] += modulus if abs(s[i]) > 1.0 else 0.0
        p, q = fascia_stress(s[i], modulus), fascia_stress(s[j], modulus)
        if (p == 0.0) & (q == 0.0):
            continue
        apart, sum_of_both = s[i] - s[j], s[i] + s[j]
        together = (p - q) / apart if abs(apart) > MIN_STRETCH_DIFFERENCE else modulus
        against = (p + q) / sum_of_both if abs(sum_of_both) > MIN_STRETCH_DIFFERENCE else modulus
        a, b = 0.5 * (together + against), 0.5 * (together - against)
        T[3 * i + j, 3 * i + j] += a
        T[3 * j + i, 3 * j + i] += a
        T[3 * i + j, 3 * j + i] += b
        T[3 * j + i, 3 * i + j] += b
