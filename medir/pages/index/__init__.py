"""The page Index: is everything in there, and is it true?"""
