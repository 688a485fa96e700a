"""Agents of one's own under the kit's collection, limits, tools and records: async functions and programs."""

from lifesearch_kit.own_agents.run import run_own_agent
from lifesearch_kit.own_agents.settings import OwnAgent, parse_systems, read_systems, require_agents

__all__ = ["OwnAgent", "parse_systems", "read_systems", "require_agents", "run_own_agent"]
