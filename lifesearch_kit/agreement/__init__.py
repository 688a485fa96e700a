"""Judges against labels, annotators against each other, rankings against rankings.

`judge_agreement`, `judge_summaries`, `judge_differences` and `judge_words` are of judges; `annotators`,
`rater_measures` and `label_readings` of people; `human_ranks`, `task_ranks`, `rank_measures` and `rank_inference` of
rankings; `measures` has the coefficients.
"""
