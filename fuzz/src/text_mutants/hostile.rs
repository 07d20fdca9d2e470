//! Names, numbers and characters of hostile texts.

/// Names that lead out of a folder, that systems reserve, that terminals, tables and pages obey, and that are too long. `LONG` in
/// one stands for three hundred letters.
pub(super) const NAMES: [&str; 32] = [
    "../../evil",
    "/tmp/sluice-evil",
    "..",
    ".",
    "",
    "a/../../../evil",
    "a/b",
    "a//b",
    "a\\..\\evil",
    "C:\\evil",
    "//host/share",
    "~/evil",
    ".hidden",
    "-rf",
    "con",
    "NUL.toml",
    "trailing.",
    "trailing ",
    "manifest",
    "manifest.json",
    "%2e%2e%2fevil",
    "..\u{2215}evil",
    "\u{ff0e}\u{ff0e}/evil",
    "a\0b",
    "a\nb",
    "a\u{1b}[2Jb",
    "a\u{202e}b",
    "<script>alert(1)</script>",
    "=1+1",
    "${HOME}",
    "LONG",
    "LONG/LONG",
];

/// Returns a name of the list as it is used.
pub(super) fn name(listed: &str) -> String {
    listed.replace("LONG", &"n".repeat(300))
}

/// Numbers at the edges of integers and of limits, and texts that readers of numbers take for some.
pub(super) const NUMBERS: [&str; 32] = [
    "0",
    "-1",
    "2147483648",
    "4294967295",
    "4294967296",
    "9007199254740993",
    "9223372036854775807",
    "9223372036854775808",
    "18446744073709551615",
    "18446744073709551616",
    "-9223372036854775808",
    "170141183460469231731687303715884105728",
    "340282366920938463463374607431768211456",
    "1000000000000000000000000000000000000000000000000000000",
    "100000",
    "100001",
    "1000000",
    "1000000000000",
    "255",
    "256",
    "65535",
    "65536",
    "65537",
    "1e308",
    "1e-308",
    "0.1",
    "-0.0",
    "nan",
    "inf",
    "0x7fffffffffffffff",
    "1_0",
    "\u{0663}",
];

/// Characters that terminals, readers of lines or readers of words obey.
pub(super) const CHARACTERS: [&str; 20] = [
    "\0",
    "\u{1b}[2J",
    "\u{1b}]0;title\u{7}",
    "\u{9b}2J",
    "\u{8}\u{8}\u{8}",
    "\u{7f}",
    "\r",
    "\r\n",
    "\n",
    "\n\n\n",
    "\t",
    "\u{b}",
    "\u{c}",
    "\u{85}",
    "\u{2028}",
    "\u{202e}",
    "\u{feff}",
    "\"",
    "\\",
    "\u{1d11e}",
];

/// Beginnings of files: byte-order marks, the words of a shell, of a compressed file and of a page.
pub(super) const MARKS: [&str; 8] = [
    "\u{feff}",
    "\u{feff}\u{feff}",
    "\u{fffe}",
    "\0",
    "#!/bin/sh\n",
    "\u{1f}\u{8b}\u{8}",
    "<html>\n",
    "\n\n",
];
