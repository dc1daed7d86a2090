// SPDX-License-Identifier: Apache-2.0
/**
 * Jobs in MongoDB: {@link io.reprise.mongodb.MongoJobStore} and {@link io.reprise.mongodb.MongoTransaction}. A job
 * is one document with everything that must change together: state, lease, counters, history, keys. So every
 * outcome is one update with the live token in its filter, and needs no transaction. The lease of a batch is the
 * same token in each of its documents.
 */
@NullMarked
package io.reprise.mongodb;

import org.jspecify.annotations.NullMarked;
