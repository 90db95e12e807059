# SPDX-License-Identifier: GPL-3.0-or-later
"""The experiments of the papers that Sinew follows, done again with its own kernels: `make papers`."""
