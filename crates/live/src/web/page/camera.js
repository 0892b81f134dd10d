// This browser's camera and microphone.

export async function camera(audio) {
  if (!navigator.mediaDevices) throw new Error('A browser gives its camera to pages by https or of this machine only: open this one by https.');
  const video = { width: { ideal: 1280 }, height: { ideal: 720 }, frameRate: { ideal: 30 } };
  try {
    return await navigator.mediaDevices.getUserMedia({ video, audio });
  } catch (error) {
    // A machine without a microphone.
    if (audio && error.name === 'NotFoundError') return navigator.mediaDevices.getUserMedia({ video });
    throw error;
  }
}
