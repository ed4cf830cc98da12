"""The four LangGraph graphs of the factory (design: overview)."""
