"""The four LangGraph graphs of the factory (F§3)."""
