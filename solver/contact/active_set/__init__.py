# SPDX-License-Identifier: GPL-3.0-or-later
"""Which contacts push and which slide: the loop of solves that ends when no contact changes sides."""
