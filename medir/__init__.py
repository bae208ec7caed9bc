"""The surfaces of Medir: command line, workbench, HTTP and agent tools over `rag_core`."""
