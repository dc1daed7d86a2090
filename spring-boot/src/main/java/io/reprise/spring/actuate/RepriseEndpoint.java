// SPDX-License-Identifier: Apache-2.0
package io.reprise.spring.actuate;

import java.util.Map;
import org.springframework.boot.actuate.endpoint.annotation.Endpoint;
import org.springframework.boot.actuate.endpoint.annotation.ReadOperation;

/** Shows queues, resources, workers and groups of dead letters. It changes nothing. */
@Endpoint(id = "reprise")
final class RepriseEndpoint {

    private final RepriseState state;

    RepriseEndpoint(RepriseState state) {
        this.state = state;
    }

    @ReadOperation
    public Map<String, Object> state() {
        return state.everything();
    }
}
