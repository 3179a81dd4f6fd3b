"""The search for the smallest sets of items that make a build bad: pure, deterministic, with few builds."""

from trtforensics.bisection.search.culprits import Search
from trtforensics.bisection.search.model import AGAIN, Ask, Item, Outlook, Result, Status, Verdict
from trtforensics.bisection.search.probing import FewestSearch, ProbeSearch, SubsetSearch

__all__ = [
    "AGAIN",
    "Ask",
    "FewestSearch",
    "Item",
    "Outlook",
    "ProbeSearch",
    "Result",
    "Search",
    "Status",
    "SubsetSearch",
    "Verdict",
]
