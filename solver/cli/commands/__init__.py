# SPDX-License-Identifier: GPL-3.0-or-later
"""One file per subcommand of `sinew`: `add_parser(subparsers)` says its options, `run(options)` does it.

What a command needs of the solver is imported in `run`, so that `sinew --help` loads neither Numba nor SciPy.
"""
