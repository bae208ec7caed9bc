"""The workbench's entry: page configuration, page list, run. `medir serve` serves it, behind its door."""

import streamlit as st

from medir.page_kit.address import draw_notices, enter, settle_rest
from medir.page_kit.frame import ICON, draw_frame
from medir.page_kit.guard import draw_refusal, guarded
from medir.page_kit.sign_in import require_sign_in
from medir.page_kit.streamlit_options import served_by_another
from medir.pages import HOME, PAGES

if served_by_another():
    # nothing would stand between these pages and other websites
    st.text("These pages are not served by Streamlit alone. Start them with: medir serve")
    st.stop()
st.set_page_config(page_title="Medir", page_icon=str(ICON), layout="wide")
home = st.Page(HOME, title="Medir", default=True, visibility="hidden")
page = st.navigation(
    [home]
    + [st.Page(entry.script, title=entry.title, icon=entry.icon, url_path=entry.path) for entry in PAGES],
    position="top",
)
entry = next((entry for entry in PAGES if entry.path == page.url_path), None)
enter(page.url_path)
with guarded(page.url_path or "home"):
    require_sign_in()
    if entry is not None:
        draw_frame()
        st.header(entry.title, anchor=False)
        st.caption(entry.question)
    notices = st.container()
    page.run()
    with notices:
        draw_notices()
        draw_refusal()
settle_rest()
