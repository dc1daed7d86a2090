// SPDX-License-Identifier: Apache-2.0
package io.reprise.jdbc.postgres;

import io.reprise.jdbc.sql.Session;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.sql.SQLException;
import org.jspecify.annotations.Nullable;
import org.postgresql.copy.CopyIn;

/**
 * Writes rows in PostgreSQL's binary COPY format. It sends them in chunks, so that the server works
 * while more rows are written.
 */
final class CopyRows {

    private static final byte[] SIGNATURE = "PGCOPY\n\u00ff\r\n\0".getBytes(StandardCharsets.ISO_8859_1);
    private static final int CHUNK = 64 * 1024;
    private static final int NULL = -1;
    private static final short END = -1;

    private final CopyIn copy;
    private ByteBuffer buffer = ByteBuffer.allocate(2 * CHUNK);

    CopyRows(CopyIn copy) {
        this.copy = copy;
        // No flags, no header extension.
        buffer.put(SIGNATURE).putInt(0).putInt(0);
    }

    void begin(int columns) throws SQLException {
        if (buffer.position() >= CHUNK) {
            send();
        }
        room(Short.BYTES).putShort((short) columns);
    }

    /** Writes a bigint. */
    void number(long value) {
        room(Integer.BYTES + Long.BYTES).putInt(Long.BYTES).putLong(value);
    }

    /** Writes a long as bigint, an int as smallint, and anything else as text. */
    void value(@Nullable Object value) {
        if (value == null) {
            room(Integer.BYTES).putInt(NULL);
        } else if (value instanceof Long number) {
            number(number);
        } else if (value instanceof Integer number) {
            room(Integer.BYTES + Short.BYTES).putInt(Short.BYTES).putShort(number.shortValue());
        } else {
            String text = value instanceof Enum<?> constant ? constant.name() : Session.storable((String) value);
            byte[] bytes = text.getBytes(StandardCharsets.UTF_8);
            room(Integer.BYTES + bytes.length).putInt(bytes.length).put(bytes);
        }
    }

    void end() throws SQLException {
        room(Short.BYTES).putShort(END);
        send();
    }

    private ByteBuffer room(int bytes) {
        if (buffer.remaining() < bytes) {
            ByteBuffer larger = ByteBuffer.allocate(2 * (buffer.position() + bytes));
            buffer = larger.put(buffer.flip());
        }
        return buffer;
    }

    private void send() throws SQLException {
        copy.writeToCopy(buffer.array(), 0, buffer.position());
        buffer.clear();
    }
}
