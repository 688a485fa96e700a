"""The agent: one loop for every model, from a task to a report and a transcript.

`agent` runs it; `loop` is one decision after another, `progress` what it comes to, `conversation` what the model sees,
`checkpoints` what survives a crash; `tool_calls` and `text_protocol` are the two ways of calling tools, `clarification`
tells a message that asks back from a report. `leaks` and `trajectories` read transcripts, ours and other people's.
"""
