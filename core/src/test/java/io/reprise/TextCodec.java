// SPDX-License-Identifier: Apache-2.0
package io.reprise;

import io.reprise.job.PayloadException;

/** Payloads that are texts already, so that tests of the core need no JSON library. */
public final class TextCodec implements PayloadCodec {

    public static final String UNREADABLE = "unreadable";

    @Override
    public String encode(Object value) {
        return value.toString();
    }

    @Override
    public <T> T decode(String json, Class<T> type) {
        if (json.equals(UNREADABLE) || type != String.class) {
            throw new PayloadException("not a text");
        }
        return type.cast(json);
    }
}
