// SPDX-License-Identifier: Apache-2.0
package io.reprise.server.http;

import java.util.List;

/** A part of the API. */
public interface Endpoints {

    List<Operation> operations();
}
