// SPDX-License-Identifier: Apache-2.0
package io.reprise.spring;

import io.reprise.job.RepriseException;
import java.util.List;

/**
 * The application cannot start as it is configured. Each problem says what to write.
 *
 * @since 0.1.0
 */
public final class RepriseConfigurationException extends RepriseException {

    private static final long serialVersionUID = 1L;

    /** Creates an exception with a sentence that says what to write. */
    public RepriseConfigurationException(String problem) {
        super(problem);
    }

    /** Sets what a property says. A value that is refused becomes a problem with the name of the property. */
    static void check(String property, Runnable setting) {
        try {
            setting.run();
        } catch (IllegalArgumentException e) {
            throw new RepriseConfigurationException(property + ": " + e.getMessage());
        }
    }

    static void throwIfAny(List<String> problems) {
        if (!problems.isEmpty()) {
            throw new RepriseConfigurationException(String.join(System.lineSeparator(), problems));
        }
    }
}
