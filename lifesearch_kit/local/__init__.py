"""A language model on this machine, without a key: ``python -m lifesearch_kit.local params/local.yaml``."""
