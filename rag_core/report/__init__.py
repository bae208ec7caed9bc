"""The `medir:rag` report: how the search of a project is doing, from its searches and votes alone.

`making` gathers, `numbers` holds what was found, `counterfactual` asks how other settings would have answered,
`definitions` says in plain words what each number is.
"""
