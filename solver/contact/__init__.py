# SPDX-License-Identifier: GPL-3.0-or-later
"""Contact: where bodies touch colliders, each other and themselves, and what pushes them apart."""
