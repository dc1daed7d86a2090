// SPDX-License-Identifier: Apache-2.0
package io.reprise.mongodb.docs;

import com.mongodb.bulk.BulkWriteResult;
import com.mongodb.client.AggregateIterable;
import com.mongodb.client.ClientSession;
import com.mongodb.client.FindIterable;
import com.mongodb.client.MongoCollection;
import com.mongodb.client.model.BulkWriteOptions;
import com.mongodb.client.model.CountOptions;
import com.mongodb.client.model.UpdateOptions;
import com.mongodb.client.model.WriteModel;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import org.bson.Document;
import org.jspecify.annotations.Nullable;

/** A collection, used in a transaction or without one. */
public final class Docs {

    private static final BulkWriteOptions UNORDERED = new BulkWriteOptions().ordered(false);
    private static final UpdateOptions UPSERT = new UpdateOptions().upsert(true);

    private final MongoCollection<Document> all;
    private final @Nullable ClientSession session;

    public Docs(MongoCollection<Document> all, @Nullable ClientSession session) {
        this.all = all;
        this.session = session;
    }

    /** Returns the name of the collection. */
    public String name() {
        return all.getNamespace().getCollectionName();
    }

    public FindIterable<Document> find(Document filter) {
        return session == null ? all.find(filter) : all.find(session, filter);
    }

    public @Nullable Document first(Document filter) {
        return find(filter).limit(1).first();
    }

    public List<Document> list(Document filter) {
        return find(filter).into(new ArrayList<>());
    }

    public boolean exists(Document filter) {
        return find(filter).projection(new Document(FieldNames.ID, 1)).limit(1).first() != null;
    }

    public long count(Document filter, int most) {
        CountOptions options = new CountOptions().limit(most);
        return session == null ? all.countDocuments(filter, options) : all.countDocuments(session, filter, options);
    }

    public long count(Document filter) {
        return session == null ? all.countDocuments(filter) : all.countDocuments(session, filter);
    }

    /** Returns the number of documents from the server's metadata, without counting. */
    public long estimate() {
        return all.estimatedDocumentCount();
    }

    public AggregateIterable<Document> aggregate(Document... stages) {
        return session == null ? all.aggregate(Arrays.asList(stages)) : all.aggregate(session, Arrays.asList(stages));
    }

    public List<String> distinct(String field, Document filter) {
        return (session == null
                        ? all.distinct(field, filter, String.class)
                        : all.distinct(session, field, filter, String.class))
                .into(new ArrayList<>());
    }

    public void insert(Document document) {
        if (session == null) {
            all.insertOne(document);
        } else {
            all.insertOne(session, document);
        }
    }

    public void insert(List<Document> documents) {
        if (session == null) {
            all.insertMany(documents);
        } else {
            all.insertMany(session, documents);
        }
    }

    /** Updates one document. Returns whether one matched. */
    public boolean update(Document filter, Change change) {
        return (session == null
                                ? all.updateOne(filter, change.build())
                                : all.updateOne(session, filter, change.build()))
                        .getMatchedCount()
                > 0;
    }

    /** Updates every matching document. Returns how many matched. */
    public long updateAll(Document filter, Change change) {
        return (session == null
                        ? all.updateMany(filter, change.build())
                        : all.updateMany(session, filter, change.build()))
                .getMatchedCount();
    }

    /** Updates one document, or creates it. */
    public void upsert(Document filter, Change change) {
        if (session == null) {
            all.updateOne(filter, change.build(), UPSERT);
        } else {
            all.updateOne(session, filter, change.build(), UPSERT);
        }
    }

    public boolean delete(Document filter) {
        return (session == null ? all.deleteOne(filter) : all.deleteOne(session, filter)).getDeletedCount() > 0;
    }

    public long deleteAll(Document filter) {
        return (session == null ? all.deleteMany(filter) : all.deleteMany(session, filter)).getDeletedCount();
    }

    public BulkWriteResult bulk(List<? extends WriteModel<Document>> models) {
        return session == null ? all.bulkWrite(models, UNORDERED) : all.bulkWrite(session, models, UNORDERED);
    }
}
