// SPDX-License-Identifier: Apache-2.0
/** The one-line search for jobs: the same text for the API, the command line and the dashboard. */
@NullMarked
package io.reprise.server.search;

import org.jspecify.annotations.NullMarked;
