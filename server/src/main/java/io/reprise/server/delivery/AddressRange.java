// SPDX-License-Identifier: Apache-2.0
package io.reprise.server.delivery;

import java.net.InetAddress;
import java.net.UnknownHostException;
import java.util.regex.Pattern;

/** A range of IP addresses in CIDR notation. Immutable. */
final class AddressRange {

    private static final String BYTE = "(?:25[0-5]|2[0-4][0-9]|1[0-9]{2}|[1-9]?[0-9])";
    private static final Pattern IPV4 = Pattern.compile("(?:" + BYTE + "\\.){3}" + BYTE);
    private static final Pattern IPV6 = Pattern.compile("[0-9a-fA-F:.]*:[0-9a-fA-F:.]*");

    private final String text;
    private final byte[] prefix;
    private final int bits;

    private AddressRange(String text, byte[] prefix, int bits) {
        this.text = text;
        this.prefix = prefix;
        this.bits = bits;
    }

    /**
     * Reads {@code 10.0.0.0/8}, {@code fc00::/7}, or a single address.
     *
     * @throws IllegalArgumentException if the text is neither
     */
    static AddressRange parse(String text) {
        int slash = text.indexOf('/');
        byte[] address = literal(slash < 0 ? text : text.substring(0, slash)).getAddress();
        int most = address.length * 8;
        int bits = slash < 0 ? most : bits(text, text.substring(slash + 1), most);
        return new AddressRange(text, address, bits);
    }

    static boolean isLiteral(String text) {
        return IPV4.matcher(text).matches() || IPV6.matcher(text).matches();
    }

    /** Reads an address without a DNS look-up. Other texts are refused, because InetAddress would look them up. */
    static InetAddress literal(String text) {
        try {
            if (isLiteral(text)) {
                return InetAddress.getByName(text);
            }
        } catch (UnknownHostException e) {
            // Refused below, like any other text that is no address.
        }
        throw new IllegalArgumentException("'" + text + "' is not an IP address");
    }

    private static int bits(String range, String text, int most) {
        try {
            int bits = Integer.parseInt(text);
            if (bits >= 0 && bits <= most) {
                return bits;
            }
        } catch (NumberFormatException e) {
            // Refused below.
        }
        throw new IllegalArgumentException("'" + range + "' is not a range: it must end in /0 to /" + most);
    }

    boolean contains(InetAddress address) {
        byte[] other = address.getAddress();
        if (other.length != prefix.length) {
            return false;
        }
        int whole = bits / 8;
        for (int i = 0; i < whole; i++) {
            if (other[i] != prefix[i]) {
                return false;
            }
        }
        int mask = 0xff00 >> bits % 8 & 0xff;
        return mask == 0 || ((other[whole] ^ prefix[whole]) & mask) == 0;
    }

    @Override
    public String toString() {
        return text;
    }
}
