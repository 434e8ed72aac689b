"""Velocities and accelerations of logged positions, and torques, over blocks of samples.

All filters are symmetric in time and shift nothing. Motion and torque pass the same average over a block, so linear
relations between them are kept.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from mjgear.identify.arm.logs import ArmLog
from mjgear.identify.logs import LogError

_FLOOR = 10.0  # least ratio of the position's spectrum to its noise that counts as motion
_LEAST = 5.0  # Hz, of the filter
_BANDS = 40  # of a spectrum, each as wide on a scale of logarithms


@dataclass
class Motion:
    """Blocks of one log.

    Attributes:
      time: (N) middle of each block, s from the start of the log.
      q, v, a: (N, joints).
      noise: (joints) of v.
      block: length of a block, s.
    """

    log: ArmLog
    time: np.ndarray
    q: np.ndarray
    v: np.ndarray
    a: np.ndarray
    noise: np.ndarray
    block: float

    def torque(self, j: int, delay: float = 0.0) -> np.ndarray:
        """(N) torque of joint j over each block, logged `delay` later than the motion."""
        x = self.log.torque[:, j]
        # integral of a piecewise constant signal, so that a block may begin between two samples
        whole = np.concatenate([[0.0], np.cumsum(x)]) * self.log.dt
        edges = (np.arange(x.size + 1) - 0.5) * self.log.dt
        half = self.block / 2
        return np.asarray(
            (np.interp(self.time + delay + half, edges, whole) - np.interp(self.time + delay - half, edges, whole))
            / self.block
        )

    def mean(self, values: np.ndarray) -> np.ndarray:
        """(N) means of a column of the log over the blocks."""
        per = round(self.block / self.log.dt)
        first = round(self.time[0] / self.log.dt - (per - 1) / 2)
        return np.asarray(values[first : first + per * self.time.size].reshape(self.time.size, per).mean(axis=1))


def spectrum(log: ArmLog) -> tuple[np.ndarray, np.ndarray]:
    """Frequencies (m), Hz, and power (m, joints) of the positions less a straight line."""
    window = np.hanning(log.n)[:, None]
    x = log.position - np.linspace(0, 1, log.n)[:, None] * (log.position[-1] - log.position[0]) - log.position[0]
    return np.fft.rfftfreq(log.n, log.dt), np.abs(np.fft.rfft(x * window, axis=0)) ** 2


def bandwidth(log: ArmLog) -> float:
    """Return the frequency below which positions exceed the noise of their highest frequencies, Hz."""
    f, power = spectrum(log)
    # means over half a hertz
    width = max(3, int(round(0.5 * log.n * log.dt)))
    kernel = np.ones(width) / width
    found = 0.0
    for p in power.T:
        smooth = np.convolve(p, kernel, "same")
        floor = np.median(p[f > 0.7 * f[-1]]) * 1.44  # ratio of mean to median of a spectrum
        above = np.flatnonzero(smooth > _FLOOR * max(floor, 1e-30))
        if above.size:
            found = max(found, float(f[above[-1]]))
    return found


def quiet(log: ArmLog) -> float:
    """Return the frequency of the smallest acceleration spectrum, Hz: motion below, growing noise and vibration above.

    The middle one of all joints. A spectral line far above the motion does not shift it, as it would in a comparison of powers.
    """
    f, power = spectrum(log)
    edges = np.geomspace(2.0 / (log.n * log.dt), f[-1], _BANDS + 1)
    middle = np.sqrt(edges[1:] * edges[:-1])
    place = np.searchsorted(edges, f, side="right") - 1
    inside = (place >= 0) & (place < _BANDS)
    count = np.bincount(place[inside], minlength=_BANDS)
    found = []
    for p in power.T:
        with np.errstate(invalid="ignore", divide="ignore"):
            density = np.bincount(place[inside], p[inside], minlength=_BANDS) / count
        density = np.interp(np.arange(_BANDS), np.flatnonzero(count), density[count > 0])
        fastest = int(np.argmax(density * middle**2))
        found.append(middle[fastest + int(np.argmin((density * middle**4)[fastest:]))])
    return float(np.median(found))


def prepare(log: ArmLog, cutoff: float | None = None) -> Motion:
    """Filter a log and take means over blocks.

    Args:
      cutoff: of the filter, Hz; None: above the motion's own band.

    Raises:
      LogError: the log is too short.
    """
    from scipy.signal import butter, sosfiltfilt  # here alone, since they are slow to import

    rate = 1 / log.dt
    if cutoff is None:
        cutoff = max(_LEAST, min(1.5 * bandwidth(log), 2 * quiet(log)))
    cutoff = min(cutoff, 0.2 * rate)
    per = max(1, int(rate / max(100.0, 8 * cutoff)))
    # the filter's transient has died away after three periods of its cutoff
    margin = int(np.ceil(3.0 / cutoff * rate))
    if log.n < 4 * margin + 10 * per:
        raise LogError(f"{log.name}: {log.n * log.dt:g} s are too short for a filter of {cutoff:.3g} Hz")
    sos = butter(4, cutoff, fs=rate, output="sos")
    q = sosfiltfilt(sos, log.position, axis=0, padtype="odd", padlen=min(3 * margin, log.n - 2))
    noise_q = np.std(log.position - q, axis=0)
    v = _slope(q, log.dt)
    a = _curve(q, log.dt)
    count = (log.n - 2 * margin) // per
    cut = slice(margin, margin + count * per)
    means = [x[cut].reshape(count, per, -1).mean(axis=1) for x in (q, v, a)]
    time = (margin + per * np.arange(count) + (per - 1) / 2) * log.dt
    # noise of a velocity whose position has white noise up to the cutoff
    noise = noise_q * 2 * np.pi * cutoff * np.sqrt(2 * cutoff / rate / 3)
    return Motion(log, time, means[0], means[1], means[2], noise, per * log.dt)


def _slope(q: np.ndarray, dt: float) -> np.ndarray:
    """First derivative, of fourth order."""
    v = np.gradient(q, dt, axis=0)
    v[2:-2] = (q[:-4] - 8 * q[1:-3] + 8 * q[3:-1] - q[4:]) / (12 * dt)
    return np.asarray(v)


def _curve(q: np.ndarray, dt: float) -> np.ndarray:
    """Second derivative, of fourth order."""
    a = np.gradient(np.gradient(q, dt, axis=0), dt, axis=0)
    a[2:-2] = (-q[:-4] + 16 * q[1:-3] - 30 * q[2:-2] + 16 * q[3:-1] - q[4:]) / (12 * dt**2)
    return np.asarray(a)
