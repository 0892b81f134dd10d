// What noq calls otherwise than quinn: included by ends.rs.

fn endpoint(config: Arc<EndpointConfig>, server: Option<Arc<ServerConfig>>) -> Endpoint {
    Endpoint::new(config, server, true)
}

fn handle(
    endpoint: &mut Endpoint,
    now: Instant,
    peer: SocketAddr,
    ecn: Option<EcnCodepoint>,
    data: BytesMut,
    answer: &mut Vec<u8>,
) -> Option<DatagramEvent> {
    endpoint.handle(now, noq_proto::FourTuple::from_remote(peer), ecn, data, answer)
}

fn poll_transmit(connection: &mut Connection, now: Instant, buffer: &mut Vec<u8>) -> Option<noq_proto::Transmit> {
    connection.poll_transmit(now, std::num::NonZeroUsize::MIN, buffer)
}

fn window(connection: &mut Connection) -> (u64, std::time::Duration) {
    let path = noq_proto::PathId::ZERO;
    (connection.path_stats(path).expect("it is open").cwnd, connection.rtt(path).expect("it is open"))
}
