"""Parts of the HTML pages of a servo and of an arm."""

from __future__ import annotations

import base64
import html
import io
from collections.abc import Iterable, Sequence

import matplotlib

matplotlib.use("Agg")
import matplotlib.pyplot as plt
import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure

_STYLE = """body { font: 15px/1.5 sans-serif; max-width: 70em; margin: 2em auto; padding: 0 1em; color: #222 }
table { border-collapse: collapse; margin: 1em 0 } td, th { padding: .2em .8em; border-bottom: 1px solid #ccc; text-align: right }
td:first-child, th:first-child { text-align: left } tr.chosen { background: #e6f2e6; font-weight: bold }
pre { background: #f4f4f4; padding: 1em; overflow: auto } img { max-width: 100% } p.figure { margin: 1.5em 0 }"""


def page(title: str, parts: Iterable[str]) -> str:
    """A whole page."""
    head = f"<!DOCTYPE html><html lang='en'><head><meta charset='utf-8'><title>{html.escape(title)}</title><style>{_STYLE}</style></head><body>"
    return "\n".join([head, f"<h1>{html.escape(title)}</h1>", *parts, "</body></html>", ""])


def table(head: Sequence[str], rows: Iterable[Sequence[str]], chosen: int = -1) -> str:
    """A table of cells in HTML; one row may be marked."""
    marks = {chosen: " class='chosen'"}
    body = (f"<tr{marks.get(k, '')}>{''.join(f'<td>{cell}</td>' for cell in row)}</tr>" for k, row in enumerate(rows))
    return f"<table><tr>{''.join(f'<th>{cell}</th>' for cell in head)}</tr>{''.join(body)}</table>"


def remarks(title: str, lines: Sequence[str]) -> list[str]:
    """A list under a title, if there are lines."""
    return [f"<h2>{title}</h2><ul>", *(f"<li>{html.escape(line)}</li>" for line in lines), "</ul>"] if lines else []


def image(figure: Figure, name: str, caption: str = "") -> str:
    """A figure as part of the page; it is closed."""
    buffer = io.BytesIO()
    figure.savefig(buffer, format="png", dpi=105)
    plt.close(figure)
    picture = base64.b64encode(buffer.getvalue()).decode()
    return f"<p class='figure'><img alt='{html.escape(name)}' src='data:image/png;base64,{picture}'><br>{caption}</p>"


def panels(columns: int, width: float, height: float, rows: int = 1, sharey: bool = False) -> tuple[Figure, list[Axes]]:
    """Axes with fixed margins, all in inches: a layout that measures each label takes most of the time of a page."""
    figure, axes = plt.subplots(rows, columns, figsize=(width, height), sharey=sharey, squeeze=False)
    left, right, bottom, top, across, down = 0.9, 0.15, 0.55, 0.35, 0.2 if sharey else 0.9, 0.6
    own = (width - left - right - (columns - 1) * across) / columns
    high = (height - bottom - top - (rows - 1) * down) / rows
    figure.subplots_adjust(
        left / width, bottom / height, 1 - right / width, 1 - top / height, across / own, down / high
    )
    return figure, list(axes.flat)


def residuals(
    shown: Sequence[tuple[np.ndarray, str]], residual: np.ndarray, label: str, thin: np.ndarray | None = None
) -> Figure:
    """Residuals over several quantities, with their medians in twelve parts. thin: the samples that are drawn."""
    figure, axes = panels(len(shown), 3.3 * len(shown), 3, sharey=True)
    for ax, (x, name) in zip(axes, shown):
        some = slice(None) if thin is None else thin
        ax.plot(x[some], residual[some], ".", ms=1, alpha=0.2, rasterized=True)
        edges = np.quantile(x, np.linspace(0, 1, 13))
        if np.ptp(edges) > 0:
            place = np.clip(np.searchsorted(edges, x) - 1, 0, 11)
            middles = [(np.median(x[place == k]), np.median(residual[place == k])) for k in np.unique(place)]
            ax.plot(*zip(*middles), "C3o-", ms=3, lw=1, label="median")
        ax.set_xlabel(name)
        ax.grid(alpha=0.3)
    axes[0].set_ylabel(label)
    return figure
