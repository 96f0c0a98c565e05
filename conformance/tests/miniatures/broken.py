"""A module that fails to import."""

raise RuntimeError("the shared library\nis missing")
