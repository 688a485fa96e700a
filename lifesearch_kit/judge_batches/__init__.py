"""Judging through an endpoint's Batch API: later, usually cheaper, and the same records as from live calls.

`judging` is the way in; `batches` follows one judge's batches, `submission` makes them, `answers` reads them,
`endpoint` and `files` are where they lie.
"""
