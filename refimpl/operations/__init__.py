"""The operations: one table entry each, declared in the modules of this package (see ``table``)."""
