// What quinn calls otherwise than noq: included by ends.rs.

fn endpoint(config: Arc<EndpointConfig>, server: Option<Arc<ServerConfig>>) -> Endpoint {
    Endpoint::new(config, server, true, None)
}

fn handle(
    endpoint: &mut Endpoint,
    now: Instant,
    peer: SocketAddr,
    ecn: Option<EcnCodepoint>,
    data: BytesMut,
    answer: &mut Vec<u8>,
) -> Option<DatagramEvent> {
    endpoint.handle(now, peer, None, ecn, data, answer)
}

fn poll_transmit(connection: &mut Connection, now: Instant, buffer: &mut Vec<u8>) -> Option<quinn_proto::Transmit> {
    connection.poll_transmit(now, 1, buffer)
}

fn window(connection: &mut Connection) -> (u64, std::time::Duration) {
    (connection.stats().path.cwnd, connection.rtt())
}
