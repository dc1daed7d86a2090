// SPDX-License-Identifier: Apache-2.0
package io.reprise.server.dashboard;

import io.reprise.server.api.Api;
import io.reprise.server.http.Caller;
import io.reprise.server.http.Endpoints;
import io.reprise.server.http.Operation;
import io.reprise.server.http.Schema;
import java.util.List;

/** All endpoints of this package. */
public final class DashboardEndpoints implements Endpoints {

    /** The form of the text that {@link #pulse} returns. */
    public static final Schema PULSE = PulseEndpoints.PULSE;

    private final List<Endpoints> parts;
    private final PulseEndpoints pulse;

    public DashboardEndpoints(Api api) {
        this(api, "");
    }

    /**
     * Creates the endpoints for a page that is not at the root of its server.
     *
     * @param base path of the page, without a slash at its end
     */
    public DashboardEndpoints(Api api, String base) {
        this.pulse = new PulseEndpoints(new Pulse(api, System::nanoTime));
        this.parts = List.of(
                new PageEndpoints(base),
                pulse,
                new SeriesEndpoints(api.store()),
                new PlanEndpoints(api),
                new WaitEndpoints(api),
                new ErrorEndpoints(api, System::nanoTime));
    }

    /** Returns the pulse as a caller may see it, in JSON. It is read once a second, however many ask. */
    public String pulse(Caller caller) {
        return pulse.text(caller);
    }

    @Override
    public List<Operation> operations() {
        return parts.stream().flatMap(part -> part.operations().stream()).toList();
    }
}
