# SPDX-License-Identifier: GPL-3.0-or-later
"""Which way the fibres of a muscle run in every tet, and where they are tendon."""
