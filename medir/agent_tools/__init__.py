"""The agent tools `rag_search` and `rag_feedback`, over the Model Context Protocol."""
