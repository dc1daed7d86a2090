// SPDX-License-Identifier: Apache-2.0
package io.reprise.job;

/**
 * Thrown when a live job holds the unique key already and the {@link KeyRule} forbids another. No job of the call was
 * stored. Wait for the holder to end, cancel it, or enqueue with {@link KeyRule#KEEP}.
 *
 * @since 0.1.0
 */
public class DuplicateKeyException extends RepriseException {

    private static final long serialVersionUID = 1L;

    private final String key;
    private final JobId holder;

    /**
     * Creates the exception with a message that names both.
     *
     * @param key the unique key
     * @param holder the live job that holds it
     */
    public DuplicateKeyException(String key, JobId holder) {
        super("Unique key '" + key + "' is held by live job " + holder
                + ": wait for it to end, cancel it, or enqueue with KeyRule.KEEP");
        this.key = key;
        this.holder = holder;
    }

    /** Returns the unique key. */
    public String key() {
        return key;
    }

    /** Returns the id of the live job that holds the key. */
    public JobId holder() {
        return holder;
    }
}
