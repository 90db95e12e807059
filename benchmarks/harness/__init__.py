# SPDX-License-Identifier: GPL-3.0-or-later
"""What `make papers` and `make bench` share: results, tables, pictures, and running each thing in a process."""
