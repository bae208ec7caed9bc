"""Opens every page of the workbench as Streamlit would, in a process of its own; what each shows, as JSON."""

import json
import sys
import time
from collections.abc import Iterator

from streamlit.testing.v1 import AppTest
from streamlit.testing.v1.element_tree import Block, Element

from medir.pages import ENTRY, PAGES

TIMEOUT_S = 60.0


def elements(block: Block) -> Iterator[Element]:
    for child in block.children.values():
        if isinstance(child, Block):
            yield from elements(child)
        elif isinstance(child, Element):
            yield child


def opened(script: str) -> dict[str, object]:
    began = time.monotonic()
    page = AppTest.from_file(ENTRY, default_timeout=TIMEOUT_S).run().switch_page(script).run()
    drawn = list(elements(page.main))
    code, message, hint = 0, "", ""
    if page.exception or any("fault of Medir's own" in str(error.value) for error in page.error):
        code = 70
        message = "; ".join(str(one.message) for one in page.exception)
    elif page.error or not page.header:
        code = 2
        at = next((number for number, one in enumerate(drawn) if one.type == "error"), len(drawn))
        texts = [str(one.value) for one in drawn[at:] if one.type == "text"]
        message, hint = (*texts, "", "")[:2]
    return {"code": code, "message": message, "hint": hint, "seconds": time.monotonic() - began}


def main() -> None:
    json.dump({page.path: opened(page.script) for page in PAGES}, sys.stdout)


if __name__ == "__main__":
    main()
