// SPDX-License-Identifier: Apache-2.0
package io.reprise.examples.orders;

import io.reprise.failure.FailureDetails;

/** What the provider answered. The status tells Reprise whether another try can help. */
public class PaymentException extends RuntimeException implements FailureDetails {

    private static final long serialVersionUID = 1L;

    private final int status;

    PaymentException(int status, String message) {
        super(message);
        this.status = status;
    }

    @Override
    public Integer httpStatus() {
        return status;
    }
}
