// SPDX-License-Identifier: Apache-2.0
/** Changes of all jobs that match: an operation with progress that can be cancelled, and not a long request. */
@NullMarked
package io.reprise.server.bulk;

import org.jspecify.annotations.NullMarked;
