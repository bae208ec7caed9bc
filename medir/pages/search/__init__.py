"""The page Search: what does it find, and would I cite it?"""
