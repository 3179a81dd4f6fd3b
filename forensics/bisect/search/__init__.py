"""The search for the smallest sets of items that make a build bad: pure, deterministic, with few builds."""

from trtforensics.bisect.search.basis.model import AGAIN, Ask, Item, Outlook, Result, Status, Verdict
from trtforensics.bisect.search.basis.rounds import Round, RoundSearch
from trtforensics.bisect.search.fewest import FewestSearch
from trtforensics.bisect.search.search import Search

__all__ = [
    "AGAIN",
    "Ask",
    "FewestSearch",
    "Item",
    "Outlook",
    "Result",
    "Round",
    "RoundSearch",
    "Search",
    "Status",
    "Verdict",
]
