"""The page Golden set: did something break, and why?"""
