"""Figures: a tidy frame in, Axes out; one look for all of them; pictures stored with their tables and captions."""

from lifesearch_kit.plots.comparisons import score_against
from lifesearch_kit.plots.dataset import dataset_overview, describe_dataset
from lifesearch_kit.plots.failures import failure_costs, failure_shares, most_missed, report_statuses
from lifesearch_kit.plots.items import rubric_map, task_ranges
from lifesearch_kit.plots.judge_error import corrected_intervals, judge_link
from lifesearch_kit.plots.judges import judge_by_language, judge_comparison
from lifesearch_kit.plots.rankings import rank_slopes
from lifesearch_kit.plots.saving import save_figure
from lifesearch_kit.plots.scores import domain_heatmap, language_split, overall_bars
from lifesearch_kit.plots.style import Look, figure_of, style, system_looks, system_order
from lifesearch_kit.plots.uncertainty import difference_matrix, precision_curves, rank_ranges, variance_shares

__all__ = [
    "Look",
    "corrected_intervals",
    "dataset_overview",
    "describe_dataset",
    "difference_matrix",
    "domain_heatmap",
    "failure_costs",
    "failure_shares",
    "figure_of",
    "judge_by_language",
    "judge_comparison",
    "judge_link",
    "language_split",
    "most_missed",
    "overall_bars",
    "precision_curves",
    "rank_ranges",
    "rank_slopes",
    "report_statuses",
    "rubric_map",
    "save_figure",
    "score_against",
    "style",
    "system_looks",
    "system_order",
    "task_ranges",
    "variance_shares",
]
