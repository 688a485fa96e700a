"""From raw queries to tasks that lack only their rubrics (the LifeSearch paper, how tasks are made).

Filter, classify and rewrite with an audit trail of every reply; selection by hand; refinement records and their checks.
"""
