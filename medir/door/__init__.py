"""Who is let in, and to what: asked before anything is answered, in one way for the pages, the API and the tools."""
