"""Figures: a tidy frame in, Axes out; one look for all of them; pictures stored with their tables and captions."""

from lifesearch_kit.plots.comparisons import rank_slopes, score_against
from lifesearch_kit.plots.dataset import dataset_overview, describe_dataset
from lifesearch_kit.plots.failures import failure_costs, most_missed, report_statuses
from lifesearch_kit.plots.judges import judge_by_language, judge_comparison
from lifesearch_kit.plots.saving import save_figure
from lifesearch_kit.plots.scores import domain_heatmap, language_split, overall_bars
from lifesearch_kit.plots.style import Look, figure_of, style, system_looks, system_order

__all__ = [
    "Look",
    "dataset_overview",
    "describe_dataset",
    "domain_heatmap",
    "failure_costs",
    "figure_of",
    "judge_by_language",
    "judge_comparison",
    "language_split",
    "most_missed",
    "overall_bars",
    "rank_slopes",
    "report_statuses",
    "save_figure",
    "score_against",
    "style",
    "system_looks",
    "system_order",
]
