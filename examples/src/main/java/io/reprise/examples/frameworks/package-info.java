// SPDX-License-Identifier: Apache-2.0
/** Reprise in application frameworks without a starter: one class each, which the framework calls. */
@NullMarked
package io.reprise.examples.frameworks;

import org.jspecify.annotations.NullMarked;
