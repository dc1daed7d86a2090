// SPDX-License-Identifier: Apache-2.0
/** An order service on Spring Boot. Orders and jobs are in one database, so they are committed together. */
package io.reprise.examples.orders;
