"""The tiny engine, which prints while it is imported."""

from tiny import *  # noqa: F403
from tiny import __version__  # noqa: F401

print("welcome to chatty, the engine that talks")
