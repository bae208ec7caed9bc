"""The FastAPI application."""

from fastapi import FastAPI


def make_api() -> FastAPI:
    """Health only: whether the process answers."""
    api = FastAPI(title="Medir", version="1")

    @api.get("/health")
    def health() -> dict[str, str]:
        """The process answers."""
        return {"status": "ok"}

    return api
