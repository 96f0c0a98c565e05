"""A module whose import asks to end the interpreter."""

import sys

sys.exit("no licence")
