//! From a rate to the size of the next frame.

use thalweg_units::{Bytes, Rate, Span};

/// An account of bytes: each picture pays in what the rate allows for its interval, each frame takes out its size.
///
/// There is no controller in it, because the encoder meets the size it is given: what is left of conventional rate control is how
/// quickly the account is brought back to zero.
#[derive(Debug, Clone, Default)]
pub(super) struct RateAccount {
    /// Bytes left over (or owed, below zero), at most a window's worth either way.
    balance: f64,
}

impl RateAccount {
    /// How large the next frame may be: its own share of the rate and of the balance. `boost` is how many shares it may take
    /// beside that, above 1 for keyframes.
    pub(super) fn budget(&self, rate: Rate, interval: Span, window: Span, boost: f64) -> Bytes {
        let share = rate.over(interval).as_f64();
        let pictures = (window.as_secs_f64() / interval.as_secs_f64()).max(1.0);
        // A debt takes at most three quarters of a frame's share: the picture must not starve.
        Bytes::new((share * boost + self.balance / pictures).max(share / 4.0) as u64)
    }

    /// Whether a whole window is owed, which happens where even the coarsest frames are too large: pictures had better be dropped.
    pub(super) fn is_exhausted(&self, rate: Rate, interval: Span, window: Span) -> bool {
        self.balance <= -max(rate, interval, window)
    }

    /// A picture's interval passes; `size` is what its frame took, zero if none was sent. Balance and debt are forgotten beyond a
    /// window's worth: an encoder at its coarsest would otherwise pay for an outage long after it.
    pub(super) fn on_picture(&mut self, size: Bytes, rate: Rate, interval: Span, window: Span) {
        let max = max(rate, interval, window);
        self.balance = (self.balance + rate.over(interval).as_f64() - size.as_f64()).clamp(-max, max);
    }
}

/// How far the balance goes either way, in bytes.
fn max(rate: Rate, interval: Span, window: Span) -> f64 {
    rate.over(window.max(interval)).as_f64()
}

#[cfg(test)]
mod tests {
    use super::*;

    const RATE: Rate = Rate::from_kbps(2400);
    const INTERVAL: Span = Span::from_millis(40);
    const WINDOW: Span = Span::from_millis(200);

    #[test]
    fn a_frame_gets_its_share_of_the_rate() {
        assert_eq!(RateAccount::default().budget(RATE, INTERVAL, WINDOW, 1.0), Bytes::new(12_000));
    }

    #[test]
    fn a_keyframe_is_paid_for_over_the_window() {
        let mut account = RateAccount::default();
        account.on_picture(Bytes::new(48_000), RATE, INTERVAL, WINDOW);
        let mut sizes = Vec::new();
        for _ in 0..10 {
            let budget = account.budget(RATE, INTERVAL, WINDOW, 1.0);
            account.on_picture(budget, RATE, INTERVAL, WINDOW);
            sizes.push(budget.get());
        }
        assert_eq!(sizes[0], 12_000 - 36_000 / 5);
        assert!(sizes.is_sorted() && sizes[9] > 11_000, "{sizes:?}");
    }

    #[test]
    fn neither_a_debt_nor_a_balance_outlasts_the_window() {
        let mut account = RateAccount::default();
        (0..100).for_each(|_| account.on_picture(Bytes::new(100_000), RATE, INTERVAL, WINDOW));
        assert_eq!(account.budget(RATE, INTERVAL, WINDOW, 1.0), Bytes::new(3_000));
        assert!(account.is_exhausted(RATE, INTERVAL, WINDOW));
        (0..100).for_each(|_| account.on_picture(Bytes::ZERO, RATE, INTERVAL, WINDOW));
        assert_eq!(account.budget(RATE, INTERVAL, WINDOW, 1.0), Bytes::new(24_000));
    }
}
