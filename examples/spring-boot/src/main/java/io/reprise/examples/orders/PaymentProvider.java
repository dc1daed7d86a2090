// SPDX-License-Identifier: Apache-2.0
package io.reprise.examples.orders;

import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.atomic.AtomicInteger;
import org.springframework.beans.factory.annotation.Value;
import org.springframework.stereotype.Component;

/** A payment provider as they are: busy now and then, and strict about cards. It charges a key only once. */
@Component
public class PaymentProvider {

    private final int failuresOfTen;
    private final long millis;
    private final Set<String> charged = ConcurrentHashMap.newKeySet();
    private final AtomicInteger calls = new AtomicInteger();

    PaymentProvider(
            @Value("${orders.provider.failures-of-ten:4}") int failuresOfTen,
            @Value("${orders.provider.millis:0}") long millis) {
        this.failuresOfTen = failuresOfTen;
        this.millis = millis;
    }

    void charge(String key, int cents) throws InterruptedException {
        Thread.sleep(millis);
        if (cents > 100_000) {
            throw new PaymentException(402, "the card is declined");
        }
        if (calls.getAndIncrement() % 10 < failuresOfTen) {
            throw new PaymentException(503, "the provider is busy");
        }
        charged.add(key);
    }

    /** Returns the keys that were charged. */
    public Set<String> charged() {
        return Set.copyOf(charged);
    }
}
