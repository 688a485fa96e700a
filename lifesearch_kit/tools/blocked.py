"""Pages that came with success but hold a block page, a login wall, an error or nothing: they are no evidence."""

from __future__ import annotations

import re
from collections.abc import Sequence

# A wall is short. A page that speaks to its visitor like one is taken for one up to the second length, a page with a
# sentence that only a wall or an error page consists of up to the first, and a page with a wall's title or signature
# as well up to the third. A page that states facts is none unless it is signed. A Chinese character counts as two.
_STATING, _ADDRESSING, _SIGNED = 160, 400, 2_000

_FAILED = re.compile(r"target url returned error\s+(\d{3})", re.I)
_HUMAN_CHECK = re.compile(r"requir\w{0,4}\s+captcha", re.I)
_ADDRESSED = (
    r"checking (?:your|the) (?:browser|connection|site connection)|javascript is required(?: to\b|[.!])",
    r"javascript (?:must be|seems to be|appears to be|is not) \w*abled|javascript is disabled in (?:your|this)",
    r"(?:verify|verifying|confirm|prove) (?:that )?you(?:'re| are) (?:a |not a )?(?:human|robot|bot)",
    r"are you a (?:robot|human)|(?:please|must|need to) (?:enable|turn on) javascript",
    r"(?:enable|turn on) javascript (?:and cookies )?to (?:continue|view|run|use|proceed)",
    r"(?:sorry,?|access denied[.,]?) you have been blocked",
    r"access to this \w+ (?:has been |is |was )?(?:denied|blocked|restricted|forbidden)",
    r"your (?:request|access|connection) (?:was|has been) (?:denied|blocked|rejected|restricted)",
    r"(?:complete|solve|enter|pass) (?:the|a|this) (?:captcha|security check|verification|challenge)",
    r"(?:detected|see) unusual (?:traffic|activity)|unusual (?:traffic|activity) (?:from|on|in) your",
    r"(?:log|sign) ?in to (?:continue|(?:view|read|see) (?:this|the|more|full|all))|don.t have permission to access",
    r"请(?:先)?(?:完成|通过|进行|输入)\S{0,8}验证|当前环境异常|确认您?(?:不是机器人|是真人)",
    r"请先?(?:登录|登陆)(?:后|以|您|账|[，。！,.!]|\s|$)|登录后(?:查看|阅读|继续|可见)|(?:开启|启用)\s*javascript",
    r"您的?(?:访问|请求|操作|ip)\S{0,4}(?:受限|被|过于|异常)",
)
_NAMED = (
    r"access (?:has been |is |was )?(?:denied|blocked|restricted|forbidden)|(?:403 )?forbidden|too many requests",
    r"(?:the |this )?(?:request|connection) (?:was |has been |is )?(?:blocked|rejected)|(?:security|human) check",
    r"(?:human |security )?verification|captcha|just a moment|one moment|please wait|attention required",
    r"(?:安全|人机|滑动|行为)验证|(?:您|你)?(?:的)?访问(?:受限|被拒绝|被阻断|被拦截|过于频繁|频繁|异常|行为异常)",
    r"(?:拒绝|禁止|限制)访问|(?:请求|操作)(?:被拦截|被拒绝|过于频繁)|(?:您)?(?:无权(?:限)?|没有权限)访问(?:该|此|本)?(?:页面|网页)?",
)
_ERROR = (
    r"(?:page |file |404 )?not found|(?:the|this) page (?:can(?:not|'t)|could not) be found|no such page",
    r"(?:this|the) page (?:does not|doesn't|no longer) exists?|(?:internal )?server error|bad gateway|bad request",
    r"service (?:temporarily )?unavailable|gateway time-?out|(?:this|the) site can(?:'|\u2019)?t be reached",
    r"(?:您|你)?(?:要)?(?:访问|查找|请求)?的?(?:页面|网页|文件)(?:不存在|未找到|找不到|已删除|走丢了)|(?:服务器|系统)(?:内部)?(?:错误|繁忙|异常)",
)
_ADDRESSED_PATTERN = re.compile("|".join(_ADDRESSED), re.I)
_NAMED_PATTERN = re.compile("|".join(_NAMED), re.I)
# The sentence as a whole: "access was denied to 3 of 40 ships" is no wall.
_STATED = re.compile(
    rf"\W*(?:(?:oops|sorry|error|http|抱歉|对不起)\b\W*)*(?:[45]\d\d\b\W*)?(?:{'|'.join(_NAMED + _ERROR)})"
    r"\W*(?:[45]\d\d)?\W*(?:(?:nginx|apache|openresty|tengine|cloudflare|iis)[/\d.]*)?\W*",
    re.I,
)
_SENTENCE = re.compile(r"[^\n.!?。！？，]+")
# Years (but for a copyright line), times, shares, sums, and amounts in words.
_FACT = re.compile(
    r"(?<!©)(?<!© )(?<!copyright )\b(?:19|20)\d\d\b"
    r"|\d\s?(?:%|％|[元年月日万亿]|million|billion|percent|cents?|euros?|dollars?|km)"
    r"|[€$£¥]\s?\d|\d[:：]\d\d|\d+ of \d",
    re.I,
)
# Titles that an article hardly has; "403 Forbidden" or "Captcha" may well be an article's.
_TITLE = re.compile(
    r"(?:just a moment|one moment(?:,? please)?|please wait|attention required|access denied|security check|robot check"
    r"|are you a robot|human verification|page not found|安全验证|人机验证|访问受限|访问验证|验证页面"
    r"|访问异常|请稍候|页面不存在|页面未找到)\W*(?:\| *cloudflare)?",
    re.I,
)
_SIGNATURE = re.compile(
    r"cloudflare ray id|\bray id:|reference #\d|incident id:|perimeterx|px-captcha|ddos protection by", re.I
)
# Possessive and without nested brackets in a label, so that a page of brackets takes no longer than another.
_TARGET = r"\((?:[^()]++|\([^()]*+\))*+\)"
_PICTURE = re.compile(rf"!\[[^\[\]]*+\]{_TARGET}")
_MARKUP = re.compile(rf"\[(?P<label>[^\[\]]*+)\]{_TARGET}|[#>*_`|=-]+")
_WIDE = re.compile(r"[\u3400-\u9fff\uf900-\ufaff]")


