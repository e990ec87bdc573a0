"""Where the displays of one release get their data from."""

from __future__ import annotations

from typing import Any, Self

import numpy as np

from ..channel import Channel
from ..distribution import JointDistribution
from ..estimators import ReleasingShell
from ..mechanisms import MechanismResult
from ..notions import Notion
from ..views import ReleaseView
from ._text import short_labels

__all__ = ["ReleaseDisplay"]


class ReleaseDisplay:
    """Shared by the displays of one release: where the data come from."""

    def __init__(self, release: ReleaseView) -> None:
        self.release = release

    def _input_labels(self, shown: np.ndarray, *, width: int, lines: int = 1) -> list[str]:
        """Names of some values of X with their probabilities."""
        joint = self.release.joint
        labels = [joint.useful_labels[i] for i in shown]
        return short_labels(labels, joint.p_x[shown], width=width, lines=lines)

    def _output_labels(self, shown: np.ndarray, *, width: int, lines: int = 1) -> list[str]:
        """Names of some outputs, or bits, with their probabilities."""
        release = self.release
        names = short_labels(
            [release.outputs[i] for i in shown],
            release.p_y[shown],
            width=width,
            lines=lines,
            symbols=release.joint.useful_labels,
        )
        return [f"bit {name}" for name in names] if release.bits else names

    @classmethod
    def _drawn(cls, release: ReleaseView, ax: Any, options: dict[str, Any]) -> Self:
        display: Any = cls(release)
        return display.plot(ax, **options)

    @classmethod
    def from_estimator(cls, estimator: ReleasingShell, *, ax: Any = None, **options: Any) -> Self:
        """Draw what a fitted sanitiser does.

        Parameters
        ----------
        estimator : fitted sanitiser
            Any estimator of skliftpriv.
        ax : Axes or sequence of Axes, optional
            Where to draw; see :meth:`plot`.
        **options
            Options of :meth:`plot`.

        Returns
        -------
        display
            The display, drawn.
        """
        return cls._drawn(ReleaseView.of_estimator(estimator), ax, options)

    @classmethod
    def from_result(cls, result: MechanismResult, *, ax: Any = None, **options: Any) -> Self:
        """Draw what a function of :mod:`skliftpriv.mechanisms` returned.

        Parameters
        ----------
        result : MechanismResult
            The result.
        ax, **options
            As in :meth:`from_estimator`.

        Returns
        -------
        display
            The display, drawn.
        """
        return cls._drawn(ReleaseView.of_result(result), ax, options)

    @classmethod
    def from_channel(
        cls,
        joint: JointDistribution,
        channel: Channel,
        notion: Notion | None = None,
        *,
        ax: Any = None,
        **options: Any,
    ) -> Self:
        """Draw a channel of your own.

        Parameters
        ----------
        joint : JointDistribution
            Distribution of S and X.
        channel : Channel
            P(Y|X), with the useful symbols of ``joint`` as inputs.
        notion : Notion, optional
            The budget to draw.
        ax, **options
            As in :meth:`from_estimator`.

        Returns
        -------
        display
            The display, drawn.
        """
        return cls._drawn(ReleaseView.of_channel(joint, channel, notion), ax, options)
