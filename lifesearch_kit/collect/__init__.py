"""Many runs and judgments: planned, bounded, resumable, stored as they arrive.

`toolbox` opens the tools that a profile names, `plan` lists what is to be done, `collect` does it with the pool of
`workers`, `store` keeps it, `accounting` and `arrivals` count it; `recorded` shows the results of an earlier run beside
it, which `recording` has put there.
"""
