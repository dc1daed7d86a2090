// SPDX-License-Identifier: Apache-2.0
import org.jspecify.annotations.NullMarked;

/** Jobs in MongoDB. */
@NullMarked
module io.reprise.mongodb {
    requires static org.jspecify;
    requires transitive io.reprise.core;
    requires transitive org.mongodb.driver.sync.client;
    requires org.mongodb.driver.core;
    requires org.mongodb.bson;
    requires org.slf4j;

    exports io.reprise.mongodb;
}
