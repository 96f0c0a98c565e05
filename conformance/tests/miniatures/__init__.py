"""Miniature engines that misbehave in one way each, to show that the harness notices."""
