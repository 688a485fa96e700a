"""How reports fail: each finding with its mode, its evidence and what it cost (section 4.4 of the LifeSearch paper).

`modes` finds, `tables` counts, `steps` shows where in the run; `handing_back` reads requests back, `temporal` and the
`date_` modules later data, `missing`, `asked_kinds` and `evidence` what is left out.
`detector_quality` measures all of them, `second_opinion` asks a language model, `worked_cases` reads the paper's cases.
"""
