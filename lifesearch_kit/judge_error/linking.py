"""When one judge takes another's place: what a score of the old judge is on the new one's scale.

Both judges graded the same reports (a single-group design). Their scores are linked by mean and variance, which is
linear equating (Kolen and Brennan 2014, Test Equating, Scaling, and Linking, section 2.3): the new judge's mean, plus
the ratio of the standard deviations times the distance from the old judge's mean. Unlike a regression it is the same in
both directions; it is the line of a regression with errors in both variables (Deming) whose error variances stand to
each other as the variances of the scores do. A line for report scores is one for their means, so it holds for systems.

Tasks are taken as a sample and resampled whole. How far single systems lie from the line is not the line's doubt, and
counts for a system that the new judge has not graded. Where labels are there, correct both judges' scores instead (see
`lifesearch_kit.judge_error.corrected_scores`): they are then on the labels' scale.
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace

import numpy as np
import pandas as pd
from scipy import stats

from lifesearch_kit.judge_error.orders import shared_scores
from lifesearch_kit.statistics.resampling import check_resampling, expanded_percentiles

# From 8 tasks on, 95% intervals of the line covered 92 to 95% in simulation, with 4 tasks 84 to 91%; those of a further
# system's score covered 94 to 98% from 5 systems on. See tests/test_judge_linking.py.
FEWEST_LINKED_TASKS = 8
FEWEST_LINKED_SYSTEMS = 5
# Above it, linking takes away half of what is uncertain of a report's score: 1 - sqrt(1 - r^2) = 0.5 (Dorans 2004,
# Applied Psychological Measurement 28, 227).
CLOSE_CORRELATION = 0.866
# Scores (0 to 1) that differ by less differ by rounding.
_ALIKE = 1e-9


@dataclass(frozen=True)
class JudgeLink:
    """The line from an old judge's score to a new one's, in percent.

    Attributes
    ----------
    old, new
        The judges.
    tasks, reports, systems
        How many of each both judges graded; reports without a text count in none.
    slope, intercept_pct
        The line; None with a reason.
    correlation
        Pearson's, of the two judges' report scores.
    scatter_pct
        Standard deviation of the systems' mean scores about the line (n - 2 degrees of freedom); None for fewer than
        five systems.
    reason
        Why there is no line, or empty.
    draws
        The line's slope and intercept (0 to 1) in each resample of the tasks.
    """

    old: str
    new: str
    tasks: int
    reports: int
    systems: int
    slope: float | None = None
    intercept_pct: float | None = None
    correlation: float | None = None
    scatter_pct: float | None = None
    reason: str = ""
    draws: np.ndarray = field(default_factory=lambda: np.empty((0, 2)), repr=False, compare=False)

    def in_words(self) -> str:
        """The line, what it rests on and its closeness, without a full stop."""
        rests_on = f"{self.reports} reports of {self.systems} systems on {self.tasks} tasks that both judges graded"
        if self.slope is None or self.intercept_pct is None or self.correlation is None:
            return f"{self.old} is not linked to {self.new} ({rests_on}): {self.reason}"
        points = f"{'-' if self.intercept_pct < 0 else '+'} {abs(self.intercept_pct):.1f} points"
        words = f"{self.new} = {self.slope:.2f} x {self.old} {points}, from {rests_on}; r = {self.correlation:.2f}"
        if self.correlation < CLOSE_CORRELATION:
            words += (
                f", less than the {CLOSE_CORRELATION} from which a link takes half of the doubt from a report's score"
            )
        return words


def link_judges(scores: pd.DataFrame, old: str, new: str, rng: np.random.Generator, resamples: int = 2000) -> JudgeLink:
    """Link two judges' scores of the same reports by mean and variance.

    Parameters
    ----------
    scores
        What `report_scores` gave of both judges. Repeats are averaged; reports that lack either score are left out, and
        so are those without a text, which no judge has seen.
    old, new
        The judges.
    rng
        The only source of randomness.
    resamples
        How many times tasks are drawn.

    Returns
    -------
    JudgeLink
        Without a line where fewer than `FEWEST_LINKED_TASKS` tasks overlap, where a judge scores all alike, or where
        the two judges' scores do not rise together (the correlation's 95% interval over tasks holds 0).

    Raises
    ------
    InputError
        For an unknown judge or fewer than one resample.
    """
    check_resampling(resamples, 0.95)
    shared = shared_scores(scores[~scores["no_report"].astype(bool)], old, new)
    link = JudgeLink(old, new, shared["task_id"].nunique(), len(shared), shared["system"].nunique())
    x, y = (shared[name].to_numpy() / 100 for name in ("old_pct", "new_pct"))
    if link.tasks < FEWEST_LINKED_TASKS:
        return replace(link, reason=f"they share {link.tasks} tasks, and {FEWEST_LINKED_TASKS} are needed")
    if min(np.ptp(x), np.ptp(y)) < _ALIKE:
        return replace(link, reason="one of them scores all reports alike")
    parts = pd.DataFrame({"n": 1.0, "x": x, "y": y, "xx": x * x, "yy": y * y, "xy": x * y})
    sums = parts.groupby(shared["task_id"].to_numpy()).sum().to_numpy()
    slope, intercept, correlation = _line(sums.sum(axis=0))
    counts = rng.multinomial(link.tasks, np.full(link.tasks, 1 / link.tasks), size=resamples).astype(float)
    slopes, intercepts, correlations = _line(counts @ sums)
    if not expanded_percentiles(correlations, 0.95, link.tasks)[0] > 0:
        return replace(link, reason=f"their scores are not seen to rise together (r = {float(correlation):.2f})")
    means = pd.DataFrame({"x": x, "y": y}).groupby(shared["system"].to_numpy()).mean()
    away = (means["y"] - intercept - slope * means["x"]).to_numpy()
    seen = len(away) >= FEWEST_LINKED_SYSTEMS
    return replace(
        link,
        slope=float(slope),
        intercept_pct=100 * float(intercept),
        correlation=float(correlation),
        scatter_pct=100 * float(np.sqrt((away**2).sum() / (len(away) - 2))) if seen else None,
        draws=np.column_stack([slopes, intercepts]),
    )


def linked_scores(link: JudgeLink, old_scores: pd.DataFrame, level: float = 0.95) -> pd.DataFrame:
    """Put scores of the old judge on the new one's scale.

    Parameters
    ----------
    link
        What `link_judges` gave.
    old_scores
        Columns system and score_pct, by the old judge, as `system_scores` gives them.
    level
        Probability that an interval covers.

    Returns
    -------
    DataFrame
        A row a system: system, old_pct, linked_pct, low_pct and high_pct (where the new judge's score of these reports
        lies: Student's t of the line's variance and the systems' scatter about it), line_low_pct and line_high_pct (the
        line alone, an expanded percentile interval over tasks), all held to 0 to 100, note (why something is missing).

    Raises
    ------
    InputError
        For a level outside 0 to 1.
    """
    check_resampling(1, level)
    columns = ["linked_pct", "low_pct", "high_pct", "line_low_pct", "line_high_pct"]
    table = pd.DataFrame({"system": old_scores["system"], "old_pct": old_scores["score_pct"].astype(float)})
    table = (
        table.reset_index(drop=True)
        .reindex(columns=["system", "old_pct", *columns])
        .astype(dict.fromkeys(columns, float))
    )
    note = link.reason
    if link.slope is not None and link.intercept_pct is not None:
        draws = table["old_pct"].to_numpy() * link.draws[:, :1] + 100 * link.draws[:, 1:]
        ends = [expanded_percentiles(column, level, link.tasks) for column in draws.T]
        middle = link.intercept_pct + link.slope * table["old_pct"]
        half = np.full(len(table), np.nan)
        if link.scatter_pct is None:
            note = (
                f"{link.systems} systems do not show how far one lies from the line; {FEWEST_LINKED_SYSTEMS} are needed"
            )
        else:
            spread = np.hypot(draws.std(axis=0, ddof=1), link.scatter_pct)
            half = float(stats.t.ppf((1 + level) / 2, link.systems - 2)) * spread
        found = np.column_stack([middle, middle - half, middle + half, np.array(ends).reshape(-1, 2)])
        table[columns] = np.clip(found, 0, 100)
    return table.assign(note=np.where(table["old_pct"].isna(), "the old judge's score is missing", note))


def _line(sums: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Slope, intercept and correlation from n and the sums of x, y, x^2, y^2 and xy (last axis)."""
    n, x, y, xx, yy, xy = np.moveaxis(sums, -1, 0)
    with np.errstate(invalid="ignore", divide="ignore"):
        of_x, of_y = (np.sqrt((square / n - (one / n) ** 2).clip(0)) for square, one in ((xx, x), (yy, y)))
        slope = of_y / np.where(of_x > 0, of_x, np.nan)
        return slope, y / n - slope * x / n, (xy / n - x * y / n**2) / np.where(of_x * of_y > 0, of_x * of_y, np.nan)
