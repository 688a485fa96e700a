"""Equation 1 of the LifeSearch paper and everything that is a mean of it.

`report_scores` scores reports, `scores` runs, systems and domains, `ranking` says who is ahead of whom, and `summaries`
makes the tables that figures are drawn from.
"""
