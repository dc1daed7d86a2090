// SPDX-License-Identifier: Apache-2.0
package io.reprise.opentelemetry;

import io.opentelemetry.api.common.AttributeKey;

/** All names of attributes: those of the semantic conventions for messaging (1.44, in development), and our own. */
final class TraceNames {

    static final String SYSTEM_VALUE = "reprise";

    static final AttributeKey<String> SYSTEM = AttributeKey.stringKey("messaging.system");
    static final AttributeKey<String> OPERATION = AttributeKey.stringKey("messaging.operation.name");
    static final AttributeKey<String> OPERATION_TYPE = AttributeKey.stringKey("messaging.operation.type");
    static final AttributeKey<String> DESTINATION = AttributeKey.stringKey("messaging.destination.name");
    static final AttributeKey<String> MESSAGE_ID = AttributeKey.stringKey("messaging.message.id");
    static final AttributeKey<Long> BATCH = AttributeKey.longKey("messaging.batch.message_count");
    static final AttributeKey<String> ERROR_TYPE = AttributeKey.stringKey("error.type");

    static final AttributeKey<String> JOB_TYPE = AttributeKey.stringKey("reprise.type");
    static final AttributeKey<String> LINK = AttributeKey.stringKey("reprise.link");
    static final AttributeKey<String> STEP = AttributeKey.stringKey("reprise.step");
    static final AttributeKey<String> OUTCOME = AttributeKey.stringKey("reprise.outcome");
    static final AttributeKey<Long> ATTEMPT = AttributeKey.longKey("reprise.attempt");
    static final AttributeKey<Long> MAX_ATTEMPTS = AttributeKey.longKey("reprise.attempts.max");
    static final AttributeKey<String> RESOURCE = AttributeKey.stringKey("reprise.resource");
    static final AttributeKey<String> WAIT_REASON = AttributeKey.stringKey("reprise.wait.reason");
    static final AttributeKey<Boolean> PROBE = AttributeKey.booleanKey("reprise.probe");
    static final AttributeKey<String> FAILURE_CLASS = AttributeKey.stringKey("reprise.failure.class");
    static final AttributeKey<String> FAIL_REASON = AttributeKey.stringKey("reprise.fail.reason");
    static final AttributeKey<String> RULE = AttributeKey.stringKey("reprise.rule");
    static final AttributeKey<String> FINGERPRINT = AttributeKey.stringKey("reprise.fingerprint");
    static final AttributeKey<Double> DELAY_SECONDS = AttributeKey.doubleKey("reprise.retry.delay");
    static final AttributeKey<String> NEXT_AT = AttributeKey.stringKey("reprise.retry.next_at");

    private TraceNames() {}
}
