// SPDX-License-Identifier: Apache-2.0
/**
 * The HTTP layer of the server. An {@link io.reprise.server.http.Operation} describes what one method on one path
 * takes, answers and needs. Routing, request checks and the OpenAPI document are derived from it, so they cannot
 * differ. To extend the API, implement {@link io.reprise.server.http.Endpoints}. This package knows nothing of
 * jobs but their exceptions.
 */
@NullMarked
package io.reprise.server.http;

import org.jspecify.annotations.NullMarked;
