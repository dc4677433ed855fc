"""The least-squares fit finds the minimum that SciPy finds, on random islands of one to four
sources."""
import math
import os
import subprocess

import numpy as np
from scipy.optimize import least_squares

import srcfind_test as t

FIT_JOBS = os.environ.get("FIT_JOBS", "")
FWHM = math.sqrt(8 * math.log(2))
NARROWEST, REACH = 0.5, 2.0  # of a fit: least width in beams, and way of a centre in beam sigmas
PARAMETERS = 6


def frame_of(major, minor, angle):
    """ux, uy, vy of u = W x with W^T W the beam's form, upper triangular."""
    turn = np.array([[np.cos(angle), -np.sin(angle)], [np.sin(angle), np.cos(angle)]])
    form = turn @ np.diag([(FWHM / major) ** 2, (FWHM / minor) ** 2]) @ turn.T
    upper = np.linalg.cholesky(form).T
    return upper[0, 0], upper[0, 1], upper[1, 1]


def model(parameters, u, v):
    total = np.zeros(len(u))
    for peak, u0, v0, p, q, r in parameters.reshape(-1, PARAMETERS):
        du, dv = u - u0, v - v0
        total += peak * np.exp(-(p * du * du + 2 * q * du * dv + r * dv * dv) / 2)
    return total


def slopes(parameters, u, v):
    columns = []
    for peak, u0, v0, p, q, r in parameters.reshape(-1, PARAMETERS):
        du, dv = u - u0, v - v0
        g = np.exp(-(p * du * du + 2 * q * du * dv + r * dv * dv) / 2)
        columns += [
            g,
            peak * g * (p * du + q * dv),
            peak * g * (q * du + r * dv),
            -peak * g * du * du / 2,
            -peak * g * du * dv,
            -peak * g * dv * dv / 2,
        ]
    return np.array(columns).T


class Job:
    """An island of some sources in noise, with a start at the highest pixel beside each."""

    def __init__(self, random):
        major = random.uniform(3, 6)
        self.frame = frame_of(major, major * random.uniform(0.5, 1), random.uniform(0, math.pi))
        n, side = random.integers(1, 5), random.integers(14, 30)
        y, x = np.mgrid[:side, :side]
        self.x, self.y = x.ravel(), y.ravel()
        self.u, self.v = self.frame[0] * self.x + self.frame[1] * self.y, self.frame[2] * self.y
        sources = []
        for _ in range(n):
            cx, cy = random.uniform(4, side - 5, 2)
            width = random.uniform(0.8, 1.6, 2)
            sources.append(
                [
                    10 ** random.uniform(0.9, 3),
                    self.frame[0] * cx + self.frame[1] * cy,
                    self.frame[2] * cy,
                    width[0] ** -2,
                    random.uniform(-0.5, 0.5) / (width[0] * width[1]),
                    width[1] ** -2,
                ]
            )
        clean = model(np.array(sources).ravel(), self.u, self.v)
        keep = clean > 1
        self.x, self.y, self.u, self.v = (
            values[keep] for values in (self.x, self.y, self.u, self.v)
        )
        self.data = clean[keep] + random.normal(0, 1, keep.sum())
        self.start = []
        for source in sources:
            near = np.hypot(self.u - source[1], self.v - source[2]) < 1
            k = int(np.argmax(np.where(near, self.data, -np.inf)))
            self.start.append([self.data[k], self.u[k], self.v[k], 1, 0, 1])
        self.start = np.array(self.start)
        self.widest = max(1.5, 1 + math.hypot(np.ptp(self.u), np.ptp(self.v)) / FWHM)

    def text(self):
        lines = [
            "%.17g %.17g %.17g %.17g %d %d"
            % (*self.frame, self.widest, len(self.start), len(self.x))
        ]
        lines += [" ".join("%.17g" % value for value in source) for source in self.start]
        lines += ["%d %d %.17g" % pixel for pixel in zip(self.x, self.y, self.data)]
        return "\n".join(lines) + "\n"

    def residual(self, parameters):
        return model(parameters, self.u, self.v) - self.data

    def minimise(self, start):
        return least_squares(
            self.residual,
            start.ravel(),
            lambda p: slopes(p, self.u, self.v),
            method="lm",
            x_scale="jac",
            xtol=1e-15,
            ftol=1e-15,
            gtol=1e-15,
            max_nfev=2000,
        )

    def is_inside(self, parameters):
        """No bound holds, nor nearly, and no needle got the beam's shape."""
        for source, start in zip(parameters.reshape(-1, PARAMETERS), self.start):
            widths = np.linalg.eigvalsh([[source[3], source[4]], [source[4], source[5]]])
            if (
                widths[0] <= 1.01 / self.widest**2
                or widths[1] >= 0.99 / NARROWEST**2
                or source[0] < 0.1
            ):
                return False
            if math.hypot(*(source[1:3] - start[1:3])) > 0.99 * REACH or tuple(source[3:]) == (
                1,
                0,
                1,
            ):
                return False
        return True


class Fits(t.Case):
    @t.unittest.skipUnless(os.path.exists(FIT_JOBS), "FIT_JOBS does not lead to the program")
    def test_minimum_of_scipy(self):
        random = np.random.default_rng(1)
        jobs = [
            job
            for job in (Job(random) for _ in range(420))
            if len(job.x) > PARAMETERS * len(job.start)
        ]
        output = subprocess.run(
            [FIT_JOBS],
            input="".join(job.text() for job in jobs),
            check=True,
            capture_output=True,
            text=True,
        ).stdout
        results = [np.array(line.split(), float) for line in output.splitlines()]
        self.assertEqual(len(results), len(jobs))
        n_inside = n_compared = n_same_start = 0
        worst = 0
        for job, (is_fitted, *found) in zip(jobs, results):
            found = np.array(found)
            self.assertEqual(is_fitted, 1)
            if not job.is_inside(found):
                continue
            errors = np.sqrt(
                np.diag(np.linalg.inv(slopes(found, job.u, job.v).T @ slopes(found, job.u, job.v)))
            )
            nearest, expected = job.minimise(found), job.minimise(job.start)
            off = np.max(np.abs(nearest.x - found) / errors)  # from the minimum that it is in
            n_inside += 1
            if off < 1e-5:
                worst, n_compared = max(worst, off), n_compared + 1
                n_same_start += (
                    expected.success and np.max(np.abs(expected.x - found) / errors) < 1e-5
                )
        print(
            "of %d fits, %d reach no bound; %d of these are %.1e errors or less from a minimum, for %d the one that SciPy finds from "
            "the same start" % (len(jobs), n_inside, n_compared, worst, n_same_start)
        )
        # others end where a step is clipped, or gains less than 1e-12
        self.assertGreater(n_compared, max(200, 0.97 * n_inside))
        self.assertGreater(n_same_start, 0.75 * n_compared)  # SciPy has no bounds


if __name__ == "__main__":
    t.main()
