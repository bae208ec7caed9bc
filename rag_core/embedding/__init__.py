"""Texts to vectors: the providers, the choice between them, and the service that never raises for them."""
