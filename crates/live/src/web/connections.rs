//! TCP connections: their number, their sources, their duration, and TLS.

use std::net::{IpAddr, Ipv6Addr, SocketAddr};
use std::pin::pin;
use std::sync::Arc;
use std::time::Duration;

use axum::{Extension, Router};
use hyper::server::conn::http1;
use hyper::service::{Service, service_fn};
use hyper_util::rt::{TokioIo, TokioTimer};
use hyper_util::service::TowerToHyperService;
use tokio::io::{AsyncRead, AsyncWrite};
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::watch;
use tokio::task::JoinSet;
use tokio_rustls::TlsAcceptor;

use super::guard::shows;
use super::seats::{Seat, Seats};
use super::site::Peer;
use super::token::Token;

/// Limits for clients. The number of viewers is limited by the hub, not here.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Limits {
    /// Maximum number of connections. One more takes the place of the oldest that has sent no whole request with the
    /// token, if there is one; otherwise it is closed at once. Those never have more than half of all places.
    pub connections: usize,
    /// Connections from one address (for IPv6, one /64 network).
    pub connections_per_address: usize,
    /// Maximum size of a request line and headers together, at least 8192 bytes.
    pub head: usize,
    /// Maximum size of an offer or a fragment in bytes.
    pub body: usize,
    /// Timeout for a request's headers, for the next request on an idle connection, and for a body.
    pub timeout: Duration,
    /// Maximum duration of a connection; the page reopens an event stream that reaches it.
    pub longest: Duration,
    /// Maximum number of simultaneous event streams for the same viewer.
    pub streams_per_viewer: usize,
}

impl Default for Limits {
    fn default() -> Limits {
        Limits {
            connections: 256,
            connections_per_address: 64,
            head: 16 << 10,
            body: 64 << 10,
            timeout: Duration::from_secs(10),
            longest: Duration::from_secs(600),
            streams_per_viewer: 3,
        }
    }
}

/// Time for connections to end after they were asked to.
const GRACE: Duration = Duration::from_secs(2);

/// State shared by all connections.
#[derive(Clone)]
pub(super) struct Front {
    pub(super) router: Router,
    pub(super) limits: Limits,
    /// Who sends it in a request is known.
    pub(super) token: Option<Arc<Token>>,
    pub(super) tls: Option<TlsAcceptor>,
}

/// Serves until stopped.
pub(super) async fn serve(listener: TcpListener, front: Front, mut stop: watch::Receiver<bool>) {
    let seats = Seats::new(front.limits.connections, front.limits.connections_per_address);
    let mut open = JoinSet::new();
    loop {
        let accepted = tokio::select! {
            accepted = listener.accept() => accepted,
            Some(_) = open.join_next(), if !open.is_empty() => continue,
            _ = stop.wait_for(|stop| *stop) => break,
        };
        match accepted {
            Ok((stream, peer)) => {
                let Some(seat) = seats.take(network(peer.ip())) else {
                    tracing::debug!(%peer, "too many connections");
                    continue;
                };
                open.spawn(connection(stream, peer, front.clone(), stop.clone(), Arc::new(seat)));
            }
            Err(error) => {
                // Probably out of file descriptors: other connections must end first.
                tracing::warn!(%error, "cannot accept a connection");
                tokio::time::sleep(Duration::from_millis(50)).await;
            }
        }
    }
    drop(listener);
    let _ = tokio::time::timeout(GRACE, async { while open.join_next().await.is_some() {} }).await;
}

async fn connection(stream: TcpStream, peer: SocketAddr, front: Front, stop: watch::Receiver<bool>, seat: Arc<Seat>) {
    // Statistics are sent without delay.
    let _ = stream.set_nodelay(true);
    let Some(tls) = &front.tls else { return exchange(stream, peer, &front, stop, seat).await };
    let handshake = tokio::select! {
        handshake = tokio::time::timeout(front.limits.timeout, tls.accept(stream)) => handshake,
        () = seat.lost() => return,
    };
    match handshake {
        Ok(Ok(stream)) => exchange(stream, peer, &front, stop, seat).await,
        Ok(Err(error)) => tracing::debug!(%peer, %error, "a TLS handshake failed"),
        Err(_) => tracing::debug!(%peer, "a TLS handshake took too long"),
    }
}

/// Answers what is asked over `stream`.
async fn exchange<S>(stream: S, peer: SocketAddr, front: &Front, mut stop: watch::Receiver<bool>, seat: Arc<Seat>)
where
    S: AsyncRead + AsyncWrite + Unpin,
{
    let Front { limits, token, .. } = front;
    let router = front.router.clone().layer(Extension(Peer(peer))).layer(Extension(seat.clone()));
    let router = TowerToHyperService::new(router);
    let (token, kept) = (token.as_deref(), &seat);
    let service = service_fn(move |request: hyper::Request<hyper::body::Incoming>| {
        if token.is_none_or(|token| shows(token, request.headers(), request.uri())) {
            kept.keep();
        }
        router.call(request)
    });
    let mut connection = pin!(
        http1::Builder::new()
            .timer(TokioTimer::new())
            .header_read_timeout(limits.timeout)
            .max_buf_size(limits.head)
            .serve_connection(TokioIo::new(stream), service)
    );
    let ended = tokio::select! {
        ended = connection.as_mut() => Some(ended),
        () = seat.lost() => return tracing::debug!(%peer, "a connection without a request made room for another"),
        () = tokio::time::sleep(limits.longest) => None,
        _ = stop.wait_for(|stop| *stop) => None,
    };
    let ended = match ended {
        Some(ended) => ended,
        None => {
            connection.as_mut().graceful_shutdown();
            tokio::time::timeout(GRACE, connection).await.unwrap_or(Ok(()))
        }
    };
    if let Err(error) = ended {
        tracing::debug!(%peer, %error, "a connection ended badly");
    }
}

/// The source that a limit applies to: an IPv4 address, or a /64 network of IPv6.
pub(super) fn network(address: IpAddr) -> IpAddr {
    match address.to_canonical() {
        IpAddr::V6(address) => Ipv6Addr::from_bits(address.to_bits() >> 64 << 64).into(),
        address => address,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn addresses_of_one_network_of_ipv6_share_their_places() {
        let [a, b, c]: [IpAddr; 3] =
            ["2001:db8::1", "2001:db8::ffff:2", "2001:db8:0:1::1"].map(|text| text.parse().unwrap());
        assert_eq!(network(a), network(b));
        assert_ne!(network(a), network(c));
        assert_eq!(network("::ffff:10.0.0.1".parse().unwrap()), IpAddr::from([10, 0, 0, 1]));
    }
}
