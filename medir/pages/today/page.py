"""`/`: leads to the first page, with what the address asks for."""

import streamlit as st

from medir.pages import PAGES

st.switch_page(PAGES[0].script, query_params=dict(st.query_params))
