// SPDX-License-Identifier: Apache-2.0
package io.reprise.examples.orders;

/** The payload of a charge: what the handler needs, and nothing that changes. */
public record Charge(long order, int cents) {}
