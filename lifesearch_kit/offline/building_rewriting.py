"""How the baseline builder rewrites: sentences and clauses that speak of machinery go, the rest stays as it is."""

from __future__ import annotations

import re

_SENTENCE = re.compile(r"[^。！？!?\n]*?(?:[。！？!?]+|(?<=[^\s.])\.(?=\s|\Z)|\n|\Z)\s*", re.DOTALL)
_CLAUSE = re.compile(r"[^，,；;]*(?:[，,；;]|\Z)\s*", re.DOTALL)
_FILE = (
    r"[\w./~-]*[\w-]\.(?:md|jsonl?|csv|tsv|xlsx?|docx?|pptx?|pdf|txt|html?|ya?ml|py|sh|ipynb|sqlite|db|log|xml"
    r"|tex)\b|[A-Z]:\\\S*"
)
_MACHINERY = re.compile(
    rf"{_FILE}|\b(?:save|export|commit|push|upload|archive|store|write)\b.{{0,50}}"
    r"\b(?:as|to|in|into|under|repo\w*|branch|folder|file|disk|desktop|drive|result|message|git)\b"
    r"|\bcall the \w+ (?:tool|skill|api|service)\b|\b(?:webhook|git|cron|knowledge base|json object|json|csv"
    r"|markdown file)\b"
    r"|\bwrite a script\b|\bwith fields\b|\bpull request\b|\bas an? (?:pptx|pdf|xlsx|docx)\b"
    r"|保存|存成|存到|存为|写入|写到|归档|知识库|导出|上传|提交\s*(?:git|代码|仓库)|git\b|推送|调用|接口把"
    r"|webhook|字段为|定时任务|文件夹|工作流"
    r"|输出(?:为|成)?\s*(?:JSON|Excel|CSV|Markdown|文件)|(?:JSON|Markdown)\s*格式|运行脚本|自动运行|智能体",
    re.I,
)
_OPENING = re.compile(r"\A(?:please )?use the [\w-]+ (?:tool|skill|api|service)s? to (?=\w)", re.I)
# Where the machinery's part of a clause begins.
_TAIL = re.compile(
    r"[,，]?\s*\b(?:and|then|and then)\b (?=(?:save|export|commit|push|upload|archive|store|write)\b)|(?:并|然后"
    r"|再|最后)?(?=把结果|将结果|存到|保存|导出|写入)",
    re.I,
)
_SHORT_CLAUSE = 3
_ENDS = "。！？!?."


def without_machinery(query: str) -> str:
    """The query without what speaks of files, tools, repositories and the like."""
    left = (_clear(sentence) for sentence in _SENTENCE.findall(query))
    return "".join(left).strip()


def _clear(sentence: str) -> str:
    opening = _OPENING.match(sentence)
    if opening:
        rest = sentence[opening.end() :]
        sentence = rest[:1].upper() + rest[1:]
    if not _MACHINERY.search(sentence):
        return sentence
    kept: list[str] = []
    gone = False
    for clause in _CLAUSE.findall(sentence):
        # What lists names behind machinery belongs to it.
        follows = gone and len(clause.split()) <= _SHORT_CLAUSE and clause.isascii()
        gone = bool(_MACHINERY.search(clause)) or follows
        if gone:
            clause = _without_tail(clause)
        if clause.strip():
            kept.append(clause)
    return _closed("".join(kept), sentence)


def _without_tail(clause: str) -> str:
    tail = _TAIL.search(clause)
    head = clause[: tail.start()] if tail and tail.start() > 0 else ""
    return "" if _MACHINERY.search(head) else head


def _closed(left: str, sentence: str) -> str:
    """What is left of a sentence, with the mark that the sentence ends in."""
    bare = left.rstrip().rstrip("，,；;").rstrip()
    if not bare:
        return ""
    whole = sentence.rstrip()
    mark = whole[-1] if whole and whole[-1] in _ENDS and bare[-1] not in _ENDS else ""
    return bare + mark + sentence[len(whole) :]
