//! Options from a file: `--config FILE` of the commands that have it, TOML with the options' own names.

use std::ffi::OsString;
use std::path::{Path, PathBuf};

use anyhow::{Context, anyhow, bail};
use clap::{Arg, ArgAction, Command};
use toml::Value;

/// The command line with the options of its `--config FILE`, without those that are given on it: these win.
pub(crate) fn expanded(arguments: Vec<OsString>, program: &Command) -> anyhow::Result<Vec<OsString>> {
    let Some(command) = arguments.get(1).and_then(|name| program.find_subcommand(name)) else { return Ok(arguments) };
    let given = &arguments[2..];
    let options = given.iter().take_while(|argument| *argument != "--");
    let written: Vec<&str> = options.filter_map(|argument| argument.to_str()?.strip_prefix("--")).collect();
    // One file does not name another.
    let is_given = |name: &str| name != "config" && written.iter().any(|option| option.split('=').next() == Some(name));
    let file = match file(given) {
        Some(file) if option(command, "config").is_some() => file,
        _ => return Ok(arguments),
    };
    let place = || file.display().to_string();
    let text = std::fs::read_to_string(&file).with_context(place)?;
    let table: toml::Table = text.parse().map_err(|error: toml::de::Error| anyhow!("{}: {error}", place()))?;
    let mut all = arguments[..2].to_vec();
    for (name, value) in table.iter().filter(|(name, _)| !is_given(name)) {
        all.extend(of_file(command, name, value).with_context(place)?);
    }
    all.extend_from_slice(given);
    Ok(all)
}

/// The file that `--config` names.
fn file(given: &[OsString]) -> Option<PathBuf> {
    let place = given.iter().take_while(|argument| *argument != "--").position(|argument| {
        argument == "--config" || argument.to_str().is_some_and(|text| text.starts_with("--config="))
    })?;
    let behind = given[place].to_str().and_then(|text| text.strip_prefix("--config="));
    behind.map(PathBuf::from).or_else(|| given.get(place + 1).map(|name| Path::new(name).to_owned()))
}

fn option<'a>(command: &'a Command, name: &str) -> Option<&'a Arg> {
    command.get_arguments().find(|argument| argument.get_long() == Some(name))
}

/// An entry of the file as arguments.
fn of_file(command: &Command, name: &str, value: &Value) -> anyhow::Result<Vec<OsString>> {
    let option = option(command, name).filter(|_| name != "config").ok_or_else(|| {
        anyhow!("unknown option '{name}': `thalweg help {0}` lists those of this command", command.get_name())
    })?;
    if matches!(option.get_action(), ArgAction::SetTrue) {
        let is_set = value.as_bool().ok_or_else(|| anyhow!("{name} is {value}, must be true or false"))?;
        return Ok(is_set.then(|| format!("--{name}").into()).into_iter().collect());
    }
    let several = matches!(option.get_action(), ArgAction::Append);
    let one = |value: &Value| {
        Ok(OsString::from(match value {
            Value::String(text) => format!("--{name}={text}"),
            Value::Integer(number) => format!("--{name}={number}"),
            Value::Float(number) => format!("--{name}={number}"),
            _ => bail!(
                "{name} is {value}, must be a text or a number{}",
                if several { ", or a list of them" } else { "" }
            ),
        }))
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
        Command::new("thalweg").subcommand(
            Command::new("publish")
                .args([of("config"), of("rate"), of("viewers"), of("open").action(ArgAction::SetTrue)])
                .arg(of("advertise").action(ArgAction::Append)),
        )
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
    fn what_is_no_option_or_no_value_is_refused_with_its_name() {
        for (name, text, named) in [
            ("unknown", "ratte = 1", "unknown option 'ratte'"),
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
