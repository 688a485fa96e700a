"""Reports, runs and comparisons for reading: in a notebook, as one page, as one page of a whole run.

`notebook_views` and `comparison` show in a notebook; `case_pages` and `run_page` write files that load nothing; `cases`
and `run_cases` gather what is shown, and the `html` modules make it safe to show.
"""
