//! The secret in the link.

use std::fmt;
use std::str::FromStr;

use subtle::ConstantTimeEq;

/// The secret that a viewer must present, as `Authorization: Bearer TOKEN` or as `?token=TOKEN`; the page's link has it as `#token=TOKEN`. It never appears in
/// logs: its `Debug` output hides it, and [`Token::reveal`] is the only way to read it.
#[derive(Clone, PartialEq, Eq)]
pub struct Token(String);

/// Why a text is not a token.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum TokenError {
    /// Too short to be a secret or too long for a link.
    #[error("a token of {0} characters; it must have 16 to 128: leave it out to have one made")]
    Length(usize),
    /// A character that links would have to escape.
    #[error("a token with the character {0:?}; it may have letters, digits and - . _ ~")]
    Character(char),
    /// The system has no randomness.
    #[error("no random bytes from the system: {0}")]
    Random(String),
}

impl Token {
    /// A new one: 128 random bits.
    ///
    /// # Errors
    /// When the system has no random numbers.
    pub fn random() -> Result<Token, TokenError> {
        let mut bytes = [0; 16];
        getrandom::fill(&mut bytes).map_err(|error| TokenError::Random(error.to_string()))?;
        Ok(Token(bytes.iter().map(|byte| format!("{byte:02x}")).collect()))
    }

    /// The token itself, to print it in a link for the person who started the server.
    pub fn reveal(&self) -> &str {
        &self.0
    }

    /// Compares `shown` with this token, in constant time.
    pub fn is(&self, shown: &str) -> bool {
        self.0.as_bytes().ct_eq(shown.as_bytes()).into()
    }
}

impl FromStr for Token {
    type Err = TokenError;

    fn from_str(text: &str) -> Result<Token, TokenError> {
        let allowed = |c: char| c.is_ascii_alphanumeric() || "-._~".contains(c);
        match text.chars().find(|c| !allowed(*c)) {
            Some(character) => Err(TokenError::Character(character)),
            None if !(16..=128).contains(&text.len()) => Err(TokenError::Length(text.len())),
            None => Ok(Token(text.into())),
        }
    }
}

impl fmt::Debug for Token {
    fn fmt(&self, f: &mut fmt::Formatter) -> fmt::Result {
        f.write_str("Token(..)")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_random_token_has_128_bits_and_is_another_each_time() {
        let (one, other) = (Token::random().unwrap(), Token::random().unwrap());
        assert_eq!(one.reveal().len(), 32);
        assert_ne!(one, other);
        assert_eq!(one.reveal().parse(), Ok(one.clone()));
        assert!(one.is(one.reveal()) && !one.is(other.reveal()) && !one.is("") && !one.is(&one.reveal()[1..]));
    }

    #[test]
    fn a_token_is_not_written_into_logs() {
        let token = Token::random().unwrap();
        assert_eq!(format!("{token:?}"), "Token(..)");
    }

    #[test]
    fn what_would_not_fit_into_a_link_or_be_guessed_is_no_token() {
        assert_eq!("short".parse::<Token>(), Err(TokenError::Length(5)));
        assert_eq!("a".repeat(129).parse::<Token>(), Err(TokenError::Length(129)));
        assert_eq!("0123456789abcdef&x=".parse::<Token>(), Err(TokenError::Character('&')));
    }
}
