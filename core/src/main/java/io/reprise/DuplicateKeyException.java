// SPDX-License-Identifier: Apache-2.0
package io.reprise;

/** A live job already holds the unique key and the {@link KeyRule} forbids another. */
public class DuplicateKeyException extends RepriseException {

    private static final long serialVersionUID = 1L;

    private final String key;
    private final JobId holder;

    public DuplicateKeyException(String key, JobId holder) {
        super("Unique key '" + key + "' is held by live job " + holder
                + ": wait for it to end, cancel it, or enqueue with KeyRule.KEEP");
        this.key = key;
        this.holder = holder;
    }

    public String key() {
        return key;
    }

    public JobId holder() {
        return holder;
    }
}
