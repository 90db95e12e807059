# SPDX-License-Identifier: GPL-3.0-or-later
"""Cuts the render mesh along the faces of tets that have parted, so that every piece stays closed.

All is done in rest coordinates. Every tet keeps the material inside it as polygons: what of the render surface lies
in it, and what of its faces lies inside the material. Each point is registered once, as a render vertex, a node, or
where an edge crosses a face. What is cut then follows from signs alone, and neighbours find the same.
"""
