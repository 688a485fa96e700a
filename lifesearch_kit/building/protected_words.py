"""How the parts that a rewrite must keep are worded, in English and Chinese, and what tells machinery apart.

A pattern's part is its group ``part`` where it has one, else the whole match.
"""

from __future__ import annotations

import re
from typing import Literal

Kind = Literal["recency", "source", "count", "length", "exclusion"]
_ANY_CASE = re.IGNORECASE | re.ASCII
_NUMBER_EN = (
    r"(?:\d+(?:,\d{3})*|one|two|three|four|five|six|seven|eight|nine|ten|eleven|twelve|thirteen|fourteen|fifteen"
    r"|sixteen|twenty|thirty|forty|fifty|hundred)"
)
# "one" stands for a thing as often as for a number, and four digits for a year.
_ITEMS_EN = rf"(?!one\b|(?:19|20)\d\d\b){_NUMBER_EN}(?: (?:or|to) {_NUMBER_EN})?"
_NUMBER_ZH = r"(?:\d+|[一二两三四五六七八九十百千]+)"

# What belongs to the machinery whatever it says: its numbers and dates are no limits of the content.
MACHINERY = re.compile(
    r"(?:命名为|名为|\b(?:named|called|titled)"
    r"|(?:提交信息|提交说明|标签|分支|目录|文件夹|\bmessage|\blabel|\btag|\bbranch|\bfolder)[写为是用：:]{0,2})"
    r"\s*[“\"「《][^”\"」》\n]{1,60}[”\"」》]"
    r"|[“\"「《][^”\"」》\n]{1,60}[”\"」》](?=目录|文件夹|分支|标签|工作表| folder| branch)"
    r"|`[^`\n]*`"
    r"|\bhttps?://(?:localhost|127\.|10\.|192\.168\.|0\.0\.0\.0)\S*|(?<![\w:/])[~.]{0,2}/[\w./-]+"
    r"|(?<![\w@.])[\w-]+\.(?:md|json|jsonl|csv|tsv|xlsx?|docx?|pptx?|pdf|txt|html?|ya?ml|py|sh|js|ts|ipynb"
    r"|sqlite|db|log|xml|parquet|zip|tex)\b|\bv\d+(?:\.\d+)+",
    _ANY_CASE,
)
# What a match of the wider patterns must not hold: then it speaks of the machinery.
MACHINERY_WORDS = re.compile(
    r"\0|\b(?:commit|push|saved?|stor(?:e|ing)|print|call(?:ing)?|run(?:ning)?|execut\w+|install|upload\w*"
    r"|download\w*|export\w*|logs?|logging|deploy|merge|overwrite|delete|cached?|retry|retries|spawn|invoke"
    r"|files?|filenames?|folders?|director(?:y|ies)|disk|json|ya?ml|csv|xml|html|markdown|markup|latex|bold|italics?"
    r"|tools?|scripts?|apis?|endpoints?|plugins?|skills?|(?:sub-?)?agents?|workflows?|pipelines?|branch(?:es)?"
    r"|repo(?:sitory)?|database|schema|templates?|wrappers?|console|terminal|code|syntax|tokens?|prompts?|threads?"
    r"|slack|notion|obsidian|github|gitlab|git|excel|s3|confluence|jira|docker|google (?:drive|docs|sheets)"
    r"|zip|dialogs?|fields?|columns?|rows?|times|steps?|jobs?|workers?|requests?|sheets?|instructions?)\b"
    r"|提交|推送|保存|存成|存为|写入|打印|日志|磁盘|调用|工具|文件夹|文件头|本地|脚本|接口|上传|下载|目录|仓库|分支|执行|运行"
    r"|安装|缓存|外壳|代码|字段|模板|格式|加粗|工作流|流程|知识库|配置|附件|压缩|弹窗|窗口|请求|覆盖|智能体|代理|进程|线程|插件",
    _ANY_CASE,
)

