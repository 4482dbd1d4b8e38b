#!/usr/bin/env python3
"""Writes chi2.tsv: p-values of χ² from SciPy, for the tests of src/stats.rs.

    pip install scipy==1.17.1 && python3 chi2.py >chi2.tsv
"""

import scipy
from scipy.stats import chi2

print(f"# statistic, degrees of freedom, p-value: scipy.stats.chi2.sf of SciPy {scipy.__version__}")
for df in (1, 2, 3, 5, 7, 11, 12, 15, 29, 30, 31, 63, 99, 255, 999, 4095, 9999, 99999):
    for p in (0.999, 0.9, 0.5, 0.1, 0.05, 0.01, 1e-3, 1e-6, 1e-12, 1e-50, 1e-200):
        statistic = float(f"{chi2.isf(p, df):.6g}")
        print(f"{statistic!r}\t{df}\t{chi2.sf(statistic, df)!r}".replace("np.float64(", "").replace(")", ""))
