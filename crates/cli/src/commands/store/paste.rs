//! Commands that are printed for a user to run: whole, and safe to paste into a shell, whatever names and URLs hold.

use crate::output::shell_word;
use crate::reach::Trust;
use mintage_lease::store::redacted;

/// Commands about one space, as this command was told of it.
#[derive(Debug)]
pub(super) struct Paste {
    /// The store's URL without its password, and the space's name, each as a shell takes it.
    place: String,
    trust: Trust,
    /// What to do about a URL that isn't whole.
    hint: &'static str,
}

impl Paste {
    pub(super) fn of(url: &str, space: &str, trust: Trust) -> Self {
        let shown = redacted(url);
        let hint = match shown.contains("***") {
            _ if shown == url => "",
            true => " (put the store's password in place of ***)",
            false => " (put the password back into the store's URL)",
        };
        Self { place: format!("{} {}", shell_word(&shown), shell_word(space)), trust, hint }
    }

    /// The command `mintage store WHAT` with these words behind its place, in backquotes, and what to do before it can be run.
    pub(super) fn command(&self, what: &str, words: &[&str]) -> String {
        let mut command = format!("mintage store {what} {}", self.place);
        for word in words {
            command.push(' ');
            command.push_str(&shell_word(word));
        }
        for (is_on, flag) in [
            (self.trust.trust_store_clock, " --trust-store-clock"),
            (self.trust.allow_unsafe, " --allow-unsafe"),
        ] {
            command.push_str(if is_on { flag } else { "" });
        }
        format!("`{command}`{}", self.hint)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::process::Command;

    const TRUST: Trust = Trust { trust_store_clock: false, allow_unsafe: false };

    #[test]
    fn a_shell_takes_every_word_as_it_was() {
        let words = [
            "a",
            "",
            "4\"2",
            "it's",
            "$(id)",
            "`id`",
            "a b",
            "-x",
            "~",
            "*",
            "!1",
            "\\",
            "a\nb",
            "é;#&|<>{}[]=?",
        ];
        let shell = format!("printf '%s\\0' {}", words.map(shell_word).join(" "));
        let output = Command::new("sh").args(["-c", &shell]).output().unwrap();
        let expected: String = words.iter().map(|word| format!("{word}\0")).collect();
        assert_eq!(String::from_utf8(output.stdout).unwrap(), expected);
    }

    #[test]
    fn a_command_has_its_place_and_no_password() {
        let command =
            |url, trust| Paste::of(url, "issues", trust).command("bump", &["--scope", "it's", "--to", "11"]);
        assert_eq!(
            command("sqlite:ids.db", TRUST),
            r"`mintage store bump sqlite:ids.db issues --scope 'it'\''s' --to 11`"
        );
        assert_eq!(
            command("postgres://u:secret@h/db?a=b", Trust { allow_unsafe: true, ..TRUST }),
            r"`mintage store bump 'postgres://u:***@h/db?a=b' issues --scope 'it'\''s' --to 11 --allow-unsafe` (put the store's password in place of ***)"
        );
        let option = command("postgres://h/db?password=secret", TRUST);
        assert!(
            option.contains(" postgres://h/db issues ")
                && option.ends_with("(put the password back into the store's URL)"),
            "{option}"
        );
    }
}
