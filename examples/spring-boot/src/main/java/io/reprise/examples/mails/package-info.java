// SPDX-License-Identifier: Apache-2.0
/** The first job of a new application: one class. */
package io.reprise.examples.mails;
