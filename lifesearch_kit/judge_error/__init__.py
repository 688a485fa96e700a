"""What a judge's errors do to scores: corrected with labels, and linked when one judge takes another's place.

`corrected_scores` and `linking` are the ways in, `orders` what becomes of the systems' order; `sums` and `estimators`
are the arithmetic.
"""
