# SPDX-License-Identifier: GPL-3.0-or-later
"""When and where bodies break: strength against stress, nodes that split, and what follows from a new topology."""
