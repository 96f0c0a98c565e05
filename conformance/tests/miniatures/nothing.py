"""A module that is no engine."""
