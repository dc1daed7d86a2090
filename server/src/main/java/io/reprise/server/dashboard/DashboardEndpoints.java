// SPDX-License-Identifier: Apache-2.0
package io.reprise.server.dashboard;

import io.reprise.server.api.Api;
import io.reprise.server.http.Endpoints;
import io.reprise.server.http.Operation;
import java.util.List;

/** All endpoints of this package. */
public final class DashboardEndpoints implements Endpoints {

    private final List<Endpoints> parts;

    public DashboardEndpoints(Api api) {
        this(api, "");
    }

    /**
     * Creates the endpoints for a page that is not at the root of its server.
     *
     * @param base path of the page, without a slash at its end
     */
    public DashboardEndpoints(Api api, String base) {
        Pulse pulse = new Pulse(api, System::nanoTime);
        this.parts = List.of(
                new PageEndpoints(base),
                new PulseEndpoints(pulse),
                new SeriesEndpoints(api.store()),
                new PlanEndpoints(api),
                new WaitEndpoints(api),
                new ErrorEndpoints(api, System::nanoTime));
    }

    @Override
    public List<Operation> operations() {
        return parts.stream().flatMap(part -> part.operations().stream()).toList();
    }
}
