"""What the figures of several scenes share."""

import matplotlib.pyplot as plt


def late(run, start):
    """Rows from a time on."""
    rows = run["time"] >= start
    return {name: column[rows] for name, column in run.items()}


def panels(rows, columns, width, height, **options):
    """A figure and its axes, which share what is below them."""
    return plt.subplots(rows, columns, **{"sharex": True, **options}, figsize=(width, height), layout="constrained")


def legend(figure, ncols, axis=None, **options):
    """Names of all curves, or of those of one axis, above the figure."""
    named = axis.get_legend_handles_labels() if axis else ()
    figure.legend(*named, loc="outside upper center", ncols=ncols, **options)


def overlay(runs, y, ylabel, ncols=3, size=(7, 3.5), label="{}", x=lambda run: run["time"], extra=None, **settings):
    """One axis with a curve for each case, and a legend; extra draws more."""
    figure, axis = panels(1, 1, *size)
    for case, run in runs.items():
        axis.plot(x(run), y(run), label=label.format(case))
    if extra:
        extra(axis)
    axis.set(**{"xlabel": "time [s]", "ylabel": ylabel, **settings})
    legend(figure, ncols)
    return figure


def stacked(runs, columns, ylabels, size, ncols, label="{}".format, extra=None, **options):
    """An axis for each of some columns over time, below each other, with a curve for each case; extra draws more."""
    figure, axes = panels(len(columns), 1, *size)
    for case, run in runs.items():
        for axis, column in zip(axes, columns):
            axis.plot(run["time"], run[column], label=label(case))
    for axis, ylabel in zip(axes, ylabels):
        axis.set_ylabel(ylabel)
    if extra:
        extra(*axes)
    axes[-1].set_xlabel("time [s]")
    legend(figure, ncols, axes[0], **options)
    return figure


def edges(axis, *values):
    """Thin horizontal lines."""
    for value in values:
        axis.axhline(value, color="0.6", linewidth=0.8)
