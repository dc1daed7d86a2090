// SPDX-License-Identifier: Apache-2.0
/**
 * HTTP as the server speaks it. An {@link io.reprise.server.http.Operation} says what one method on one path takes, answers
 * and needs; from that come the routing, the checks of every request, and the OpenAPI document, so they cannot differ. To
 * add to the API, implement {@link io.reprise.server.http.Endpoints}. Of jobs it knows no more than the errors they end in.
 */
@NullMarked
package io.reprise.server.http;

import org.jspecify.annotations.NullMarked;
