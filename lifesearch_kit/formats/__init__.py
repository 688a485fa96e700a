"""Benchmarks in other formats, read and written; what does not fit is returned, a record each.

======================  ==========================================================  =================================
format                  what it is                                                  where
======================  ==========================================================  =================================
lifesearch              tasks.jsonl, the kit's own                                  `lifesearch_kit.files`
parquet                 a row a task, rubrics nested, for pandas and data hubs      `parquet`
csv                     a row a rubric, its task's fields beside it                 `flat_csv`
deep-research-bench     a folder of criteria.jsonl and query.jsonl                  `deep_research_bench`
research-rubrics        JSON Lines with weights from -5 to 5                        `research_rubrics`
healthbench             JSON Lines of conversations with points from -10 to 10      `healthbench`
======================  ==========================================================  =================================

Readers return a `Conversion` of tasks and misfits, writers a list of misfits. What a format holds and a task has no
field for is kept in the task's ``metadata["converted_from"]``, from which the writer of that format makes the same file
again. On the command line: ``python -m lifesearch_kit.formats --help``.
"""
