"""The tools that an agent calls: each one async callable, one JSON schema, failures as ToolError."""

from lifesearch_kit.tools.tool import Tool, function_schema

__all__ = ["Tool", "function_schema"]
