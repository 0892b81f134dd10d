// Sender or receiver of a call, by the last part of the page's address. The mailbox carries what they say to each other, and what
// each saw; all times are in milliseconds of its clock. `post` and `fail` are the document's.

const part = location.pathname.split('/').pop();
const video = document.querySelector('video');
const own = () => performance.timeOrigin + performance.now();

// What is refused would be missing without a word.
const say = async (kind, body) => {
  const answer = await post(kind, body);
  if (!answer.ok) throw new Error(`the mailbox refused a ${kind}: ${answer.status} ${await answer.text()}`);
};

// How far the mailbox's clock is ahead of this page's: by the quickest of several readings.
async function ahead() {
  let best = { took: Infinity };
  for (let count = 0; count < 10; count++) {
    const sent = own(), theirs = Number(await (await fetch('clock')).text()), took = own() - sent;
    if (took < best.took) best = { took, ahead: theirs - (sent + took / 2) };
  }
  return best.ahead;
}

// What the other wrote. The mailbox answers 204 now and then while there is nothing.
async function letter(name) {
  for (;;) {
    const answer = await fetch(name);
    if (answer.status === 200) return answer.text();
  }
}

const gathered = peer => new Promise(resolve => {
  const look = () => peer.iceGatheringState === 'complete' && resolve();
  peer.onicegatheringstatechange = look;
  look();
});

const offset = await ahead();
let pictures = [], presented = [];

// Every picture of the track is read beside the page, so that nothing is missed while the page is busy.
function read(track) {
  const { readable } = new MediaStreamTrackProcessor({ track, maxBufferSize: 60 });
  const worker = new Worker('reader.js', { type: 'module' });
  worker.onmessage = ({ data }) => pictures.push({ ...data, at: data.at + offset });
  worker.onerror = event => fail(`the reader: ${event.message}`);
  worker.postMessage(readable, [readable]);
}

// What the browser says that it presents; a page that is busy is not called for every picture.
function watch() {
  video.requestVideoFrameCallback((_, { presentationTime, rtpTimestamp }) => {
    presented.push({ at: performance.timeOrigin + presentationTime + offset, rtp: rtpTimestamp ?? null });
    watch();
  });
}

async function statistics(peer) {
  const all = [...(await peer.getStats()).values()];
  const rtp = all.find(({ type, kind }) => kind === 'video' && (type === 'outbound-rtp' || type === 'inbound-rtp'));
  const pair = all.find(({ type, nominated, state }) => type === 'candidate-pair' && nominated && state === 'succeeded');
  const of = wanted => all.find(({ type }) => type === wanted);
  const named = id => all.find(each => each.id === id);
  return { rtp, pair, source: of('media-source'), transport: of('transport'), codec: named(rtp?.codecId), remote: of('remote-inbound-rtp') };
}

async function report(peer) {
  const sent = { pictures, presented };
  [pictures, presented] = [[], []];
  await say('report', JSON.stringify({ at: own() + offset, ...sent, statistics: await statistics(peer) }));
}

// The codec asked for first, then what WebRTC wraps codecs in; the others are not offered.
function codecs({ codec, format }) {
  const { codecs } = RTCRtpSender.getCapabilities('video');
  const wanted = codecs.filter(({ mimeType, sdpFmtpLine = '' }) => mimeType === codec && sdpFmtpLine.includes(format));
  if (!wanted.length) throw new Error(`this browser does not encode ${codec} ${format}`);
  return [...wanted, ...codecs.filter(({ mimeType }) => /rtx|red|ulpfec/.test(mimeType))];
}

async function send(task) {
  const { width, height, frame_rate: frameRate } = task;
  const stream = await navigator.mediaDevices.getUserMedia({ video: { width: { exact: width }, height: { exact: height }, frameRate: { ideal: frameRate } } });
  const [track] = stream.getVideoTracks();
  const peer = new RTCPeerConnection({ bundlePolicy: 'max-bundle' });
  const encoding = { maxBitrate: task.max_rate };
  if (task.scalability) encoding.scalabilityMode = task.scalability;
  const transceiver = peer.addTransceiver(track, { direction: 'sendonly', streams: [stream], sendEncodings: [encoding] });
  transceiver.setCodecPreferences(codecs(task));
  read(track.clone());
  await peer.setLocalDescription(await peer.createOffer());
  await gathered(peer);
  await say('description', peer.localDescription.sdp);
  await peer.setRemoteDescription({ type: 'answer', sdp: await letter('answer') });
  return peer;
}

async function receive() {
  const peer = new RTCPeerConnection({ bundlePolicy: 'max-bundle' });
  peer.ontrack = ({ track }) => {
    video.srcObject = new MediaStream([track]);
    watch();
    read(track);
  };
  await peer.setRemoteDescription({ type: 'offer', sdp: await letter('offer') });
  await peer.setLocalDescription(await peer.createAnswer());
  await gathered(peer);
  await say('description', peer.localDescription.sdp);
  return peer;
}

const task = await (await fetch('task')).json();
const peer = part === 'sender' ? await send(task) : await receive();
setInterval(() => report(peer).catch(fail), 1000);
