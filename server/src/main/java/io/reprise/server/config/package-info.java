// SPDX-License-Identifier: Apache-2.0
/**
 * What the server is told to be: settings from file, environment and flags under one name each, checked all at once. No
 * other package reads the environment.
 */
@NullMarked
package io.reprise.server.config;

import org.jspecify.annotations.NullMarked;
