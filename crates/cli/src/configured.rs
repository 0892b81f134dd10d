//! Options and arguments from a file: `--config FILE` of the commands that have it, TOML with their own names.

use std::ffi::OsString;
use std::path::PathBuf;

use anyhow::{Context, anyhow, bail};
use clap::parser::ValueSource;
use clap::{Arg, ArgAction, Command};
use thalweg_units::did_you_mean;
use toml::Value;

/// The command line with the options and arguments of its `--config FILE`, without those that are given on it: these win.
pub(crate) fn expanded(arguments: Vec<OsString>, program: &Command) -> anyhow::Result<Vec<OsString>> {
    let Some(command) = arguments.get(1).and_then(|name| program.find_subcommand(name)) else { return Ok(arguments) };
    if !command.get_arguments().any(|argument| argument.get_id() == "config") {
        return Ok(arguments);
    }
    // What is wrong with the command line is said when all of it is parsed.
    let lenient = command.clone().ignore_errors(true).try_get_matches_from(&arguments[1..]);
    let Some(given) = lenient.ok() else { return Ok(arguments) };
    let Some(file) = given.get_one::<PathBuf>("config") else { return Ok(arguments) };
    let is_given = |argument: &Arg| given.value_source(argument.get_id().as_str()) == Some(ValueSource::CommandLine);
    let place = || file.display().to_string();
    let text = std::fs::read_to_string(file).with_context(place)?;
    let table: toml::Table = text.parse().map_err(|error: toml::de::Error| anyhow!("{}: {error}", place()))?;
    let (mut all, mut behind) = (arguments[..2].to_vec(), Vec::new());
    for (name, value) in &table {
        let argument = named(command, name).with_context(place)?;
        let words = words(argument, name, value).with_context(place)?;
        match is_given(argument) {
            true => (),
            false if argument.is_positional() => {
                let place = command.get_positionals().position(|other| other.get_id() == argument.get_id());
                behind.push((place, words));
            }
            false => all.extend(words),
        }
    }
    behind.sort_by_key(|(place, _)| *place);
    let separator = !behind.is_empty() && !arguments.contains(&"--".into());
    all.extend_from_slice(&arguments[2..]);
    all.extend(separator.then(|| "--".into()));
    all.extend(behind.into_iter().flat_map(|(_, words)| words));
    Ok(all)
}

/// The name of an option or argument in a file.
fn name_of(argument: &Arg) -> &str {
    argument.get_long().unwrap_or(argument.get_id().as_str())
}

/// The option or argument of this name.
fn named<'a>(command: &'a Command, name: &str) -> anyhow::Result<&'a Arg> {
    let known = || command.get_arguments().filter(|argument| name_of(argument) != "config");
    known().find(|argument| name_of(argument) == name).ok_or_else(|| {
        let near = did_you_mean(name, known().map(name_of)).map_or_else(String::new, |question| format!("{question} "));
        anyhow!("unknown option '{name}': {near}(`thalweg help {}` lists those of this command)", command.get_name())
    })
}

