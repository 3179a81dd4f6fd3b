"""The forms of a report: text, JSON, HTML, SARIF, JUnit."""
