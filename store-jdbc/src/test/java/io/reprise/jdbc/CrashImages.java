// SPDX-License-Identifier: Apache-2.0
package io.reprise.jdbc;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.ByteBuffer;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;

/**
 * What a power cut during one call may leave on the disk, made from the files as they were before and after it. SQLite
 * appends frames to the WAL, or begins it again, each frame a page; only then may a checkpoint write pages of the file.
 */
final class CrashImages {

    private static final int WAL_HEADER = 32;
    private static final int FRAME_HEADER = 24;
    private static final int PAGE = 4_096;
    private static final int FRAME = FRAME_HEADER + PAGE;

    /** Inside a frame: in its header, in the middle of its page, before its last byte. */
    private static final int[] TEARS = {7, FRAME_HEADER + PAGE / 2, FRAME - 1};

    private CrashImages() {}

    /** The database file and its WAL. */
    static final class Disk {
        final byte[] db;
        final byte[] wal;

        Disk(byte[] db, byte[] wal) {
            this.db = db;
            this.wal = wal;
        }
    }

    /** Both files after a crash. */
    static final class Image {
        final String what;
        final Disk disk;
        /** Transactions of the call that are whole in it. */
        final int commits;
        /** Whether everything the call wrote to the WAL is there. */
        final boolean all;

        Image(String what, byte[] db, byte[] wal, int commits, boolean all) {
            this.what = what;
            this.disk = new Disk(db, wal);
            this.commits = commits;
            this.all = all;
        }
    }

    static Disk read(Path file) {
        return new Disk(bytes(file), bytes(Path.of(file + "-wal")));
    }

    /**
     * Every prefix of the frames written, each also with the next one torn in several places, or missing though later
     * ones arrived; then every prefix of the pages that a checkpoint wrote, the next one torn.
     */
    static List<Image> between(Disk before, Disk after) {
        List<Image> images = new ArrayList<>();
        List<Integer> written = written(before.wal, after.wal);
        byte[] wal = before.wal;
        int commits = 0;
        for (int i = 0; i < written.size(); i++) {
            int at = written.get(i);
            images.add(new Image("before frame " + i, before.db, wal, commits, false));
            if (i == 0) {
                wal = patched(wal, after.wal, 0, WAL_HEADER);
            }
            for (int tear : TEARS) {
                byte[] torn = patched(wal, after.wal, at, tear);
                if (!isWhole(torn, after.wal, at)) {
                    images.add(new Image("frame " + i + " torn at " + tear, before.db, torn, commits, false));
                }
            }
            if (i + 1 < written.size()) {
                byte[] hole = after.wal.clone();
                Arrays.fill(hole, at, at + FRAME, (byte) 0);
                images.add(new Image("frame " + i + " missing", before.db, hole, commits, false));
            }
            wal = patched(wal, after.wal, at, FRAME);
            commits += isCommit(after.wal, at) ? 1 : 0;
        }
        images.add(new Image("all frames", before.db, after.wal, commits, true));
        images.addAll(checkpoint(before.db, after, commits));
        return images;
    }

    private static List<Image> checkpoint(byte[] before, Disk after, int commits) {
        List<Image> images = new ArrayList<>();
        byte[] db = before;
        for (int at = 0; at < after.db.length; at += PAGE) {
            if (!Arrays.equals(slice(db, at, PAGE), slice(after.db, at, PAGE))) {
                byte[] torn = patched(db, after.db, at, PAGE / 2);
                images.add(new Image("page at " + at + " torn", torn, after.wal, commits, true));
                db = patched(db, after.db, at, PAGE);
                images.add(new Image("page at " + at + " written", db, after.wal, commits, true));
            }
        }
        return images;
    }

    /** Where the frames begin that the call wrote. */
    private static List<Integer> written(byte[] before, byte[] after) {
        List<Integer> written = new ArrayList<>();
        for (int at = WAL_HEADER; at + FRAME <= after.length; at += FRAME) {
            if (!isWhole(before, after, at)) {
                written.add(at);
            }
        }
        return written;
    }

    private static boolean isWhole(byte[] wal, byte[] after, int at) {
        return Arrays.equals(slice(wal, at, FRAME), slice(after, at, FRAME));
    }

    /** A frame that ends a transaction tells the size of the database after it. */
    private static boolean isCommit(byte[] wal, int at) {
        return ByteBuffer.wrap(wal).getInt(at + 4) != 0;
    }

    private static byte[] slice(byte[] bytes, int at, int length) {
        return at >= bytes.length ? new byte[0] : Arrays.copyOfRange(bytes, at, Math.min(bytes.length, at + length));
    }

    private static byte[] patched(byte[] old, byte[] source, int at, int length) {
        byte[] bytes = Arrays.copyOf(old, Math.max(old.length, at + length));
        System.arraycopy(source, at, bytes, at, length);
        return bytes;
    }

    private static byte[] bytes(Path file) {
        try {
            return Files.exists(file) ? Files.readAllBytes(file) : new byte[0];
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }
}