/// An entry of the file as words of a command line.
fn words(argument: &Arg, name: &str, value: &Value) -> anyhow::Result<Vec<OsString>> {
    if matches!(argument.get_action(), ArgAction::SetTrue) {
        let is_set = value.as_bool().ok_or_else(|| anyhow!("{name} is {value}, must be true or false"))?;
        return Ok(is_set.then(|| format!("--{name}").into()).into_iter().collect());
    }
    let several = matches!(argument.get_action(), ArgAction::Append);
    let one = |value: &Value| {
        let text = match value {
            Value::String(text) => text.clone(),
            Value::Integer(number) => number.to_string(),
            Value::Float(number) => number.to_string(),
            _ => bail!(
                "{name} is {value}, must be a text or a number{}",
                if several { ", or a list of them" } else { "" }
            ),
        };
        Ok(OsString::from(if argument.is_positional() { text } else { format!("--{name}={text}") }))
    };
    match value {
        Value::Array(values) if several => values.iter().map(one).collect(),
        value => Ok(vec![one(value)?]),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn program() -> Command {
        let of = |name: &'static str| Arg::new(name).long(name);
        let config = of("config").value_parser(clap::value_parser!(PathBuf));
        let publish = Command::new("publish")
            .args([config, of("rate"), of("viewers"), of("open").action(ArgAction::SetTrue)])
            .args([of("advertise").action(ArgAction::Append), Arg::new("source"), Arg::new("second")]);
        Command::new("thalweg").subcommand(publish)
    }

    /// The arguments behind the command, of a file of this text and more arguments.
    fn read(name: &str, text: &str, more: &[&str]) -> Result<Vec<String>, String> {
        let file = std::env::temp_dir().join(format!("thalweg-configured-{}-{name}.toml", std::process::id()));
        std::fs::write(&file, text).unwrap();
        let begin = ["thalweg".into(), "publish".into(), "--config".into(), file.clone().into_os_string()];
        let arguments = begin.into_iter().chain(more.iter().map(OsString::from)).collect();
        let found = expanded(arguments, &program()).map_err(|error| format!("{error:#}"));
        std::fs::remove_file(file).unwrap();
        let words = |all: Vec<OsString>| all.iter().skip(2).map(|word| word.to_string_lossy().into_owned()).collect();
        let without_file = |all: Vec<String>| all.into_iter().filter(|word| !word.contains("configured")).collect();
        found.map(words).map(without_file)
    }

    #[test]
    fn a_file_has_options_by_their_names_and_the_command_line_wins() {
        let text = "rate = \"2Mbps\"\nviewers = 4\nopen = true\nadvertise = [\"a\", \"b\"]\n";
        let all = read("all", text, &[]).unwrap();
        assert_eq!(all, ["--advertise=a", "--advertise=b", "--open", "--rate=2Mbps", "--viewers=4", "--config"]);
        let some = read("some", text, &["--rate", "1Mbps", "--advertise=c", "--", "--viewers"]).unwrap();
        assert_eq!(some[..3], ["--open", "--viewers=4", "--config"]);
        assert_eq!(read("off", "open = false", &[]).unwrap(), ["--config"]);
    }

    #[test]
    fn an_argument_stands_behind_the_options_and_the_command_line_wins() {
        let text = "source = \"-my clip.mp4\"\nrate = \"2Mbps\"\nsecond = \"b\"\n";
        assert_eq!(read("argument", text, &[]).unwrap(), ["--rate=2Mbps", "--config", "--", "-my clip.mp4", "b"]);
        assert_eq!(read("won", text, &["c"]).unwrap(), ["--rate=2Mbps", "--config", "c", "--", "b"]);
        // The value of an option is no argument.
        let behind = read("option", text, &["--viewers", "4"]).unwrap();
        assert_eq!(behind[2..], ["--viewers", "4", "--", "-my clip.mp4", "b"]);
    }

    #[test]
    fn what_is_no_option_or_no_value_is_refused_with_its_name() {
        for (name, text, named) in [
            ("unknown", "ratte = 1", "unknown option 'ratte': did you mean rate? (`thalweg help publish`"),
            ("itself", "config = \"x\"", "unknown option 'config'"),
            ("flag", "open = 1", "open is 1, must be true or false"),
            ("list", "rate = [1]", "rate is [1], must be a text or a number"),
            ("syntax", "rate = ", "rate"),
        ] {
            let error = read(name, text, &[]).unwrap_err();
            assert!(error.contains(named) && error.contains(".toml"), "{error}");
        }
        let missing = ["thalweg", "publish", "--config=/nowhere.toml"].map(OsString::from).to_vec();
        assert!(format!("{:#}", expanded(missing, &program()).unwrap_err()).contains("/nowhere.toml"));
    }

    #[test]
    fn other_commands_and_command_lines_without_a_file_stay_as_they_are() {
        for line in [
            &["thalweg"][..],
            &["thalweg", "publish"],
            &["thalweg", "compare", "--config", "x"],
            &["thalweg", "publish", "--", "--config=x"],
        ] {
            let line: Vec<OsString> = line.iter().map(OsString::from).collect();
            assert_eq!(expanded(line.clone(), &program()).unwrap(), line);
        }
    }
}
