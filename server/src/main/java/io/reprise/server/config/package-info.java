// SPDX-License-Identifier: Apache-2.0
/**
 * The configuration of the server: settings from file, environment and flags, with one name each, checked together. No
 * other package reads the environment.
 */
@NullMarked
package io.reprise.server.config;

import org.jspecify.annotations.NullMarked;
