// Runs in the page, before its own scripts: answers its offers from a second connection in the same browser, which sends a canvas
// with barcodes. What the page does with a picture can be tested so without a publisher.

export function loopback() {
  const real = window.fetch;
  const peers = window.loopback = [];
  const GRID = [80, 45], INVERTED = 0x3a6c9d17e28b54c9n;

  function draw(canvas, context, number) {
    const [width, height] = [canvas.width, canvas.height];
    context.fillStyle = `hsl(${number % 360} 40% 40%)`;
    context.fillRect(0, 0, width, height);
    context.fillStyle = '#fff';
    context.fillRect(width * (number % 100) / 100, height / 2, width / 20, width / 20);
    const gray = BigInt(number) ^ (BigInt(number) >> 1n);
    for (let bit = 0; bit < 64; bit++) {
      const major = Math.floor(bit / 8), minor = bit % 8;
      const set = (gray >> BigInt(bit) & 1n) === 1n, inverted = (INVERTED >> BigInt(bit) & 1n) === 1n;
      for (const [column, row, white] of [[minor, major, set], [79 - major, 44 - minor, set !== inverted]]) {
        const at = (place, length, cells) => Math.round(place * length / cells);
        const [x, y] = [at(column, width, GRID[0]), at(row, height, GRID[1])];
        context.fillStyle = white ? '#fff' : '#000';
        context.fillRect(x, y, at(column + 1, width, GRID[0]) - x, at(row + 1, height, GRID[1]) - y);
      }
    }
  }

  // A channel whose name is `window.frozen` shows no new picture.
  async function answer(offer, channel) {
    const about = await (await real('/about', { headers: { authorization: `Bearer ${new URLSearchParams(location.hash.slice(1)).get('token')}` } })).json();
    const canvas = Object.assign(document.createElement('canvas'), { width: 640, height: 360 });
    const context = canvas.getContext('2d', { alpha: false });
    const peer = new RTCPeerConnection();
    peers.push(peer);
    const timer = setInterval(() => {
      const now = performance.timeOrigin + performance.now();
      if (peer.connectionState === 'closed') clearInterval(timer);
      else if (window.frozen !== channel) draw(canvas, context, Math.max(0, Math.floor((now - about.epoch_ms) / about.frame_interval_ms)));
    }, 1000 / 30);
    await peer.setRemoteDescription({ type: 'offer', sdp: offer });
    canvas.captureStream(30).getTracks().forEach(track => peer.addTrack(track));
    await peer.setLocalDescription(await peer.createAnswer());
    if (peer.iceGatheringState !== 'complete') {
      await new Promise(resolve => { peer.onicegatheringstatechange = () => peer.iceGatheringState === 'complete' && resolve(); });
    }
    return peer.localDescription.sdp;
  }

  window.offers = [];
  window.fetch = async (address, options) => {
    const response = await real(address, options);
    if (options?.method !== 'POST' || !String(address).includes('whep') || !response.ok) return response;
    window.offers.push(options.body);
    const replaced = new Response(await answer(options.body, String(address).match(/whep\/([^?]*)/)[1]), { status: 201, headers: response.headers });
    Object.defineProperty(replaced, 'url', { value: response.url });
    return replaced;
  };
}
