# SPDX-License-Identifier: GPL-3.0-or-later
"""How a mesh of tets comes apart at nodes: faces that part, copies of nodes, planes, and pieces that are too small."""
