// SPDX-License-Identifier: Apache-2.0
package io.reprise.internal.upkeep;

import io.reprise.internal.control.LiveSettings;
import io.reprise.internal.engine.EngineParts;
import io.reprise.internal.engine.OutageRest;
import io.reprise.internal.engine.Role;
import io.reprise.store.StoreException;
import java.time.Duration;

/** Follows the settings of the fleet: it reads their version every 2 seconds, and the settings if it is new. */
public final class SettingsRole implements Role {

    private static final Duration INTERVAL = Duration.ofSeconds(2);

    private final LiveSettings live;
    private final OutageRest outage;

    public SettingsRole(EngineParts parts) {
        this.live = parts.live();
        this.outage = new OutageRest("settings", parts.random());
    }

    @Override
    public String name() {
        return "settings";
    }

    @Override
    public Duration step() {
        try {
            live.refresh();
            outage.worked();
            return INTERVAL;
        } catch (StoreException e) {
            return outage.failed(e);
        }
    }
}
