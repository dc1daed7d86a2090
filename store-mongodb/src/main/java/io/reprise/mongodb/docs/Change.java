// SPDX-License-Identifier: Apache-2.0
package io.reprise.mongodb.docs;

import java.util.List;
import org.bson.Document;
import org.jspecify.annotations.Nullable;

/** Builds an update. Setting a field to null removes it. */
public final class Change {

    private final Document set = new Document();
    private final Document setOnInsert = new Document();
    private final Document unset = new Document();
    private final Document max = new Document();
    private final Document inc = new Document();
    private final Document push = new Document();
    private final Document pull = new Document();
    private final Document addToSet = new Document();

    private Change() {}

    public static Change none() {
        return new Change();
    }

    /** Begins a change of a job at this time. */
    public static Change at(long now) {
        return new Change().set(FieldNames.UPDATED_AT, MongoTime.date(now));
    }

    public Change set(String field, @Nullable Object value) {
        if (value == null) {
            set.remove(field);
            unset.append(field, "");
        } else {
            unset.remove(field);
            set.append(field, value);
        }
        return this;
    }

    /** Sets a number only if it is greater than the one that is there. */
    public Change raise(String field, long value) {
        max.append(field, value);
        return this;
    }

    public Change setAll(Document values) {
        values.forEach(this::set);
        return this;
    }

    /** Sets a field only if this change creates the document. */
    public Change setOnInsert(String field, Object value) {
        setOnInsert.append(field, value);
        return this;
    }

    public Change remove(String... fields) {
        for (String field : fields) {
            set(field, null);
        }
        return this;
    }

    public Change add(String field, Number amount) {
        inc.append(field, amount);
        return this;
    }

    /** Appends to a list and keeps only its newest entries. */
    public Change push(String field, Object value, int kept) {
        push.append(field, new Document("$each", List.of(value)).append("$slice", -kept));
        return this;
    }

    public Change pushAll(String field, List<Document> values) {
        push.append(field, new Document("$each", values));
        return this;
    }

    /** Removes the entries of a list that match. */
    public Change pull(String field, Document matching) {
        pull.append(field, matching);
        return this;
    }

    public Change addToSet(String field, List<String> values) {
        addToSet.append(field, new Document("$each", values));
        return this;
    }

    public Document build() {
        Document update = new Document();
        put(update, "$set", set);
        put(update, "$setOnInsert", setOnInsert);
        put(update, "$unset", unset);
        put(update, "$max", max);
        put(update, "$inc", inc);
        put(update, "$push", push);
        put(update, "$pull", pull);
        put(update, "$addToSet", addToSet);
        return update;
    }

    private static void put(Document update, String operator, Document fields) {
        if (!fields.isEmpty()) {
            update.append(operator, fields);
        }
    }
}
