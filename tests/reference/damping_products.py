# SPDX-License-Identifier: GPL-3.0-or-later
"""Products with the damping matrix of S07, appendix D, tet by tet: by D.1, and by the five scalars of D.2.

Both get the rotation of each tet, times Q for D.2: it belongs to a moment, and is the same work for both.
"""

from sinew.solver.runtime.jit import kernel


@kernel(allow_fma=True)
def by_d1(tets, B, R, alpha, beta, v, force):
    """Adds −V P_d B of velocities v, (n, 3), for Dm⁻¹ = B, rotations R and V α, V β: 20 numbers per tet."""
    for tet in range(len(tets)):
        n, g, q = tets[tet], B[tet], R[tet]
        a0, a1, a2 = v[n[1], 0] - v[n[0], 0], v[n[1], 1] - v[n[0], 1], v[n[1], 2] - v[n[0], 2]
        b0, b1, b2 = v[n[2], 0] - v[n[0], 0], v[n[2], 1] - v[n[0], 1], v[n[2], 2] - v[n[0], 2]
        c0, c1, c2 = v[n[3], 0] - v[n[0], 0], v[n[3], 1] - v[n[0], 1], v[n[3], 2] - v[n[0], 2]
        # columns of the rate of F
        x0, x1, x2 = _column(a0, a1, a2, b0, b1, b2, c0, c1, c2, g[0, 0], g[1, 0], g[2, 0])
        y0, y1, y2 = _column(a0, a1, a2, b0, b1, b2, c0, c1, c2, g[0, 1], g[1, 1], g[2, 1])
        z0, z1, z2 = _column(a0, a1, a2, b0, b1, b2, c0, c1, c2, g[0, 2], g[1, 2], g[2, 2])
        x0, x1, x2, y0, y1, y2, z0, z1, z2 = _stress(q, alpha[tet], beta[tet], x0, x1, x2, y0, y1, y2, z0, z1, z2)
        for a in range(3):
            s, t, u = g[a, 0], g[a, 1], g[a, 2]
            f0, f1, f2 = x0 * s + y0 * t + z0 * u, x1 * s + y1 * t + z1 * u, x2 * s + y2 * t + z2 * u
            _add(force, n[a + 1], n[0], f0, f1, f2)


@kernel(allow_fma=True)
def by_five(tets, R, alpha, beta, v, force):
    """The same of body-centred tets, for rotations R Q and α̂, β̂: sums and differences instead of Dm⁻¹."""
    for tet in range(len(tets)):
        n, q = tets[tet], R[tet]
        p0, p1, p2, p3 = v[n[0]], v[n[1]], v[n[2]], v[n[3]]
        x0, x1, x2 = p1[0] - p0[0], p1[1] - p0[1], p1[2] - p0[2]
        z0, z1, z2 = p3[0] - p2[0], p3[1] - p2[1], p3[2] - p2[2]
        y0 = p2[0] + p3[0] - p0[0] - p1[0]
        y1 = p2[1] + p3[1] - p0[1] - p1[1]
        y2 = p2[2] + p3[2] - p0[2] - p1[2]
        x0, x1, x2, y0, y1, y2, z0, z1, z2 = _stress(q, alpha[tet], beta[tet], x0, x1, x2, y0, y1, y2, z0, z1, z2)
        _add(force, n[1], n[0], x0 - y0, x1 - y1, x2 - y2)
        _add(force, n[2], n[0], y0 - z0, y1 - z1, y2 - z2)
        _add(force, n[3], n[0], y0 + z0, y1 + z1, y2 + z2)


@kernel(allow_fma=True)
def _column(a0, a1, a2, b0, b1, b2, c0, c1, c2, s, t, u):
    return a0 * s + b0 * t + c0 * u, a1 * s + b1 * t + c1 * u, a2 * s + b2 * t + c2 * u


@kernel(allow_fma=True)
def _stress(q, alpha, beta, x0, x1, x2, y0, y1, y2, z0, z1, z2):
    """Returns the columns of R (2 β sym(RᵀH) + α tr(RᵀH) I) for the columns of H."""
    a, b, c, d, e, f, g, h, i = q[0, 0], q[0, 1], q[0, 2], q[1, 0], q[1, 1], q[1, 2], q[2, 0], q[2, 1], q[2, 2]
    xx, yx, zx = a * x0 + d * x1 + g * x2, b * x0 + e * x1 + h * x2, c * x0 + f * x1 + i * x2
    xy, yy, zy = a * y0 + d * y1 + g * y2, b * y0 + e * y1 + h * y2, c * y0 + f * y1 + i * y2
    xz, yz, zz = a * z0 + d * z1 + g * z2, b * z0 + e * z1 + h * z2, c * z0 + f * z1 + i * z2
    p = alpha * (xx + yy + zz)
    xx, yy, zz = 2.0 * beta * xx + p, 2.0 * beta * yy + p, 2.0 * beta * zz + p
    xy, yz, zx = beta * (xy + yx), beta * (yz + zy), beta * (zx + xz)
    return (
        a * xx + b * xy + c * zx, d * xx + e * xy + f * zx, g * xx + h * xy + i * zx,
        a * xy + b * yy + c * yz, d * xy + e * yy + f * yz, g * xy + h * yy + i * yz,
        a * zx + b * yz + c * zz, d * zx + e * yz + f * zz, g * zx + h * yz + i * zz,
    )  # fmt: skip


@kernel(allow_fma=True)
def _add(force, node, first, f0, f1, f2):
    force[node, 0] -= f0
    force[node, 1] -= f1
    force[node, 2] -= f2
    force[first, 0] += f0
    force[first, 1] += f1
    force[first, 2] += f2
