// SPDX-License-Identifier: Apache-2.0
/** The server as a whole: {@link io.reprise.server.RepriseServer} joins the HTTP layer, the API and the engine. */
@NullMarked
package io.reprise.server;

import org.jspecify.annotations.NullMarked;
