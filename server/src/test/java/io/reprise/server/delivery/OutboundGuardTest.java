// SPDX-License-Identifier: Apache-2.0
package io.reprise.server.delivery;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;
import static org.assertj.core.api.Assertions.assertThatIllegalArgumentException;

import java.net.InetAddress;
import java.net.UnknownHostException;
import java.util.Arrays;
import java.util.List;
import java.util.Set;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

class OutboundGuardTest {

    private static OutboundGuard guard(List<String> allowed, String... addresses) {
        return new OutboundGuard(allowed, Set.of(), host -> addresses(addresses));
    }

    private static List<InetAddress> addresses(String... texts) {
        return Arrays.stream(texts).map(AddressRange::literal).toList();
    }

    private static final OutboundGuard STRICT = new OutboundGuard(List.of(), Set.of(), Resolver.SYSTEM);

    @ParameterizedTest
    @ValueSource(
            strings = {
                "http://127.0.0.1/",
                "http://127.255.255.254/",
                "http://0.0.0.0/",
                "http://0.1.2.3/",
                "http://10.0.0.1/",
                "http://172.16.0.1/",
                "http://172.31.255.255/",
                "http://192.168.1.1/",
                "http://169.254.169.254/latest/meta-data/",
                "http://100.100.100.200/",
                "http://100.64.0.1/",
                "http://168.63.129.16/",
                "http://192.0.0.192/",
                "http://198.18.0.1/",
                "http://203.0.113.9/",
                "http://224.0.0.1/",
                "http://239.255.255.250:1900/",
                "http://240.0.0.1/",
                "http://255.255.255.255/",
                "http://[::1]/",
                "http://[::]/",
                "http://[0:0:0:0:0:0:0:1]/",
                "http://[::ffff:127.0.0.1]/",
                "http://[::ffff:7f00:1]/",
                "http://[::ffff:a9fe:a9fe]/",
                "http://[::127.0.0.1]/",
                "http://[fe80::1]/",
                "http://[fe80::1%25eth0]/",
                "http://[fc00::1]/",
                "http://[fd00:ec2::254]/",
                "http://[fec0::1]/",
                "http://[ff02::1]/",
                "http://[64:ff9b::7f00:1]/",
                "http://[64:ff9b::a00:1]/",
                "http://[2002:7f00:1::]/",
                "http://[2002:a9fe:a9fe::1]/",
                "http://[2001::1]/",
                "http://[2001:db8::1]/",
                "http://[100::1]/",
                "http://[4000::1]/"
            })
    void special_addresses_are_refused(String url) {
        assertThatExceptionOfType(RefusedTargetException.class).isThrownBy(() -> STRICT.check(url));
    }

    @ParameterizedTest
    @ValueSource(
            strings = {
                "http://2130706433/",
                "http://0x7f000001/",
                "http://0x7f.1/",
                "http://017700000001/",
                "http://0177.0.0.1/",
                "http://127.1/",
                "http://127.0.1/",
                "http://0x7f.0x0.0x0.0x1/",
                "http://127.0.0.01/",
                "http://0/",
                "http://127.0.0.1./",
                "http://1.2.3.4.5/",
                "http://256.1.1.1/",
                "http://a.0x7f/",
                "http://example.1/",
                "http://127.0.0.1%2f.example.org/",
                "http://127。0。0。1/",
                "http://①②⑦.⓪.⓪.①/",
                "http://0x/",
                "http://4294967295/",
                "http://00000010.0.0.1/"
            })
    void odd_notations_are_refused(String url) {
        assertThatExceptionOfType(RefusedTargetException.class).isThrownBy(() -> STRICT.check(url));
    }

    @ParameterizedTest
    @ValueSource(
            strings = {
                "",
                " ",
                "example.org",
                "//example.org/",
                "/path",
                "ftp://example.org/",
                "file:///etc/passwd",
                "gopher://example.org/",
                "jar:http://example.org!/",
                "javascript:alert(1)",
                "http:",
                "http://",
                "http:///path",
                "http://user@example.org/",
                "http://user:secret@example.org/",
                "http://example.org@127.0.0.1/",
                "http://example.org:0/",
                "http://example.org:65536/",
                "http://example.org:-1/",
                "http://exa mple.org/",
                "http://example.org\\@evil.org/",
                "http://example.org\r\nHost: evil/",
                "http://[::1",
                "http://a_b.example.org/",
                "http://%6c/",
                "data:text/plain,x",
                "http:\\\\example.org"
            })
    void what_is_no_plain_web_address_is_refused(String url) {
        assertThatExceptionOfType(RefusedTargetException.class).isThrownBy(() -> STRICT.check(url));
    }

