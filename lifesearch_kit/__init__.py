"""Evaluate deep-research agents: tasks with weighted rubrics, an agent loop, a judge, honest scores.

Nothing is imported here, so that each room costs only what it needs. Where to look::

    records, files, settings      what a task, rubric, report, judgment and label are; reading and writing them
    agent, judge, collect         run agents, grade reports, many of them, resumably
    results, scoring, agreement   a results folder as tables, equation 1, judges against labels
    plots, views, batch           figures, report views, all notebooks of a profile at once
"""

__version__ = "0.1.0"
