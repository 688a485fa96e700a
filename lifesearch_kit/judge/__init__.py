"""The judge: one rubric a call, read strictly, every reply accounted for.

`checks` makes a judgment's request and fingerprint, `judge` asks, `verdict` reads; `prefix_order` and `estimates` keep
the price low and known; `robustness`, `transformations` and `flip_rates` try whether a report can sway it.
"""
