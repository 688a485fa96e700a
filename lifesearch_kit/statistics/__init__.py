"""How sure scores, differences and ranks are.

`hierarchical` has the intervals, `variance` where the spread comes from, `precision` what other numbers of tasks and
runs would tell, `system_differences` and `rank_intervals` the order; `rubric_items` and `task_screening` look at the
benchmark itself; `resampling`, `permutation` and `clustered_shares` are the primitives.
"""
