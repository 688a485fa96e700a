"""What a comparison of judges with labels says, in three sentences with their numbers."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import pandas as pd

from lifesearch_kit.errors import InputError

_LANGUAGES = {"zh": "Chinese", "en": "English"}


def judge_findings(
    summary: pd.DataFrame | None,
    languages: pd.DataFrame | None,
    differences: pd.DataFrame | None,
    is_baseline: Mapping[str, bool],
) -> list[str]:
    """Say which judge is right most often, whether its lead is more than chance, and what baselines do.

    Language-model configurations are ranked among themselves where there are any; a rule-based baseline is the subject
    only where no language model reached a verdict. Judges without any verdict are named as left out.

    Parameters
    ----------
    summary
        What `judge_summary` gave, the best judge first.
    languages
        What `judge_summary` gave by language.
    differences
        What `judge_differences` gave of the same judgments and labels, at the level of 95%.
    is_baseline
        Whether each judge is a rule-based baseline, see `lifesearch_kit.provenance.baseline_judges`.

    Returns
    -------
    list of str
        Three sentences: the best configuration's accuracy beside that of one verdict throughout, its kappa, and its
        accuracy by language; its lead over the next of its kind (where no two of the language models can be compared:
        the lead of the best of all judges over the next of all); the best language-model configuration beside the best
        baseline. None at all where a table is lacking, as for a folder with a judges.csv only, and where no judge
        reached a verdict.

    Raises
    ------
    InputError
        When `is_baseline` lacks a judge of the summary, or `differences` a pair of them.
    """
    if summary is None or languages is None or differences is None:
        return []
    unknown = [repr(judge) for judge in summary["judge"] if judge not in is_baseline]
    if unknown:
        raise InputError(f"is_baseline says nothing of judge {', '.join(unknown)}; say for each whether it is one")
    ranked = summary[summary["judged"] > 0]
    if ranked.empty:
        return []
    judges, silent = list(ranked["judge"]), list(summary.loc[summary["judged"] == 0, "judge"])
    ranking = _Ranking(judges, silent, is_baseline, differences)
    kind = ranked.set_index("judge").loc[ranking.models or ranking.baselines]
    rivals = ranking.models if len(ranking.models) > 1 else judges
    sentences = (
        _best(ranking, kind, languages),
        _lead(ranking, rivals),
        _beside_baselines(ranking, told=rivals[:2]),
    )
    return [f"{text[0].upper()}{text[1:]}." for text in sentences]


@dataclass(frozen=True)
class _Ranking:
    """Judges that reached a verdict, the best first, those that reached none, and what is known of both."""

    judges: list[str]
    silent: list[str]
    is_baseline: Mapping[str, bool]
    differences: pd.DataFrame

    @property
    def models(self) -> list[str]:
        return [judge for judge in self.judges if not self.is_baseline[judge]]

    @property
    def baselines(self) -> list[str]:
        return [judge for judge in self.judges if self.is_baseline[judge]]

    def name(self, judge: str) -> str:
        return f'the rule-based baseline "{judge}"' if self.is_baseline[judge] else f'"{judge}"'

    @property
    def only_model(self) -> str:
        others = any(not self.is_baseline[judge] for judge in self.silent)
        return "the only language-model configuration" + (" that reached a verdict" if others else "")

    def lacking(self, *, baseline: bool) -> str:
        """Why a kind has no judge in the ranking."""
        return "reached a verdict" if any(self.is_baseline[one] == baseline for one in self.silent) else "was tried"


def _best(ranking: _Ranking, kind: pd.DataFrame, languages: pd.DataFrame) -> str:
    """Accuracy, that of one verdict throughout, and kappa of the first row of `kind`, the summary's of one kind."""
    judge, row = kind.index[0], kind.iloc[0]
    subject, are_models = ranking.name(judge), bool(ranking.models)
    share = f"on {row['accuracy_pct']:.1f}% of the labelled rubrics"
    if len(kind) > 1:
        what = "language-model configurations" if are_models else "baseline judges"
        # The summary's order alone counts lacking verdicts as wrong.
        lacking = (kind["accuracy_pct"] > row["accuracy_pct"]).any()
        how = " where a judgment without a verdict counts as wrong" if lacking else ""
        text = f"among {len(kind)} {what}, {subject} is right most often{how}, {share}"
    else:
        text = f"{f'{ranking.only_model}, {subject},' if are_models else subject} is right {share}"
    within = _interval(row["low_pct"], row["high_pct"])
    if row["unjudged"]:
        planned = row["judged"] + row["unjudged"]
        within += f"; of those it judged, as {row['unjudged']:,.0f} of {planned:,.0f} judgments reached no verdict"
    kappa = "undefined" if pd.isna(row["kappa"]) else f"{row['kappa']:.2f}"
    constant = f"the more frequent label given to all of them would be right on {row['constant_pct']:.1f}%"
    text += f" ({within}), where {constant}; kappa is {kappa}"
    return f"{text}; {_by_language(languages[languages['judge'] == judge])}"


