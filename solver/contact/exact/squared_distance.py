# SPDX-License-Identifier: GPL-3.0-or-later
"""The squared distance of two features, its gradient and its Hessian, by the weights of `closest_features.py`.

With f(x, β) = |r|² and β where f is least, D(x) = f(x, β(x)) has the gradient ∂f/∂x, since ∂f/∂β = 0, and the Hessian
f_xx − f_xβ f_ββ⁻¹ f_βx:

    ∂D/∂xᵢ = 2 wᵢ r
    ∂²D/∂xᵢ∂xⱼ = 2 wᵢ wⱼ I − 2 Σ g_αᵢ (EᵀE)⁻¹_αβ g_βⱼᵀ,    g_βᵢ = r ∂wᵢ/∂β + wᵢ e_β,    e_β = Σ xᵢ ∂wᵢ/∂β = ∂r/∂β

The same holds for all features. Li et al. (2020) have one formula for each.
"""

from __future__ import annotations

from ...runtime.jit import kernel


@kernel()
def squared_distance(x, closest):
    """Returns D = |Σ wᵢ xᵢ|² [m²].

    Args:
        x: Corners [m], (4, 3).
        closest: `ClosestPoints` of them.
    """
    total = 0.0
    for axis in range(3):
        r = separation(x, closest.weights, axis)
        total += r * r
    return total


@kernel()
def fill_distance_gradient(x, closest, gradient):
    """Writes ∂D/∂x [m], (12,), of corners x [m], (4, 3), with `ClosestPoints`."""
    for axis in range(3):
        r = separation(x, closest.weights, axis)
        for i in range(4):
            gradient[3 * i + axis] = 2.0 * closest.weights[i] * r


@kernel()
def fill_distance_hessian(x, closest, parameters, hessian):
    """Writes ∂²D/∂x².

    Args:
        x: Corners [m], (4, 3).
        closest: `ClosestPoints` of them.
        parameters: Number of parameters β of the features.
        hessian: Out, (12, 12).
    """
    w, dw = closest.weights, closest.weight_derivatives
    hessian[:] = 0.0
    for i in range(4):
        for j in range(4):
            for axis in range(3):
                hessian[3 * i + axis, 3 * j + axis] = 2.0 * w[i] * w[j]
    if parameters == 0:
        return
    e00, e01, e11 = 0.0, 0.0, 0.0
    for axis in range(3):
        e0, e1 = separation(x, dw[0], axis), separation(x, dw[1], axis)
        e00, e01, e11 = e00 + e0 * e0, e01 + e0 * e1, e11 + e1 * e1
    if parameters == 1:
        a00, a01, a11 = 1.0 / e00, 0.0, 0.0
    else:
        determinant = e00 * e11 - e01 * e01
        a00, a01, a11 = e11 / determinant, -e01 / determinant, e00 / determinant
    for i in range(4):
        for p in range(3):
            g0, g1 = _mixed_derivative(x, w, dw, i, p)
            h0, h1 = a00 * g0 + a01 * g1, a01 * g0 + a11 * g1
            for j in range(4):
                for q in range(3):
                    k0, k1 = _mixed_derivative(x, w, dw, j, q)
                    hessian[3 * i + p, 3 * j + q] -= 2.0 * (h0 * k0 + h1 * k1)


@kernel(inline=True, device_only=True)
def separation(x, weights, axis):
    """Returns Σ wᵢ xᵢ along an axis [m], as differences from the first corner: the weights' sum is 0."""
    return (
        weights[1] * (x[1, axis] - x[0, axis])
        + weights[2] * (x[2, axis] - x[0, axis])
        + weights[3] * (x[3, axis] - x[0, axis])
    )


@kernel(inline=True, device_only=True)
def _mixed_derivative(x, w, dw, i, axis):
    """Returns g_βᵢ along an axis for both parameters."""
    r = separation(x, w, axis)
    return (
        dw[0, i] * r + w[i] * separation(x, dw[0], axis),
        dw[1, i] * r + w[i] * separation(x, dw[1], axis),
    )
