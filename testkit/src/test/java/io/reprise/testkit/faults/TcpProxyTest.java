// SPDX-License-Identifier: Apache-2.0
package io.reprise.testkit.faults;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;

import java.io.IOException;
import java.net.ConnectException;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.net.Socket;
import java.net.SocketTimeoutException;
import java.nio.charset.StandardCharsets;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

@Timeout(300)
class TcpProxyTest {

    private static final int PATIENCE_MILLIS = 120_000;

    private ServerSocket server;
    private TcpProxy proxy;
    private Thread echo;
    private final AtomicInteger received = new AtomicInteger();

    @BeforeEach
    void start() throws IOException {
        server = new ServerSocket(0, 10, InetAddress.getLoopbackAddress());
        proxy = TcpProxy.before(server.getLocalPort());
        echo = new Thread(this::echo, "echo");
        echo.setDaemon(true);
        echo.start();
    }

    @AfterEach
    void stop() throws IOException {
        proxy.close();
        server.close();
    }

    private void echo() {
        while (!server.isClosed()) {
            try (Socket socket = server.accept()) {
                for (int c = socket.getInputStream().read();
                        c >= 0;
                        c = socket.getInputStream().read()) {
                    received.incrementAndGet();
                    socket.getOutputStream().write(c);
                }
            } catch (IOException e) {
                // The next one, please.
            }
        }
    }

    private Socket connect() throws IOException {
        Socket socket = new Socket(InetAddress.getLoopbackAddress(), proxy.port());
        socket.setSoTimeout(PATIENCE_MILLIS);
        return socket;
    }

    private static void send(Socket socket, String text) throws IOException {
        socket.getOutputStream().write(text.getBytes(StandardCharsets.US_ASCII));
    }

    private static String receive(Socket socket, int length) throws IOException {
        return new String(socket.getInputStream().readNBytes(length), StandardCharsets.US_ASCII);
    }

    @Test
    void passes_what_comes() throws IOException {
        try (Socket socket = connect()) {
            send(socket, "hello");
            assertThat(receive(socket, 5)).isEqualTo("hello");
            assertThat(proxy.connections()).isEqualTo(1);
        }
    }

    @Test
    void what_stalled_goes_on_where_it_stopped() throws IOException {
        try (Socket socket = connect()) {
            proxy.stall();
            send(socket, "hello");
            socket.setSoTimeout(50);
            assertThatExceptionOfType(SocketTimeoutException.class).isThrownBy(() -> receive(socket, 1));
            assertThat(received).hasValue(0);
            proxy.heal();
            socket.setSoTimeout(PATIENCE_MILLIS);
            assertThat(receive(socket, 5)).isEqualTo("hello");
        }
    }

    @Test
    void answers_can_stall_while_requests_arrive() throws IOException {
        try (Socket socket = connect()) {
            proxy.stall(TcpProxy.Direction.TO_CLIENT);
            send(socket, "hello");
            while (received.get() < 5) {
                assertThat(Thread.currentThread().isInterrupted()).isFalse();
                Thread.onSpinWait();
            }
            socket.setSoTimeout(50);
            assertThatExceptionOfType(SocketTimeoutException.class).isThrownBy(() -> receive(socket, 1));
        }
    }

    @Test
    void a_slow_connection_brings_everything_in_the_end() throws IOException {
        proxy.slow(TcpProxy.Direction.TO_CLIENT, 20);
        try (Socket socket = connect()) {
            send(socket, "hello");
            assertThat(receive(socket, 5)).isEqualTo("hello");
        }
    }

    @Test
    void a_cut_resets_and_the_next_connection_is_welcome() throws IOException {
        try (Socket socket = connect()) {
            send(socket, "a");
            receive(socket, 1);
            proxy.cut();
            assertThatExceptionOfType(IOException.class).isThrownBy(() -> receive(socket, 1));
        }
        try (Socket socket = connect()) {
            send(socket, "b");
            assertThat(receive(socket, 1)).isEqualTo("b");
        }
        assertThat(proxy.broken()).isEqualTo(1);
    }

    @Test
    void an_answer_can_break_off_in_the_middle() throws IOException {
        proxy.cutAfter(7);
        try (Socket socket = connect()) {
            send(socket, "hello");
            assertThat(receive(socket, 5)).isEqualTo("hello");
            send(socket, "world");
            assertThatExceptionOfType(IOException.class).isThrownBy(() -> receive(socket, 5));
        }
        try (Socket socket = connect()) {
            send(socket, "once only");
            assertThat(receive(socket, 9)).isEqualTo("once only");
        }
    }

    @Test
    void refused_until_healed() throws IOException {
        proxy.refuse();
        assertThatExceptionOfType(ConnectException.class).isThrownBy(this::connect);
        proxy.heal();
        try (Socket socket = connect()) {
            send(socket, "back");
            assertThat(receive(socket, 4)).isEqualTo("back");
        }
    }

    @Test
    void a_server_that_is_down_resets() throws IOException, InterruptedException {
        server.close();
        echo.join(); // As long as it waits in the kernel for connections, it still gets one.
        try (Socket socket = connect()) {
            assertThatExceptionOfType(IOException.class).isThrownBy(() -> receive(socket, 1));
        }
    }
}