def _by_language(own: pd.DataFrame) -> str:
    named = own.assign(language=own["language"].map(lambda code: _LANGUAGES.get(code, code))).sort_values("language")
    if len(named) == 1:
        return f"all labelled reports are in {named['language'].iloc[0]}"
    ruled = named["accuracy_pct"].notna()
    text = " and ".join(f"{row.accuracy_pct:.1f}% in {row.language}" for row in named[ruled].itertuples())
    open_ones = "".join(f", without a verdict in {language}" for language in named.loc[~ruled, "language"])
    return f"the accuracy is {text}{open_ones}"


def _lead(ranking: _Ranking, rivals: list[str]) -> str:
    """How far the first of `rivals`, the best first, is from the second, and who is left out."""
    if len(rivals) > 1:
        what = "judge" if ranking.is_baseline[rivals[0]] or ranking.is_baseline[rivals[1]] else "configuration"
        text = _comparison(ranking, rivals[0], rivals[1], f"the next {what}, ")
    else:
        text = f"there is no other judge to compare {ranking.name(rivals[0])} with"
    if ranking.silent:
        text += f"; left out, for want of any verdict: {', '.join(map(ranking.name, ranking.silent))}"
    return text


def _beside_baselines(ranking: _Ranking, told: list[str]) -> str:
    """How the best language-model configuration compares with the best baseline; `told` is the pair before."""
    models, baselines = ranking.models, ranking.baselines
    if not baselines:
        lacking = ranking.lacking(baseline=True)
        return f"no rule-based baseline {lacking}, so there is none to compare {ranking.name(models[0])} with"
    if not models:
        lacking = ranking.lacking(baseline=False)
        return f"no language-model configuration {lacking}, so there is none to compare with the rule-based baselines"
    first, second = sorted((models[0], baselines[0]), key=ranking.judges.index)
    if {first, second} == set(told):
        row, _ = _pair(ranking.differences, first, second)
        so = "that is also how the two kinds compare" if row["rubrics"] else "how the two kinds compare stays open"
        return f"these two are {ranking.only_model} and the best rule-based baseline, so {so}"
    return _comparison(ranking, first, second)


def _comparison(ranking: _Ranking, first: str, second: str, article: str = "") -> str:
    """How far `first` is from `second`, which the summary ranks after it, and whether that is beyond chance."""
    row, sign = _pair(ranking.differences, first, second)
    one, other = ranking.name(first), article + ranking.name(second)
    if not row["rubrics"]:
        return f"{one} and {ranking.name(second)} reached no verdict on the same rubric, so they cannot be compared"
    gap = sign * row["difference_pct"]
    standing = f"{abs(gap):.1f} points {'ahead of' if gap > 0 else 'behind'}" if abs(gap) >= 0.05 else "level with"
    where = f"of {_count(row['reports'], 'report')} on {_count(row['tasks'], 'task')}"
    counts = f"over {_count(row['rubrics'], 'rubric')} {where} that both judged"
    text = f"{one} is {standing} {other}"
    if gap <= -0.05:
        text = f"{one} ranks higher where a judgment without a verdict counts as wrong, but is {standing} {other}"
    if pd.isna(row["beyond_chance"]):
        return f"{text} ({counts}), which {_count(row['tasks'], 'task')} cannot tell from chance"
    low, high = sorted((sign * row["low_pct"], sign * row["high_pct"]))
    beyond = "beyond" if row["beyond_chance"] else "not beyond"
    return f"{text} ({_interval(low, high)}, {counts}), and the difference is {beyond} chance"


def _pair(differences: pd.DataFrame, first: str, second: str) -> tuple[pd.Series[Any], int]:
    """Row of two judges and +1, or -1 where it has them in the other order."""
    for a, b, sign in ((first, second, 1), (second, first, -1)):
        found = differences[(differences["judge_a"] == a) & (differences["judge_b"] == b)]
        if len(found):
            return found.iloc[0], sign
    raise InputError(f"differences lack the pair {first!r} and {second!r}; compute them from the summary's judgments")


def _interval(low: float, high: float) -> str:
    # Rounding first, as -0.04 would be written -0.0.
    return f"95% interval {round(low, 1) + 0.0:.1f} to {round(high, 1) + 0.0:.1f}"


def _count(number: int, what: str) -> str:
    return f"{number:,} {what}" if number == 1 else f"{number:,} {what}s"
