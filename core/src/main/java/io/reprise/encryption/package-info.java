// SPDX-License-Identifier: Apache-2.0
/**
 * Encrypts payloads and results at rest: {@link io.reprise.encryption.EncryptingCodec} wraps any other codec. Types,
 * queues, resources, tags, keys, errors and progress are not encrypted.
 */
@NullMarked
package io.reprise.encryption;

import org.jspecify.annotations.NullMarked;
