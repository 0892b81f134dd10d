// The page of a call: the camera goes to the relay of the first free seat, and what stands here is from the other seat's.

import { camera } from './camera.js';
import { Refused, Session, ask, linkToken } from './whep.js';
import { Sending } from './whip.js';

const SEATS = ['a', 'b'];
const wanted = new URLSearchParams(location.search);
const token = linkToken();
addEventListener('hashchange', () => location.reload());
const element = id => document.getElementById(id);
const wait = ms => new Promise(resolve => setTimeout(resolve, ms));
const say = (id, text) => { element(id).textContent = text; };
const state = { camera: null, call: null };
// For who tests this page.
window.thalweg = state;

// Sends to the first seat that is free; resolves with its name and the sending.
async function sit(onState) {
  for (const seat of SEATS) {
    try {
      return { seat, sending: await Sending.open({ base: `${seat}/send/`, stream: state.camera, name: seat, token, onState }) };
    } catch (error) {
      // A seat that is taken.
      if (!(error instanceof Refused && error.status === 503)) throw error;
    }
  }
  throw new Error('Two are in this call already. Who lost the connection leaves their place after half a minute.');
}

class Call {
  constructor(seat, sending) {
    Object.assign(this, { seat, sending, session: null, over: false, last: { atMs: 0, decoded: 0 } });
    this.other = `${SEATS.find(name => name !== seat)}/`;
  }

  // Watches the other seat until the call is over.
  async watch() {
    while (!this.over) {
      const why = await this.watchOnce().catch(error => error.message);
      this.session?.close();
      this.session = null;
      if (this.over) return;
      say('notice', `${why} Trying again.`);
      await wait(1000);
    }
  }

  async watchOnce() {
    const about = await (await ask(`${this.other}about`, token)).json();
    // A session counts from zero.
    this.last = { atMs: 0, decoded: 0 };
    let ended;
    const end = new Promise(resolve => { ended = resolve; });
    this.session = await Session.open({
      base: this.other, channel: about.channels[0].name, token, feedbackOnRequest: about.feedback_on_request,
      onTrack: stream => { element('other').srcObject = stream; element('other').play().catch(() => {}); },
      onState: connection => { if (['failed', 'closed'].includes(connection)) ended('The connection was lost.'); },
    });
    return end;
  }

  // Received and sent, once a second.
  async follow() {
    for (; !this.over; await wait(1000)) {
      const { atMs, video, audio } = await this.session?.statistics().catch(() => ({})) ?? {};
      const decoded = video?.framesDecoded ?? 0, fresh = decoded - this.last.decoded;
      const perSecond = Math.round(1000 * fresh / (atMs - this.last.atMs));
      this.last = { atMs, decoded };
      // Nothing new for a second is a jam or a person who has left; the picture stays.
      say('notice', decoded === 0 ? 'Nobody else is here yet.' : fresh > 0 ? '' : 'Nothing comes from the other person.');
      if (video) say('coming', `Received: ${video.frameWidth ?? 0} × ${video.frameHeight ?? 0}, ${perSecond} pictures a second, ${audio?.packetsReceived ?? 0} audio packets so far.`);
      try {
        const figures = await (await ask(`${this.seat}/send/senders/${this.sending.id}`, token)).json();
        if (this.over) return;
        say('going', `Sent: ${(figures.wire_bps / 1e6).toFixed(2)} Mbps, ${figures.shown_fps.toFixed(0)} pictures a second.`);
      } catch (error) {
        if (error.status === 404) return leave('The publisher has ended the call.');
      }
    }
  }

  end() {
    this.over = true;
    this.sending.close();
    this.session?.close();
    element('other').srcObject = null;
  }
}

async function begin() {
  element('begin').disabled = true;
  try {
    state.camera ??= await camera(wanted.get('audio') !== 'none');
    element('own').srcObject = state.camera;
    const { seat, sending } = await sit(connection => { if (connection === 'failed') leave('The connection failed.'); });
    state.call = new Call(seat, sending);
    element('begin').textContent = 'Leave';
    say('going', 'Connecting.');
    state.call.watch();
    state.call.follow();
  } catch (error) {
    leave(error.message);
  }
  element('begin').disabled = false;
}

function leave(why) {
  state.call?.end();
  state.call = null;
  element('begin').textContent = 'Begin';
  say('going', why);
  say('coming', '');
  say('notice', '');
}

function mute() {
  const muted = element('mute').getAttribute('aria-pressed') !== 'true';
  for (const track of state.camera?.getAudioTracks() ?? []) track.enabled = !muted;
  element('mute').setAttribute('aria-pressed', String(muted));
  element('mute').textContent = muted ? 'Unmute' : 'Mute';
}

element('begin').addEventListener('click', () => state.call ? leave('You have left.') : begin());
element('mute').addEventListener('click', mute);
addEventListener('pagehide', () => leave('You have left.'));
if (wanted.has('begin')) begin();