def fault_of_page(title: str, body: str, warnings: Sequence[str] = ()) -> str | None:
    """Why a page cannot be used, or None for a normal one.

    An article about blocks or captchas is a normal page: a wall is short, or carries a wall's title or signature.
    """
    for warning in warnings:
        failed = _FAILED.search(warning)
        if failed:
            return f"the page answered HTTP {failed[1]}"
    lines = _MARKUP.sub(lambda match: match["label"] or " ", _PICTURE.sub(" ", body)).splitlines()
    visible = "\n".join(" ".join(line.split()) for line in lines if line.strip())
    if not visible:
        return "the page is empty"
    width = len(visible) + len(_WIDE.findall(visible))
    if width >= _SIGNED:
        return None
    return _wall(visible, width, title, any(_HUMAN_CHECK.search(warning) for warning in warnings))


def _wall(visible: str, width: int, title: str, told: bool) -> str | None:
    addressed = _ADDRESSED_PATTERN.search(visible)
    named = _NAMED_PATTERN.search(visible)
    stated = next((one for one in _SENTENCE.findall(visible) if _STATED.fullmatch(one)), None)
    signed = bool(_TITLE.fullmatch(title.strip()) or _SIGNATURE.search(visible))
    says_nothing = not _FACT.search(visible)
    if (
        (width < _STATING and stated and says_nothing)
        or (width < _ADDRESSING and (told or signed or (addressed and says_nothing)))
        or (signed and (addressed or named))
    ):
        phrase = addressed[0] if addressed else stated or (named[0] if named else "")
        shown = f": {phrase.strip()!r}" if phrase else ""
        return f"the page is an error page, or behind a block, a human check or a login{shown}"
    return None
