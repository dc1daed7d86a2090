// SPDX-License-Identifier: Apache-2.0
package io.reprise.spring;

import org.springframework.boot.diagnostics.AbstractFailureAnalyzer;
import org.springframework.boot.diagnostics.FailureAnalysis;

/** Shows a wrong configuration without a stack trace. */
final class RepriseFailureAnalyzer extends AbstractFailureAnalyzer<RepriseConfigurationException> {

    @Override
    protected FailureAnalysis analyze(Throwable rootFailure, RepriseConfigurationException cause) {
        return new FailureAnalysis(
                "Reprise cannot start:" + System.lineSeparator() + System.lineSeparator() + cause.getMessage(),
                "Change what is named above.",
                cause);
    }
}
