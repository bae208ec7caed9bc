"""Setting the numbers from evidence: replay, exact functions of weight and threshold, the honest choice. Pure.

Conventions shared by all modules here. The first axis is the case, in the order of the golden set. The weight is
the vector signal's, from 0 to 1; the lexical signal has `1.0 - weight`, computed as a float, exactly as settings
have it. Every value comes from scores computed as `rag_core.ranking.fusion` computes them, in float64 and in the same
order of operations, so that nothing here ranks differently from `rag_core.ranking.ranking.rank`.
"""
