//! STUN and TURN servers in `Link` headers (RFC 9725 section 4.6, RFC 8288).

/// A STUN or TURN server; listed, but not used.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct IceServer {
    /// `stun:host`, `turn:host?transport=udp`, `turns:...`.
    pub url: String,
    /// User name for TURN.
    pub username: Option<String>,
    /// Credential for TURN.
    pub credential: Option<String>,
}

/// The STUN and TURN servers in the values of all `Link` headers; other links are ignored.
pub fn ice_servers<'a>(headers: impl Iterator<Item = &'a str>) -> Vec<IceServer> {
    /// Maximum number of servers.
    const MAX: usize = 16;
    headers.flat_map(links).filter_map(server).take(MAX).collect()
}

/// The links of one header, separated by commas outside of quotes and angle brackets.
fn links(header: &str) -> impl Iterator<Item = &str> {
    split(header, ',')
}

fn server(link: &str) -> Option<IceServer> {
    let mut parts = split(link, ';');
    let url = parts.next()?.trim().strip_prefix('<')?.strip_suffix('>')?;
    let mut server = IceServer { url: url.to_owned(), username: None, credential: None };
    let mut is_ice = false;
    for (name, value) in parts.filter_map(|part| part.split_once('=')) {
        let value = unquoted(value.trim());
        match name.trim().to_ascii_lowercase().as_str() {
            "rel" => is_ice = value.split_whitespace().any(|kind| kind.eq_ignore_ascii_case("ice-server")),
            "username" => server.username = Some(value),
            "credential" => server.credential = Some(value),
            _ => {}
        }
    }
    let is_known = ["stun:", "stuns:", "turn:", "turns:"].iter().any(|scheme| url.starts_with(scheme));
    (is_ice && is_known).then_some(server)
}

/// A value without its quotes and escapes.
fn unquoted(value: &str) -> String {
    let Some(inner) = value.strip_prefix('"').and_then(|value| value.strip_suffix('"')) else {
        return value.to_owned();
    };
    let mut escaped = false;
    inner
        .chars()
        .filter(|letter| {
            escaped = !escaped && *letter == '\\';
            !escaped
        })
        .collect()
}

/// The parts between separators, ignoring those in quotes or angle brackets.
fn split(text: &str, separator: char) -> impl Iterator<Item = &str> {
    let (mut quoted, mut escaped, mut angled) = (false, false, false);
    text.split(move |letter| {
        match letter {
            _ if escaped => escaped = false,
            '\\' if quoted => escaped = true,
            '"' if !angled => quoted = !quoted,
            '<' if !quoted => angled = true,
            '>' if !quoted => angled = false,
            _ => return letter == separator && !quoted && !angled,
        }
        false
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn servers_are_found_in_one_header_and_in_several() {
        let headers = [
            r#"<stun:stun.example>; rel="ice-server", <https://a.example/x,y;z>; rel="urn:ietf:params:whip:ext:a""#,
            r#"<turn:turn.example?transport=udp>; rel="ice-server"; username="a;b,\"c\\"; credential=plain; credential-type="password""#,
        ];
        let found = ice_servers(headers.into_iter());
        assert_eq!(found[0], IceServer { url: "stun:stun.example".to_owned(), username: None, credential: None });
        assert_eq!((found.len(), found[1].url.as_str()), (2, "turn:turn.example?transport=udp"));
        assert_eq!((found[1].username.as_deref(), found[1].credential.as_deref()), (Some(r#"a;b,"c\"#), Some("plain")));
    }

    #[test]
    fn what_is_no_list_of_servers_is_passed_over_and_a_flood_is_cut_off() {
        let others = [
            "",
            ",;,",
            "<",
            "<>",
            r#"<stun:a>; rel="next""#,
            "stun:a; rel=ice-server",
            r#"<http://a>; rel=ice-server"#,
            "\"<stun:a>",
        ];
        assert_eq!(ice_servers(others.into_iter()), []);
        let flood = "<stun:a>;rel=ice-server,".repeat(1000);
        assert_eq!(ice_servers([flood.as_str()].into_iter()).len(), 16);
    }
}
