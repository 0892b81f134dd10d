//! The commands that need real sockets: those of this folder, and `run --live`.

mod access;
mod addresses;
mod authorities;
mod blackbox;
mod call;
mod duel;
mod emulate;
mod emulated;
mod incoming;
mod logs;
mod policies;
mod publish;
pub(crate) mod real_time;
mod receive;
mod relay;
mod sending;
mod shell;
mod watch;
mod whip_server;

#[derive(clap::Subcommand)]
pub(crate) enum Command {
    /// Send video to browsers, on a page that anyone with the link can watch
    ///
    /// Each viewer of the page has a sender of their own. A link given by --rate, --up, --delay and so on is emulated
    /// between here and the viewers: `up` is the way of the video. Sliders on the page change it for all. Runs until
    /// Ctrl-C, the end of the video or --duration; the exit code is 1 if a WHIP server was asked for and never reached.
    /// The page's server has /metrics for Prometheus.
    Publish(publish::Arguments),
    /// Receive a published stream by its link or any WHEP address, measure it, record it
    ///
    /// Pictures of `publish --barcode` carry their number, so that latency is measured from camera to decoded picture;
    /// for others it rests on sender reports, and is as exact as the two machines' clocks. To look at the video:
    /// thalweg watch URL --y4m - | ffplay -
    Watch(watch::Arguments),
    /// Receive video from any WHIP sender, optionally over an emulated link, and measure it
    ///
    /// OBS, GStreamer, ffmpeg, Pion or `thalweg publish --whip` send to its endpoint, a browser from its page. Each
    /// sender has the link to itself: it begins when the sender joins, and `up` is the way of the video. Pictures that
    /// carry their number (`publish --barcode`) show which are missing; latency rests on the sender's reports, and is
    /// as exact as the two machines' clocks. Runs until Ctrl-C or --duration.
    Receive(receive::Arguments),
    /// Forward the video of any WHIP sender to browsers and to a WHIP server
    ///
    /// A browser's page, OBS, GStreamer, Pion or `thalweg publish --whip` send; everyone who opens the other page watches, each
    /// with a sender of their own. Pictures are decoded and encoded anew for each viewer, or frames are passed through as they
    /// come; audio always is. A link given by --rate, --up, --delay and so on is emulated between here and the viewers. Runs
    /// until Ctrl-C or --duration. /metrics has the viewers for Prometheus, /send/metrics the sender.
    Relay(relay::Arguments),
    /// Serve a call of two browsers, with a scheme for each direction
    ///
    /// Both open the page that it prints; camera and microphone of each come here and go on to the other. Options are
    /// those of `thalweg relay`, for each of the two; each has its own emulated link from here. Runs until Ctrl-C or
    /// --duration.
    Call(call::Arguments),
    /// Show two schemes side by side in the browser, each over the same emulated link
    ///
    /// Each scheme has the link to itself: two links of the same trace, the same seed and the same beginning.
    Duel(duel::Arguments),
    /// Emulate a link between other programs, as a UDP relay, without root
    ///
    /// Clients send to --listen in place of --to. Each client address gets a socket of its own towards the server; all
    /// share one link in each direction. A packet's size is that of its IP packet: 28 bytes more than its payload, with
    /// IPv6 48. At the end, after Ctrl-C or --duration, it says in four lines what passed, or in JSON. On a machine that
    /// does much else, `chrt -f 10 thalweg emulate ...` keeps packets on time.
    Emulate(emulate::Arguments),
    /// Run a command behind an emulated link, in a network namespace, as root
    ///
    /// The command gets a network of its own, all of whose IPv4 packets pass the link; up is what it sends. The machine
    /// is at $THALWEG_GATEWAY there, and $THALWEG_SHELL is set. Other machines are reached where nft or iptables can
    /// translate addresses; it says so. The command runs as the user who called sudo, or as root with --as-root.
    /// Shells may be opened inside one another, and everything is removed when the command ends. The exit code is the
    /// command's; 127 if there is no such command, 126 if it cannot be run.
    Shell(shell::Arguments),
    /// Measure stock Chromium over an emulated link, as a black box
    ///
    /// Two browsers of this machine call each other through the relay of `thalweg emulate`, without root. The sender's
    /// camera is a file of numbered pictures; the numbers are read where they leave the camera and the decoder. Rates,
    /// loss and queueing are the relay's. A call that the machine did not keep up with is invalid and repeated. Takes as
    /// long as the calls last; --with plays our schemes over the same link in virtual time, in the same table.
    #[command(name = "blackbox")]
    BlackBox(Box<blackbox::Arguments>),
}

pub(crate) fn run(command: &Command) -> anyhow::Result<()> {
    match command {
        Command::Publish(arguments) => publish::run(arguments),
        Command::Watch(arguments) => watch::run(arguments),
        Command::Receive(arguments) => receive::run(arguments),
        Command::Relay(arguments) => relay::run(arguments),
        Command::Call(arguments) => call::run(arguments),
        Command::Duel(arguments) => duel::run(arguments),
        Command::Emulate(arguments) => emulate::run(arguments),
        Command::Shell(arguments) => shell::run(arguments),
        Command::BlackBox(arguments) => blackbox::run(arguments),
    }
}
