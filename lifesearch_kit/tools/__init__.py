"""The tools that an agent calls: each one async callable, one JSON schema, failures as ToolError."""

from lifesearch_kit.tools.tool import Tool, Tools, function_schema, tools_for

__all__ = ["Tool", "Tools", "function_schema", "tools_for"]
