// SPDX-License-Identifier: Apache-2.0
/** The page of the dashboard, and what it reads that other clients may read as well: pulse, series, plans. */
@NullMarked
package io.reprise.server.dashboard;

import org.jspecify.annotations.NullMarked;
