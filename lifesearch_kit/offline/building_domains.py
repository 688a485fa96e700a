"""How the baseline builder classifies a query: the domain whose words it holds most of."""

from __future__ import annotations

import re
from typing import NamedTuple

from lifesearch_kit.records import DOMAINS


class _Words(NamedTuple):
    english: str
    chinese: str


_COMPANY, _ACADEMIC, _FINANCE, _POLICY, _INDUSTRY, _TECHNICAL, _EVERYDAY = DOMAINS
NONE_FOUND = "none found"
# Words that say what is wanted count for more than words that say what it is about.
_PURPOSE = 3
_PURPOSES: dict[str, _Words] = {
    _COMPANY: _Words(
        r"competitors?|makers?|suppliers?|vendors?|buyers?|importers?|distributors?|manufacturers?|annual report"
        r"|brands? that sell",
        r"进口商|厂商|供应商|竞争对手|竞品|客户名单|买家|采购商|经销商|代理商|融资情况",
    ),
    _ACADEMIC: _Words(
        r"literature|papers?|trials?|randomi[sz]ed|studies|peer-reviewed|patents?|meta-analys\w+|theor\w+",
        r"论文|文献|综述|专利|实证研究|研究进展|期刊|学术|临床试验|随机对照",
    ),
    _FINANCE: _Words(
        r"etfs?|bonds?|stocks?|share price|exchange rate|expense ratios?|yields?|valuation|dividends?"
        r"|price of \w+ allowances"
        r"|futures|funds?",
        r"基金|汇率|股票|债券|收益率|回撤|毛利率|股价|估值|市盈率|分红|期货|存货周转",
    ),
    _POLICY: _Words(
        r"subsid(?:y|ies)|regulations?|rules|laws?|ministry|permits?|eligib\w+|tax credit|statistics office"
        r"|directive|visa",
        r"补贴|政策|备案|申请条件|法规|条例|规定|办法|公告|统计局|税收优惠|签证|社保",
    ),
    _INDUSTRY: _Words(
        r"trends?|market|industry|forecast|overview of|news|startups",
        r"行业|动态|趋势|新闻|市场规模|产业|格局|盘点",
    ),
    _TECHNICAL: _Words(
        r"open[- ]source|apis?|librar(?:y|ies)|databases?|frameworks?|tools?|sdk|self-hosted|servers?|licen[cs]e"
        r"|benchmark",
        r"开源|工具|程序库|语音识别库|接口文档|框架|数据库|许可证|部署|插件|模型大小",
    ),
    _EVERYDAY: _Words(
        r"recipes?|trains?|hotels?|trip|travel|sunscreen|cook\w*|saunas?|museum|diet|vitamins?|holiday|bake"
        r"|hik\w+|flights?",
        r"推荐\d*款|旅游|路线|孕妇|洗烘|预算|食谱|怎么做|好吃|医院|门票|景点|减肥|睡眠|宠物医院|菜谱",
    ),
}
_FORMS = {
    domain: tuple(re.compile(form, re.I) for form in (rf"\b(?:{words.english})\b", f"(?:{words.chinese})"))
    for domain, words in _PURPOSES.items()
}


def domain_of(query: str) -> tuple[str, list[str]]:
    """The domain with the most words in the query, the earlier one of the list where two have as many, and the words.

    The words of the first sentence count threefold: the purpose stands there. Without any word there is no domain, and
    the answer is one that no reader takes for one: the query stays undecided.
    """
    first = re.split(r"[。？?！!\n]|\.\s", query, maxsplit=1)[0]
    found = {domain: [match[0] for form in forms for match in form.finditer(query)] for domain, forms in _FORMS.items()}
    points = {
        domain: sum(_PURPOSE if word in first else 1 for word in dict.fromkeys(words))
        for domain, words in found.items()
    }
    best = max(DOMAINS, key=lambda domain: points[domain])
    if not points[best]:
        return NONE_FOUND, []
    return best, list(dict.fromkeys(found[best]))
