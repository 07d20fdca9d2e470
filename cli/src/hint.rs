//! Commands that the output proposes: they repeat the arguments with which the user called the command.

/// Returns the arguments of this process after the name of its command, as a shell takes them, without the options of `without`
/// and their values. If the process was called without the command, `default` stands for the arguments.
pub(crate) fn own_arguments(command: &str, default: &str, without: &[&str]) -> String {
    of(std::env::args().skip(1), command, default, without)
}

fn of(arguments: impl IntoIterator<Item = String>, command: &str, default: &str, without: &[&str]) -> String {
    let mut arguments = arguments.into_iter().skip_while(|word| word != command).skip(1);
    let mut words = Vec::new();
    while let Some(word) = arguments.next() {
        let option = word.split('=').next().unwrap_or_default();
        if !without.contains(&option) {
            words.push(quoted(word));
        } else if !word.contains('=') {
            // The value of the option.
            arguments.next();
        }
    }
    if words.is_empty() { default.to_owned() } else { words.join(" ") }
}

/// Returns a word as a shell takes it.
fn quoted(word: String) -> String {
    let plain = |c: char| c.is_ascii_alphanumeric() || "-_./:=,@+%".contains(c);
    match !word.is_empty() && word.chars().all(plain) {
        true => word,
        false => format!("'{}'", word.replace('\'', r"'\''")),
    }
}

#[cfg(test)]
mod tests {
    use super::of;

    fn words(line: &[&str], without: &[&str]) -> String {
        of(line.iter().map(|word| (*word).to_owned()), "replay", "l3-ecmp", without)
    }

    #[test]
    fn arguments_of_the_user_are_repeated() {
        let line = ["--json", "replay", "ecmp", "-i", "0@my trace.pcap", "-o", "out", "--set", "seed=1"];
        assert_eq!(words(&line, &[]), "ecmp -i '0@my trace.pcap' -o out --set seed=1");
        assert_eq!(words(&line, &["-o", "--output"]), "ecmp -i '0@my trace.pcap' --set seed=1");
        assert_eq!(words(&["replay", "ecmp", "--output=out"], &["--output"]), "ecmp");
        assert_eq!(words(&[], &[]), "l3-ecmp");
    }
}
