"""The workbench's services: opened once a process, shared by every session, given back at its end."""

import atexit
import getpass
import os
from dataclasses import dataclass

import streamlit as st

from medir.configuration import Configuration, load_configuration
from medir.page_kit.work import Work
from medir.wiring import Services, open_services
from rag_core.errors import MedirError
from rag_core.model import Actor


@dataclass(frozen=True, slots=True, kw_only=True)
class Workbench:
    """The services, and the long work that goes on in this process whatever page is looked at."""

    services: Services
    work: Work

    def close(self) -> None:
        """Wait for the work at hand, then give the connections and the database back."""
        self.work.close()
        self.services.close()


def workbench() -> Workbench:
    """This installation's services.

    Raises:
        Unavailable: The database can't be started or reached; the next call tries again.
    """
    configuration = load_configuration()
    return _open(_identity_of(configuration), configuration)


def revive() -> None:
    """Start the embedded database again where it has gone away; a database of another kind is left alone."""
    try:
        server = workbench().services.server
        if server is not None:
            server.acquire()
            server.release()
    except MedirError:
        # whoever asked to retry meets the same outage in the next line, and shows it
        return


def visitor() -> Actor:
    """Who sits before the page: in local mode, the account that runs the workbench."""
    try:
        name = getpass.getuser()
    except (KeyError, OSError):
        name = str(os.getuid())
    return Actor(kind="human", id=name, surface="app")


def _release(opened: Workbench) -> None:
    opened.close()


def _identity_of(configuration: Configuration) -> tuple[str, str | None, str, str]:
    return (
        str(configuration.home),
        configuration.database_url,
        configuration.ollama_host,
        configuration.embedding,
    )


@st.cache_resource(show_spinner="Starting the database…", on_release=_release)
def _open(identity: tuple[str, str | None, str, str], _configuration: Configuration) -> Workbench:  # noqa: ARG001  the cache reads it
    opened = Workbench(services=open_services(_configuration), work=Work())
    atexit.register(opened.close)
    return opened
