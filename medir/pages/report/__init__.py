"""The page Report: how is the search doing?"""
