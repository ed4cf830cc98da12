"""The gate's verdicts on many modules in the formats that other programs read: SARIF, JUnit, Markdown."""
