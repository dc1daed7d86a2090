// SPDX-License-Identifier: Apache-2.0
/** Steps of jobs over HTTP: shown, forgotten and resolved by people; events that are told. */
@NullMarked
package io.reprise.server.steps;

import org.jspecify.annotations.NullMarked;
