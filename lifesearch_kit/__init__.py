"""Evaluate deep-research agents: tasks with weighted rubrics, an agent loop, a judge, honest scores.

Nothing is imported here, so that each room costs only what it needs. Where to look::

    records, files, results    tasks, rubrics, reports, judgments, labels; files and folders of them
    chat, tools, agent         one client, the agents' tools, one loop; own_agents runs yours
    judge, judge_batches       one rubric a call, strictly read, live or by batches
    collect                    many runs and judgments: planned, resumable, stored; offline has baselines and a web
    scoring, statistics        equation 1, and how sure scores, differences and ranks are
    agreement, judge_error     judges against labels, people against people, scores corrected for a judge's errors
    failures, views, plots     why reports fail, reports for reading, figures
    building, rubric_checks    from raw requests to tasks, and rubrics held against the writing rules
    rubric_history, labeling   who changed which rubric and why; people's labels and blinded rankings
    formats, dataset_card      other benchmarks' files in and out; a benchmark's card
    profiles, batch            a profile's notebooks, all at once
"""

__version__ = "0.1.0"
