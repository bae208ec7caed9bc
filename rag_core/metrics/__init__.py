"""What a ranking is worth: measures and their kernels, intervals, paired tests. Pure.

Conventions shared by all modules here. The first axis is the question. Ranks are 1-based, and 0 stands for
"none". A mean is over every judged question, those whose search found nothing among them. Nothing is rounded.
`docs/metrics.md` defines each measure with its formula and an example.
"""
