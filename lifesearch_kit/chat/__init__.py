"""The one client for language models, and what became of each call.

`client` calls, `asking` calls until a reply can be read; `reply` and `event_stream` read what comes; `usage` and
`token_counts` count it; `endpoint_errors`, `endpoint_faults` and `connection_errors` say what went wrong and what to
change.
"""
