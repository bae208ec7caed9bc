"""The page Calibration: which numbers, and how sure can I be?"""
