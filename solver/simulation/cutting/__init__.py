# SPDX-License-Identifier: GPL-3.0-or-later
"""Bodies that are cut between two steps: the copies of tets that a cut makes take over what the whole tets were.

copy_shares.py       the share of mass and stiffness that each copy of a tet has
body_cut.py          all cuts of a body so far, as one cut of its whole tets, and how a state stores it
cut_model.py         the model: masses, stiffness, pattern and islands of the copies
cut_state.py         positions, velocities and fields of the copies
cut_skin.py          the surface by which a body that was cut touches others
cut_contacts.py      these surfaces, contact points on cut faces, and what contacts remember
cut_scene.py         what is simulated after cuts: features, forces and contacts
cut_bodies.py        a cut between two steps, and the cuts of a checkpoint
cut_support.py       what cannot be cut, or not beside a body that is
"""