_RECENCY = re.compile(
    r"\b(?:latest|newest|most recent|recent(?:ly)?|current(?:ly)?|up[- ]to[- ]date|today(?:['’]s)?|yesterday"
    r"|tomorrow|tonight|nowadays|these days|at present|to date|year[- ]to[- ]date"
    r"|(?:this|next|the coming|the upcoming) (?:week(?:end)?|month|quarter|year|season)|so far"
    rf"|(?:last|past|next|coming) (?:{_NUMBER_EN} )?(?:days?|weeks?|months?|quarters?|years?|decade)"
    r"|(?:(?:this|next|last|early|late|mid|in|during|over|until|by|since|every)[ -](?:the )?){1,2}"
    r"(?:spring|summer|autumn|fall|winter)(?: (?:of )?\d{4})?"
    r"|q[1-4](?:[ -]?(?:19|20)\d\d)?|h[12][ -]?(?:19|20)\d\d|fy[ -]?\d{2,4}"
    r"|(?:first|second|third|fourth|last) (?:quarter|half)(?: of (?:the year|\d{4}))?"
    r"|(?:at|by|before|until) the end of (?:the|this|next) (?:week|month|quarter|year))\b(?![-_/])"
    r"(?! (?:directory|folder|branch|commit|session|workspace|repo\w*|file|project)\b)"
    rf"|最新|最近|近期|近来|近年|近几年|如今|近{_NUMBER_ZH}(?:年|个月|个?季度|周|天|日)"
    rf"|(?:过去|未来|今后){_NUMBER_ZH}(?:年|个月|个?季度|周|天)"
    r"|(?:目前|当前|现在|眼下)(?!目录|文件|分支|会话|工作|仓库|项目)|今天|今日|昨天|明天|今年|去年|前年|明年|后年"
    r"|[本上下这]个?(?:周末?|星期|月|季度|季)|本年度|截至|截止|[年月][初中底]|周末|节假日"
    r"|第?[一二三四1-4]季度|[上下]半年|\bq[1-4]\b"
    r"|(?:早|初|仲|盛|深|暮|晚|隆|今|明|去)[春夏秋冬]|[春夏秋冬](?:天|季|初|末)|春节|元旦|五一|端午|中秋|国庆|[寒暑]假",
    _ANY_CASE,
)

# A month without its year; one of them is a verb as well.
_MONTHS = re.compile(
    r"\b(?:January|February|March|April|(?<=in )May|(?<=from )May|June|July|August|September|October|November"
    r"|December)\b"
    rf"|{_NUMBER_ZH}月(?![份]?[\d一二三四五六七八九十]+[日号])"
)
_NAME = r"(?:the )?[A-Z][\w'’&+-]*(?:\.\w+)*"
_NAMES = rf"{_NAME}(?:(?:, (?:and |or )?| and | or | & | of | for | ){_NAME})*"
_SAYINGS = r"(?:data|figures|numbers|information|reports?|statistics|sources|evidence|reviews|studies|articles|papers)"
_LINKED = re.compile(
    r"\bhttps?://[^\s<>()\[\]\"'，。；、）】」]+|(?<![\w@./-])(?:[a-z0-9-]+\.)+(?:com|org|net|gov|edu|int|io"
    r"|cn|eu|uk|example)\b"
    r"|《[^》\n]{1,60}》|“[^”\n/_\\{}]{1,60}”|「[^」\n/_\\{}]{1,60}」|(?<!\w)\"[^\"\n/_\\{}.]{1,60}\"(?!\w)",
    _ANY_CASE,
)
_NAMED_EN = re.compile(
    r"\b(?i:cit(?:e|ing)|quot(?:e|ing)|consult(?:ing)?|(?:draw|rely)(?:ing)? (?:\w+ly )?on|based (?:\w+ly )?on"
    r"|according to|(?:sourced|taken|drawn) from|(?:look|search|check|read)(?:ing)? (?:at|on|in|through)|check|consult"
    rf"|(?:stick|refer|keep|limited|restricted)(?:ing)? to|{_SAYINGS} (?:only )?(?:from|by|in|on|such as|like)"
    rf"|us(?:e|ing) only|per|via) (?:(?i:only|just|official|the latest|{_SAYINGS}(?: from| by| of| in)?) ){{0,2}}"
    rf"{_NAMES}"
    r"|\b(?i:on|from|via|in|at) (?:Reddit|Trustpilot|Twitter|YouTube|Quora|Amazon|Yelp|TripAdvisor|LinkedIn|Wikipedia"
    r"|Hacker News|Stack Overflow|Google Scholar|PubMed|arXiv)\b"
    r"|\b(?i:official|government(?:al)?|peer[- ]reviewed|primary|academic|scholarly|authoritative|reputable|independent"
    r") (?i:sources?|data|statistics|figures|papers|studies|journals?|websites?|sites?|documents?|reports?"
    r"|literature|filings)\b",
    re.ASCII,
)
_IN_CLAUSE_ZH = r"[^，。；！？\n\0]"
_NAMED_ZH = re.compile(
    r"(?:引用(?!用|格式|标注|样式|编号|处|请|采用|必须|需|要)|参考|参照|援引|查阅|依据|根据|基于|来源|来自|出自|取自|数据用)"
    rf"{_IN_CLAUSE_ZH}{{1,20}}?(?:数据|报告|年鉴|官网|网站|评价|测评|文献|论文|指南|标准|法规|法律|条例|公告|公报|统计|新闻"
    r"|期刊|白皮书|资料|研究|报道|榜单|名录|协会|总局|统计局|委员会|组织|平台|官方|研究院|大学|杂志|文件)"
    rf"|以{_IN_CLAUSE_ZH}{{2,15}}?为准|从{_IN_CLAUSE_ZH}{{2,20}}?[上里中](?=找|查|搜|检索|收集|获取|看)"
    r"|官方(?:文件|数据|网站|渠道|来源|公告|统计|资料)"
    r"|(?:知乎|小红书|微博|豆瓣|B站|贴吧|抖音|大众点评|京东|淘宝|百度百科|维基百科|公众号)上",
)

