"""People at work on reports: labelling rubrics, settling disagreements, ranking reports without knowing whose they are.

Sessions hold what was answered and write it to disk at once; `desk.show` puts one on the screen of a notebook.
"""
