// One viewing: an offer to the publisher, its answer, and the end. WHEP (draft-ietf-wish-whep-03).

const TWCC = 'http://www.ietf.org/id/draft-holmer-rmcat-transport-wide-cc-extensions-01';
const DEPENDENCIES = 'https://aomediacodec.github.io/av1-rtp-spec/#dependency-descriptor-rtp-header-extension';
const TWCC_ON_REQUEST = 'http://www.webrtc.org/experiments/rtp-hdrext/transport-wide-cc-02';

// The token of the page's link: in the fragment, which no server and no proxy sees; in the query as links had it before.
export const linkToken = () =>
  [location.hash.slice(1), location.search].map(text => new URLSearchParams(text).get('token')).find(Boolean) ?? null;

// The publisher said no. `status` is HTTP's; the message is its own sentence.
export class Refused extends Error {
  constructor(status, message) {
    super(message);
    this.status = status;
  }
}

// Asks for `path`, showing the token.
export async function ask(path, token, options = {}) {
  const headers = { ...options.headers, ...(token ? { Authorization: `Bearer ${token}` } : {}) };
  const response = await fetch(path, { cache: 'no-store', ...options, headers });
  if (!response.ok) throw new Refused(response.status, (await response.text()).trim() || response.statusText);
  return response;
}

// What a viewing and a sending have in common: a session that an offer makes and DELETE ends.
export class Signalled {
  constructor() {
    this.peer = new RTCPeerConnection({ bundlePolicy: 'max-bundle', rtcpMuxPolicy: 'require' });
  }

  // Posts an offer; the answer.
  async post(path, token, sdp) {
    const response = await ask(path, token, { method: 'POST', body: sdp, headers: { 'Content-Type': 'application/sdp' } });
    this.location = new URL(response.headers.get('Location'), response.url);
    this.id = this.location.pathname.split('/').pop();
    return response.text();
  }

  close() {
    this.peer.onconnectionstatechange = null;
    this.peer.close();
    // Also while the page is being left.
    if (this.location) fetch(this.location, { method: 'DELETE', keepalive: true }).catch(() => {});
    this.location = null;
  }
}

export class Session extends Signalled {
  // Resolves when the publisher has answered; the picture comes after that. `onTrack(stream)`, `onState(connectionState)`. `base` is
  // the folder of the publisher.
  static async open({ base = '', channel, scheme, token, feedbackOnRequest, onTrack, onState }) {
    const session = new Session(), { peer } = session;
    const stream = new MediaStream();
    const [video, audio] = ['video', 'audio'].map(kind => peer.addTransceiver(kind, { direction: 'recvonly' }));
    [video, audio].forEach(({ receiver }) => session.wantNow(receiver));
    session.wantReferences(video);
    peer.ontrack = ({ track }) => { stream.addTrack(track); onTrack(stream); };
    peer.onconnectionstatechange = () => onState(peer.connectionState);
    try {
      const offer = await peer.createOffer();
      const sdp = feedbackOnRequest ? offer.sdp.replaceAll(TWCC, TWCC_ON_REQUEST) : offer.sdp;
      await peer.setLocalDescription({ type: 'offer', sdp });
      const path = `${base}whep/${encodeURIComponent(channel)}${scheme ? `?scheme=${encodeURIComponent(scheme)}` : ''}`;
      session.answer = await session.post(path, token, sdp);
      await peer.setRemoteDescription({ type: 'answer', sdp: session.answer });
    } catch (error) {
      session.close();
      throw error;
    }
    return session;
  }

  // A picture is shown when it is there: what is waited for here would be latency.
  wantNow(receiver) {
    if ('jitterBufferTarget' in receiver) receiver.jitterBufferTarget = 0;
    if ('playoutDelayHint' in receiver) receiver.playoutDelayHint = 0;
  }

  // Frames are to say what they refer to: otherwise Chromium takes each to need the one before it, and after one that was lost shows none
  // for three seconds. It knows the extension but offers it only if asked; a browser that cannot be asked gets what it lost again.
  wantReferences(transceiver) {
    const all = transceiver.getHeaderExtensionsToNegotiate?.() ?? [];
    if (!all.some(({ uri }) => uri === DEPENDENCIES)) return;
    const wanted = all.map(extension => extension.uri === DEPENDENCIES ? { ...extension, direction: 'sendrecv' } : extension);
    transceiver.setHeaderExtensionsToNegotiate(wanted);
  }

  // Looks for another way to the publisher, keeping keys and picture (RFC 9725 section 4.3.2).
  async restart(token) {
    const offer = await this.peer.createOffer({ iceRestart: true });
    await this.peer.setLocalDescription({ type: 'offer', sdp: offer.sdp });
    const lines = offer.sdp.split('\r\n');
    const line = start => lines.find(line => line.startsWith(start));
    const fragment = [line('a=ice-ufrag:'), line('a=ice-pwd:'), line('m='), line('a=mid:'), ''].join('\r\n');
    const headers = { 'Content-Type': 'application/trickle-ice-sdpfrag', 'If-Match': '*' };
    const response = await ask(this.location, token, { method: 'PATCH', body: fragment, headers });
    await this.peer.setRemoteDescription({ type: 'answer', sdp: this.answer = merged(this.answer, await response.text()) });
  }

  // What the browser counts, of video, audio and the path.
  async statistics() {
    const all = { atMs: performance.now() }, entries = await this.peer.getStats();
    for (const entry of entries.values()) {
      if (entry.type === 'inbound-rtp') all[entry.kind] = { ...entry };
      // Of the pairs that were nominated, before a restart and after it, the one that is used.
      if (entry.type === 'transport') all.path = { ...entries.get(entry.selectedCandidatePairId) };
    }
    return all;
  }
}

// An answer with the ICE half that a fragment brings.
export function merged(answer, fragment) {
  const brought = fragment.split(/\r?\n/).filter(line => /^a=(ice-ufrag|ice-pwd|candidate|end-of-candidates)/.test(line));
  const of = start => brought.filter(line => line.startsWith(start));
  const kept = answer.split('\r\n').filter(line => !/^a=(candidate|end-of-candidates)/.test(line));
  let first = true;
  return kept.flatMap(line => {
    if (line.startsWith('a=ice-ufrag:')) return of('a=ice-ufrag:').slice(0, 1);
    if (!line.startsWith('a=ice-pwd:')) return [line];
    const candidates = first ? [...of('a=candidate'), ...of('a=end-of-candidates')] : [];
    first = false;
    return [...of('a=ice-pwd:').slice(0, 1), ...candidates];
  }).join('\r\n');
}
