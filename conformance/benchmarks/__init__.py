"""Benchmarks: how fast the line of generated programs is, and the reference engine beside torch.

`python -m conformance.benchmarks` prints all as one table; `pytest conformance/benchmarks` keeps the figures
with pytest-benchmark. Figures are compared within one run only, and none decides a test.
"""
