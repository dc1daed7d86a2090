// SPDX-License-Identifier: Apache-2.0
package io.reprise.simulator;

import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;

/** Maps values to positions on an axis. */
final class Scale {

    private static final int MARKS = 6;

    private final boolean logarithmic;
    private final double from;
    private final double to;
    private final double low;
    private final double high;

    Scale(double[] values, boolean logarithmic, double from, double to) {
        this.logarithmic = logarithmic;
        this.from = from;
        this.to = to;
        double least =
                Arrays.stream(values).filter(v -> !logarithmic || v > 0).min().orElse(0);
        double most = Arrays.stream(values).max().orElse(1);
        low = logarithmic ? Math.floor(Math.log10(least > 0 ? least : 1)) : Math.min(0, least);
        double top = logarithmic ? Math.ceil(Math.log10(most > 0 ? most : 1)) : most;
        high = top > low ? top : low + 1;
    }

    double at(double value) {
        double place = logarithmic ? Math.log10(Math.max(value, Math.pow(10, low))) : value;
        return from + (to - from) * (place - low) / (high - low);
    }

    /** Returns round values to write beside the axis. */
    List<Double> marks() {
        List<Double> marks = new ArrayList<>();
        double step = logarithmic ? 1 : round((high - low) / MARKS);
        for (double mark = Math.ceil(low / step) * step; mark <= high + step * 1e-9; mark += step) {
            marks.add(logarithmic ? Math.pow(10, mark) : mark);
        }
        return marks;
    }

    /** Returns the next 1, 2 or 5 times a power of ten. */
    private static double round(double step) {
        double power = Math.pow(10, Math.floor(Math.log10(step)));
        double times = step / power;
        return power * (times <= 1 ? 1 : times <= 2 ? 2 : times <= 5 ? 5 : 10);
    }
}