    @Test
    void a_name_that_no_host_can_have_is_refused() {
        String longest = "x".repeat(63);
        assertThat(STRICT.check("https://" + longest + ".example.org/").getHost())
                .startsWith(longest);
        for (String host : List.of(longest + "x.example.org", (longest + ".").repeat(4) + "org")) {
            assertThatExceptionOfType(RefusedTargetException.class)
                    .isThrownBy(() -> STRICT.check("https://" + host + "/"))
                    .withMessageContaining("There is no such host");
        }
    }

    @Test
    void a_refusal_never_quotes_what_may_be_secret() {
        assertThatExceptionOfType(RefusedTargetException.class)
                .isThrownBy(() -> STRICT.check("http://user:s3cret@example.org/"))
                .withMessageNotContaining("s3cret");
        assertThatExceptionOfType(RefusedTargetException.class)
                .isThrownBy(() -> STRICT.check("http://exa mple.org/?token=s3cret"))
                .withMessageNotContaining("s3cret");
    }

    @ParameterizedTest
    @ValueSource(
            strings = {
                "http://example.org",
                "https://example.org/hook?x=1#y",
                "HTTPS://EXAMPLE.org:8443/",
                "http://8.8.8.8/",
                "http://[2606:4700:4700::1111]/",
                "http://xn--bcher-kva.example/",
                "http://1.example.org/",
                "http://[2002:808:808::1]/"
            })
    void public_hosts_are_let_pass(String url) {
        assertThat(STRICT.check(url).getHost()).isNotEmpty();
    }

    @ParameterizedTest
    @ValueSource(
            strings = {"127.0.0.1", "10.1.2.3", "169.254.169.254", "::1", "fd00::1", "::ffff:192.168.0.1", "0.0.0.0"})
    void a_name_is_judged_by_what_it_resolves_to(String address) {
        assertThatExceptionOfType(RefusedTargetException.class)
                .isThrownBy(() -> guard(List.of(), address).resolve("innocent.example.org"))
                .withMessageContaining("innocent.example.org")
                .withMessageNotContaining(address);
    }

    @Test
    void one_bad_address_among_good_ones_is_enough() {
        assertThatExceptionOfType(RefusedTargetException.class)
                .isThrownBy(() -> guard(List.of(), "8.8.8.8", "127.0.0.1").resolve("mixed.example.org"));
    }

    @Test
    void a_name_that_has_no_address_is_unknown() {
        assertThatExceptionOfType(UnknownHostException.class)
                .isThrownBy(() -> guard(List.of()).resolve("nowhere"));
    }

    @Test
    void localhost_is_refused() {
        assertThatExceptionOfType(RefusedTargetException.class).isThrownBy(() -> STRICT.resolve("localhost"));
    }

    @Test
    void what_is_allowed_is_let_pass_and_nothing_beside_it() throws Exception {
        List<String> allowed = List.of("10.1.0.0/16", "::1", "127.0.0.1", "hooks.internal", "*.corp.example");
        OutboundGuard guard = guard(allowed, "10.2.0.1");
        assertThat(guard.check("http://10.1.2.3/").getHost()).isEqualTo("10.1.2.3");
        assertThat(guard.check("http://[::1]:8080/").getPort()).isEqualTo(8080);
        assertThat(guard.resolve("hooks.internal")).hasSize(1);
        assertThat(guard.resolve("a.CORP.example")).hasSize(1);
        for (String name : List.of("corp.example", "evilcorp.example", "hooks.internal.evil.org", "other.internal")) {
            assertThatExceptionOfType(RefusedTargetException.class).isThrownBy(() -> guard.resolve(name));
        }
        for (String url : List.of("http://10.2.0.1/", "http://127.0.0.2/", "http://[::2]/")) {
            assertThatExceptionOfType(RefusedTargetException.class).isThrownBy(() -> guard.check(url));
        }
    }

    @Test
    void ports_can_be_limited() {
        OutboundGuard guard = new OutboundGuard(List.of(), Set.of(80, 443), Resolver.SYSTEM);
        assertThat(guard.check("https://example.org/").getPort()).isEqualTo(-1);
        assertThatExceptionOfType(RefusedTargetException.class).isThrownBy(() -> guard.check("http://example.org:22/"));
        assertThatExceptionOfType(RefusedTargetException.class)
                .isThrownBy(() -> guard.check("https://example.org:8443/"));
    }

    @ParameterizedTest
    @ValueSource(strings = {"", "10.0.0.0/33", "10.0.0.0/x", "10.0.0/8", "*.", "http://x", "a b", "::1/129", "-a"})
    void a_list_that_cannot_be_read_is_refused_at_once(String entry) {
        assertThatIllegalArgumentException()
                .isThrownBy(() -> new OutboundGuard(List.of(entry), Set.of(), Resolver.SYSTEM));
    }
}