_COUNT = re.compile(
    rf"\btop[- ]{_NUMBER_EN}\b"
    rf"|\b{_NUMBER_EN} (?:[a-z-]+ )?(?:companies|firms|vendors|suppliers|buyers|brands|papers|articles"
    r"|studies|reports|sources|links|products|models|options|tools|libraries|examples|cases|cities|countries"
    r"|items|results|points|reasons"
    r"|funds|stocks|books|recipes|places|hotels|trends|patents|policies|projects|bullets?(?: points)?"
    r"|candidates)\b"
    rf"|前{_NUMBER_ZH}(?:名|条|位|大|家|个)?"
    rf"|(?!一[个种家份条位本张]){_NUMBER_ZH}[来多余几]? ?(?:条|家|个|款|种|篇|项|位|部|本|首|道|套|台|份|件|处|名"
    rf"|座|所|类|例|支|点(?=建议|理由|原因|结论|要求|启示|看法))"
    r"(?!窗口|请求|子?智能体|子?代理|进程|文件|脚本|字段|目录|分支|线程|工作表|表格|接口|步骤|月|季度|小时)",
    _ANY_CASE,
)
_COUNT_ASKED = re.compile(
    r"\b(?:give|list|name|suggest|recommend|find|pick|propose|compare|show|choose|shortlist|select|identify|describe"
    r"|provide|include|collect|outline|offer|need|want|which|what are|the|these|(?:list|selection|shortlist|choice) of)"
    r" (?:(?:me|us|the|my|about|around|roughly|just|only|best|other|a list of) ){0,2}"
    rf"(?P<part>{_ITEMS_EN} (?!(?:and|or|of|to|in|at|for|with|is|are|as|by|from)\b)[a-z][a-z'’-]+)"
    r"|\b(?:half )?a dozen\b|\ba (?:couple|handful) of\b"
    r"|\b(?:at (?:least|most)|no (?:more|fewer|less) than|up to|fewer than|exactly|a (?:maximum|minimum) of)"
    rf" {_NUMBER_EN}\b(?! (?:words?|characters?|sentences?|paragraphs?|pages?)\b)(?: [a-z]+)?",
    _ANY_CASE,
)
_LENGTH = re.compile(
    rf"\b{_NUMBER_EN}[- ](?:words?|characters?|sentences?|paragraphs?|pages?)\b"
    rf"|{_NUMBER_ZH}字(?:以内|左右|以上|以下|上下)?|{_NUMBER_ZH}(?:页|段|句)(?:话)?",
    _ANY_CASE,
)
_EXCLUSION_EN = re.compile(
    r"(?P<part>(?:\b(?:but|and) not|\b(?:do not|don['’]t)(?! (?:forget|worry|hesitate))|\bnever|\bwithout"
    r"|\bexcept(?: for)?|\bexclud(?:e|ing)|\bother than|\b(?:apart|aside) from|\bavoid(?:ing)?"
    r"|\bleav(?:e|ing) (?:out|aside)|\bomit(?:ting)?|\bskip(?:ping)?"
    r"|\bignor(?:e|ing)|\brather than|\binstead of|\bnothing (?:about|from|on|with)"
    r"|(?:(?<=[,;:(.!?] )|(?<=and )|(?<=but )|^)no(?! (?:more|fewer|less|longer|matter)\b)|(?<=[,;:(] )not)"
    r"(?: [\w'’-]+){1,2})"
    r"(?:(?! and | then | but )[^.,;!?\n])*",
    _ANY_CASE,
)
_EXCLUSION_ZH = re.compile(
    r"(?P<part>(?:不要|不包括|不包含|不含|不考虑|不算|不涉及|不谈|不提|不想|不需要|不用(?=[讲说提写列管考])|不得|不能|切勿|请勿|避免|避开|排除"
    r"|剔除|忽略|跳过|而不是|而非|无需|禁止|除了|(?<![特分区性类级鉴个识差辨告派])别(?![墅的人处忘]))"
    rf"(?:(?!并|然后|同时){_IN_CLAUSE_ZH}){{1,6}}){_IN_CLAUSE_ZH}*"
    rf"|{_IN_CLAUSE_ZH}{{1,12}}(?:除外|不算)|除{_IN_CLAUSE_ZH}{{1,15}}?[之以]?外",
)

# Kind, pattern, and whether it is wide: then its matches that speak of the machinery are left out by their words.
PATTERNS: tuple[tuple[Kind, re.Pattern[str], bool], ...] = (
    ("recency", _RECENCY, False),
    ("recency", _MONTHS, False),
    ("source", _LINKED, False),
    ("source", _NAMED_EN, True),
    ("source", _NAMED_ZH, True),
    ("count", _COUNT, False),
    ("count", _COUNT_ASKED, True),
    ("length", _LENGTH, False),
    ("exclusion", _EXCLUSION_EN, True),
    ("exclusion", _EXCLUSION_ZH, True),
)
