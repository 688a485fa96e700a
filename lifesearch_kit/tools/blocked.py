"""Pages that came with success but hold a block page, a login wall or nothing: they are no evidence."""

from __future__ import annotations

import re
from collections.abc import Sequence

# A wall is short: a page that speaks to its visitor like one is taken for one up to the second length, a page that only
# names one up to the first, and a page with a wall's title or signature as well up to the third. A Chinese character
# counts as two.
_NAMING, _ADDRESSING, _SIGNED = 160, 400, 2_000

_FAILED = re.compile(r"target url returned error\s+(\d{3})", re.I)
_HUMAN_CHECK = re.compile(r"requir\w*\s+captcha", re.I)
_ADDRESSED = (
    r"checking (?:your|the) (?:browser|connection|site connection)|javascript (?:is|must be|seems to be) \w*abled",
    r"(?:verify|verifying|confirm|prove) (?:that )?you(?:'re| are) (?:a |not a )?(?:human|robot|bot)",
    r"javascript is required|are you a (?:robot|human)|(?:enable|turn on) javascript|just a moment|attention required",
    r"you have been blocked",
    r"access to this \w+ (?:has been |is |was )?(?:denied|blocked|restricted|forbidden)",
    r"your (?:request|access|connection) (?:was|has been) (?:denied|blocked|rejected|restricted)",
    r"(?:complete|solve|enter|pass) (?:the|a|this) (?:captcha|security check|verification|challenge)",
    r"unusual (?:traffic|activity)|(?:log|sign) ?in to (?:continue|view|read|see)|don.t have permission to access",
    r"请(?:先)?(?:完成|通过|进行|输入)\S{0,8}验证|环境异常|确认您?(?:不是机器人|是真人)|请先?(?:登录|登陆)",
    r"您的?(?:访问|请求|操作|ip)\S{0,4}(?:受限|被|过于|异常)|登录后(?:查看|阅读|继续|可见)|(?:开启|启用)\s*javascript",
)
_NAMED = (
    r"access (?:has been |is |was )?(?:denied|blocked|restricted|forbidden)|403 forbidden|too many requests",
    r"(?:request|connection) (?:was |has been )?(?:blocked|rejected)|security (?:check|verification)|captcha",
    r"安全验证|人机验证|滑动验证|行为验证|访问(?:受限|被拒绝|被阻断|被拦截|过于频繁|频繁|异常|行为异常)",
    r"(?:拒绝|禁止|限制)访问|(?:请求|操作)(?:被拦截|被拒绝|过于频繁)|无权(?:限)?访问|没有权限访问",
)
_ADDRESSED_PATTERN = re.compile("|".join(_ADDRESSED), re.I)
_NAMED_PATTERN = re.compile("|".join(_NAMED), re.I)
# Titles that an article hardly has; "403 Forbidden" or "Captcha" may well be an article's.
_TITLE = re.compile(
    r"(?:just a moment|one moment(?:,? please)?|please wait|attention required|access denied|security check|robot check"
    r"|are you a robot|human verification|安全验证|人机验证|访问受限|访问验证|验证页面"
    r"|访问异常|请稍候)\W*(?:\| *cloudflare)?",
    re.I,
)
_SIGNATURE = re.compile(
    r"cloudflare ray id|\bray id:|reference #\d|incident id:|perimeterx|px-captcha|ddos protection by", re.I
)
_PICTURE = re.compile(r"!\[[^\]]*\]\([^)]*\)")
_MARKUP = re.compile(r"\[(?P<label>[^\]]*)\]\([^)]*\)|[#>*_`|=-]+")
_WIDE = re.compile(r"[\u3400-\u9fff\uf900-\ufaff]")


def fault_of_page(title: str, body: str, warnings: Sequence[str] = ()) -> str | None:
    """Why a page cannot be used, or None for a normal one.

    An article about blocks or captchas is a normal page: a wall is short, or carries a wall's title or signature.
    """
    for warning in warnings:
        failed = _FAILED.search(warning)
        if failed:
            return f"the page answered HTTP {failed[1]}"
    visible = " ".join(_MARKUP.sub(lambda match: match["label"] or " ", _PICTURE.sub(" ", body)).split())
    if not visible:
        return "the page is empty"
    width = len(visible) + len(_WIDE.findall(visible))
    told = any(_HUMAN_CHECK.search(warning) for warning in warnings)
    addressed = _ADDRESSED_PATTERN.search(visible)
    phrase = addressed or _NAMED_PATTERN.search(visible)
    signed = bool(_TITLE.fullmatch(title.strip()) or _SIGNATURE.search(visible))
    short = width < _NAMING and phrase
    if short or (width < _ADDRESSING and (addressed or told or signed)) or (width < _SIGNED and phrase and signed):
        shown = f": {phrase[0]!r}" if phrase else ""
        return f"the page is behind a block, a human check or a login{shown}"
    return None
