// SPDX-License-Identifier: Apache-2.0
/**
 * Tests of Spring applications with jobs: the real engine in virtual time. Jobs are kept in memory and run only when the
 * test says so.
 */
@NullMarked
package io.reprise.spring.test;

import org.jspecify.annotations.NullMarked;
