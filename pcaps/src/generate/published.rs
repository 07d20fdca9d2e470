//! Published distributions of message sizes, by name (model: int §5.1; flowlets §5.2).

use super::Cdf;

/// Names and texts of the distributions.
const PUBLISHED: [(&str, &str); 8] = [
    ("ali-storage", include_str!("distributions/ali-storage.txt")),
    ("solar", include_str!("distributions/solar.txt")),
    ("web-search", include_str!("distributions/web-search.txt")),
    ("data-mining", include_str!("distributions/data-mining.txt")),
    ("fb-hdp", include_str!("distributions/fb-hdp.txt")),
    ("fb-hdp-2015", include_str!("distributions/fb-hdp-2015.txt")),
    ("google-rpc", include_str!("distributions/google-rpc.txt")),
    ("google-rpc-120", include_str!("distributions/google-rpc-120.txt")),
];

impl Cdf {
    /// Returns the names of the published distributions.
    pub fn published_names() -> impl Iterator<Item = &'static str> {
        PUBLISHED.iter().map(|(name, _)| *name)
    }

    /// Returns the published distribution of this name, `None` for an unknown name.
    #[must_use]
    pub fn published(name: &str) -> Option<Cdf> {
        let (name, text) = PUBLISHED.iter().find(|(known, _)| *known == name)?;
        Cdf::parse(name, text).ok()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Model: int §5.2; flowlets §5.2. Means and quantiles are rounded down.
    #[test]
    fn means_and_quantiles_are_the_published_ones() {
        let cases = [
            ("web-search", 1_711_250, [73_076, 5_000_000, 8_571_428, 23_333_333]),
            ("fb-hdp", 120_420, [700, 120_000, 300_000, 2_000_000]),
            ("ali-storage", 40_869, [6_339, 31_237, 93_037, 1_293_927]),
            ("solar", 39_423, [16_384, 65_535, 65_536, 222_822]),
            ("google-rpc", 2_891, [257, 1_716, 5_508, 30_614]),
            ("google-rpc-120", 2_967, [245, 1_716, 5_508, 30_755]),
            ("fb-hdp-2015", 121_848, [654, 119_336, 269_286, 3_094_208]),
        ];
        for (name, mean, quantiles) in cases {
            let cdf = Cdf::published(name).unwrap();
            assert_eq!(cdf.mean(), mean, "{name}");
            let percent = 10_000_000_000;
            let found = [50, 90, 95, 99].map(|p| cdf.quantile(p * percent));
            for (found, expected) in found.into_iter().zip(quantiles) {
                assert!(found.abs_diff(expected) <= 1, "{name}: {found}, expected {expected}");
            }
        }
        let mining = Cdf::published("data-mining").unwrap();
        assert_eq!((mining.mean(), mining.largest()), (12_658_198, 1_000_000_000));
    }

    #[test]
    fn every_name_has_a_distribution() {
        assert!(Cdf::published_names().all(|name| Cdf::published(name).is_some()));
        assert_eq!(Cdf::published("mail"), None);
    }
}
