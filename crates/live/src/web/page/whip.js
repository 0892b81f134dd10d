// One sending: an offer to the receiver, its answer, and the end. WHIP (RFC 9725).

import { Signalled } from './whep.js';

export class Sending extends Signalled {
  // Resolves when the receiver has answered. `codec` is 'VP8', 'VP9', 'H264' or 'AV1', or null for the browser's own order;
  // `maxRate` in bits per second, or null. `onState(connectionState)`. `base` is the folder of the receiver.
  static async open({ base = '', stream, name, token, codec, maxRate, onState }) {
    const sending = new Sending(), { peer } = sending;
    peer.onconnectionstatechange = () => onState(peer.connectionState);
    try {
      for (const track of stream.getTracks()) {
        const encodings = track.kind === 'video' && maxRate ? [{ maxBitrate: maxRate }] : undefined;
        const transceiver = peer.addTransceiver(track, { direction: 'sendonly', streams: [stream], sendEncodings: encodings });
        if (track.kind === 'video' && codec) sending.prefer(transceiver, codec);
      }
      const offer = await peer.createOffer();
      await peer.setLocalDescription(offer);
      const query = name ? `?name=${encodeURIComponent(name)}` : '';
      await peer.setRemoteDescription({ type: 'answer', sdp: await sending.post(`${base}whip${query}`, token, offer.sdp) });
    } catch (error) {
      sending.close();
      throw error;
    }
    return sending;
  }

  // This codec first, with the retransmissions and FEC that go with it.
  prefer(transceiver, codec) {
    const all = RTCRtpSender.getCapabilities('video').codecs;
    const is = ({ mimeType }) => mimeType.toLowerCase() === `video/${codec}`.toLowerCase();
    const others = all.filter(({ mimeType }) => /\/(rtx|red|ulpfec|flexfec-03)$/i.test(mimeType));
    transceiver.setCodecPreferences([...all.filter(is), ...others]);
  }
}
