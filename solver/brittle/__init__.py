# SPDX-License-Identifier: GPL-3.0-or-later
"""Bodies that are stiffer than a step can follow: forces of impacts on them, static stress, cracks."""
