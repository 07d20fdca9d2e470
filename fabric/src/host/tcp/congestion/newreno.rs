//! NewReno's window (RFC 5681 §3.1): one segment more per window of acknowledged bytes, half of the flight after a loss.
//!
//! ```text
//! avoidance:  bytes_acked += acked; if bytes_acked >= cwnd: bytes_acked -= cwnd, cwnd += SMSS
//! loss:       ssthresh = max(FlightSize / 2, 2 SMSS), cwnd = ssthresh       (equation 4)
//! ECE:        the same, of cwnd (RFC 3168 §6.1.2)
//! ```

use super::Window;

#[derive(Clone, Debug, Default)]
pub(in super::super) struct NewReno {
    /// Acknowledged bytes since the last increase.
    counted: u64,
}

impl NewReno {
    /// Handles acknowledged bytes in congestion avoidance.
    pub(super) fn avoid(&mut self, window: &mut Window, bytes: u64) {
        self.counted += bytes;
        while self.counted >= window.cwnd {
            self.counted -= window.cwnd;
            window.cwnd += window.mss;
        }
    }

    pub(super) fn reduce(&mut self, window: &mut Window, bytes: u64) {
        self.counted = 0;
        window.reduce_to(bytes / 2);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_window_of_acknowledgements_adds_a_segment() {
        let mut window = Window { cwnd: 10_000, ssthresh: 10_000, mss: 1_000 };
        let mut newreno = NewReno::default();
        let mut after = |bytes| {
            newreno.avoid(&mut window, bytes);
            window.cwnd
        };
        assert_eq!([9_000, 999, 1, 10_999, 1].map(&mut after), [10_000, 10_000, 11_000, 11_000, 12_000]);
    }

    #[test]
    fn a_loss_leaves_half_of_the_flight_but_two_segments() {
        let reduced = |bytes| {
            let mut window = Window { cwnd: 10_000, ssthresh: u64::MAX, mss: 1_000 };
            NewReno::default().reduce(&mut window, bytes);
            (window.cwnd, window.ssthresh)
        };
        assert_eq!([9_000, 3_000].map(reduced), [(4_500, 4_500), (2_000, 2_000)]);
    }
}
