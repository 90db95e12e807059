# SPDX-License-Identifier: GPL-3.0-or-later
"""Surface detail: particles at the surface of a body, soft-bound to its tets, which take its contacts and keep dents.

A particle at x_s is bound to a target x_e = Σ w x of a tet by a spring b without a length. It has no mass of its own,
so it is where the force f of its contacts is in balance with that spring,

    x_s = x_e + f / b,

and what is left of it in a step is a contact at x_e with the springs of contact and binding in series: neither the
step nor momentum knows of it. Where the spring would be longer than δ along the normal of the contact, it yields: the
contact pushes with b δ, and after the step the target moves in the material as far as the spring is too long. A
particle that nothing touches, and whose target never moved, is where its tet has it: it takes no part in a step, and no
place in the state. So particles come near colliders, and go behind them but for their dents.

b = E A / s for a particle of the area A, with the spacing s of particles, and δ = ε s: it yields at the pressure E ε.

Source: S07, sections 6.3.2 and 6.4, figure 6.10; that particles have no mass, and yield within the step, is our own.
"""
