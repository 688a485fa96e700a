"""How long a judge takes where it reads the prompt anew, and where the server kept most of it from before."""

from __future__ import annotations

import pandas as pd

_FIGURES = ["seconds", "input_tokens", "cached_tokens"]


def seconds_by_cache(judgments: pd.DataFrame) -> pd.DataFrame | None:
    """Median seconds of a judgment with and without most of its prompt in the server's prompt cache.

    The rubrics of one report share the beginning of their prompts (question and report), which a server can keep. A
    judgment without a reply, or whose reply does not say what it took, is left out.

    Parameters
    ----------
    judgments
        A row a judgment: judge, seconds, input_tokens, cached_tokens (of the input).

    Returns
    -------
    DataFrame or None
        A row a judge that recorded all three, in order of first appearance: judge, read_anew (judgments with less than
        half of their input from the cache), seconds_read_anew (median), from_cache (the other judgments),
        seconds_from_cache (median), input_tokens (median over both), cached_tokens (median over from_cache). A median
        of no judgment is missing. None where no judgment had any input from a cache.
    """
    known = judgments[["judge", *_FIGURES]].dropna().astype(dict.fromkeys(_FIGURES, "float64"))
    if not (known["cached_tokens"] > 0).any():
        return None
    rows = []
    for judge, own in known.groupby("judge", sort=False, observed=True):
        anew = 2 * own["cached_tokens"] < own["input_tokens"]
        rows.append(
            {
                "judge": judge,
                "read_anew": int(anew.sum()),
                "seconds_read_anew": own.loc[anew, "seconds"].median(),
                "from_cache": int((~anew).sum()),
                "seconds_from_cache": own.loc[~anew, "seconds"].median(),
                "input_tokens": own["input_tokens"].median(),
                "cached_tokens": own.loc[~anew, "cached_tokens"].median(),
            }
        )
    return pd.DataFrame(rows)
