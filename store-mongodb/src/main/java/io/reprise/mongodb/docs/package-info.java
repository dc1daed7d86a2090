// SPDX-License-Identifier: Apache-2.0
/**
 * The documents in MongoDB: their fields, how they are read and written, and what all parts of the store share.
 */
@NullMarked
package io.reprise.mongodb.docs;

import org.jspecify.annotations.NullMarked;
