# SPDX-License-Identifier: GPL-3.0-or-later
"""The bake as it runs, and where its cache lies."""
