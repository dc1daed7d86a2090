// SPDX-License-Identifier: Apache-2.0
/**
 * Reprise in a Spring Boot application: auto-configuration, handlers by annotation, transactions that are joined. One
 * set of classes serves Spring Boot 3.5 to 4.1, so it uses only what all of them have. Nothing here commits or rolls
 * back a transaction that it did not begin.
 */
@NullMarked
package io.reprise.spring;

import org.jspecify.annotations.NullMarked;
