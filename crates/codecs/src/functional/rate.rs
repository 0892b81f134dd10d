//! Derives the size of the next frame from a target rate.

use thalweg_units::{Bytes, Rate, Span};

/// An account of bytes: each picture interval adds the bytes that the rate allows, each frame subtracts its size.
///
/// It needs no controller, because the encoder meets the size it is given. The only remaining choice of conventional
/// rate control is how quickly the balance returns to zero.
#[derive(Debug, Clone, Default)]
pub(super) struct RateAccount {
    /// Bytes saved up (positive) or owed (negative), at most one window's worth either way.
    balance: f64,
}

impl RateAccount {
    /// Budget of the next frame: its own share of the rate plus its share of the balance. `boost` multiplies its own
    /// share, above 1 for keyframes.
    pub(super) fn budget(&self, rate: Rate, interval: Span, window: Span, boost: f64) -> Bytes {
        let share = rate.over(interval).as_f64();
        let pictures = (window.as_secs_f64() / interval.as_secs_f64()).max(1.0);
        // Repaying a debt takes at most three quarters of a frame's share, so that no picture starves.
        Bytes::new((share * boost + self.balance / pictures).max(share / 4.0) as u64)
    }

    /// Returns true if a whole window is owed, which happens when even the coarsest frames are too large: pictures
    /// should then be dropped.
    pub(super) fn is_exhausted(&self, rate: Rate, interval: Span, window: Span) -> bool {
        self.balance <= -max(rate, interval, window)
    }

    /// Accounts for one picture interval; `size` is the size of its frame, zero if none was sent. Balance and debt are
    /// limited to one window's worth: otherwise an encoder at its coarsest quantiser would repay an outage long
    /// afterwards.
    pub(super) fn on_picture(&mut self, size: Bytes, rate: Rate, interval: Span, window: Span) {
        let max = max(rate, interval, window);
        self.balance = (self.balance + rate.over(interval).as_f64() - size.as_f64()).clamp(-max, max);
    }
}

/// Largest absolute balance, in bytes.
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
