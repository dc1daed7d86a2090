// SPDX-License-Identifier: Apache-2.0
package io.reprise.benchmarks.system;

import io.reprise.benchmarks.measure.StoreKind;
import io.reprise.benchmarks.measure.Target;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.sql.SQLException;
import java.util.ArrayList;
import java.util.List;
import java.util.stream.Stream;

/** Creates fresh databases at a place and removes them at the end. A place is a server's URL or a directory. */
public final class Databases implements AutoCloseable {

    private final StoreKind store;
    private final String place;
    private final List<String> made = new ArrayList<>();

    public Databases(StoreKind store, String place) {
        this.store = store;
        this.place = place;
    }

    public Target fresh() throws SQLException {
        String name = "bench_" + ProcessHandle.current().pid() + "_" + made.size();
        made.add(name);
        if (store == StoreKind.SQLITE) {
            return new Target(store, "jdbc:sqlite:" + Path.of(place, name + ".db"));
        }
        server().execute("create database " + name);
        return new Target(store, place.replaceFirst("/[^/?]*\\?", "/" + name + "?"));
    }

    @Override
    public void close() throws SQLException {
        for (String name : made) {
            if (store == StoreKind.SQLITE) {
                deleteFiles(name);
            } else {
                server().execute("drop database if exists " + name
                        + (store == StoreKind.POSTGRESQL ? " with (force)" : ""));
            }
        }
        if (store == StoreKind.POSTGRESQL) {
            // Otherwise the next measurement would pay for writing the pages of this one.
            server().execute("checkpoint");
        }
    }

    private Target server() {
        return new Target(store, place);
    }

    private void deleteFiles(String name) {
        try (Stream<Path> files = Files.list(Path.of(place))) {
            for (Path file : files.filter(path -> path.getFileName().toString().startsWith(name))
                    .toList()) {
                Files.delete(file);
            }
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }
}
