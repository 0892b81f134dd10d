// Reads the number that is drawn on a picture, to the letter of crates/video/src/barcode.rs: 64 bits, each in a cell of the upper
// left and one of the lower right corner, the second at another place and for half of the bits inverted; the number in Gray code.

const COLUMNS = 80, ROWS = 45, SIDE = 8;
const INVERTED = 0x3a6c9d17e28b54c9n;
const CLEAR = 0.35;

// The samples of a cell's middle, from one to before the other. `cells` of them divide `length` samples.
function middle(length, cells, at) {
  const nearest = place => Math.floor(place * length / cells + 0.5);
  const from = nearest(at + 0.25);
  return [from, Math.max(nearest(at + 0.75), from + 1)];
}

// The number on a picture of this size, or null. `brightness(x0, x1, y0, y1)` is the mean of the samples, -1 for black, 1 for white.
export function decode(width, height, brightness) {
  if (width < COLUMNS || height < ROWS) return null;
  const cell = (column, row) => brightness(...middle(width, COLUMNS, column), ...middle(height, ROWS, row));
  let gray = 0n;
  for (let bit = 0; bit < 64; bit++) {
    const major = Math.floor(bit / SIDE), minor = bit % SIDE;
    const first = cell(minor, major), second = cell(COLUMNS - 1 - major, ROWS - 1 - minor);
    const inverted = (INVERTED >> BigInt(bit) & 1n) === 1n;
    const both = (first + (inverted ? -second : second)) / 2;
    if (Math.abs(both) < CLEAR) return null;
    if (both > 0) gray |= 1n << BigInt(bit);
  }
  let number = gray;
  for (const shift of [1n, 2n, 4n, 8n, 16n, 32n]) number ^= number >> shift;
  // Beyond 2^53 a number of JavaScript is none; no camera runs so long.
  return number <= BigInt(Number.MAX_SAFE_INTEGER) ? Number(number) : null;
}

// Reads what an element shows. Only the two corners are copied, without scaling, and at once: between two copies a video goes on, and
// what stands in its corners would be of two pictures.
export class Reader {
  constructor(canvas = new OffscreenCanvas(1, 1)) {
    this.canvas = canvas;
    this.context = canvas.getContext('2d', { willReadFrequently: true, alpha: false });
  }

  read(source, width, height) {
    if (width < COLUMNS || height < ROWS) return null;
    const w = Math.ceil(width * SIDE / COLUMNS) + 1, h = Math.ceil(height * SIDE / ROWS) + 1;
    if (this.canvas.width !== width || this.canvas.height !== height) {
      Object.assign(this.canvas, { width, height });
      const corners = new Path2D();
      corners.rect(0, 0, w, h);
      corners.rect(width - w, height - h, w, h);
      this.context.clip(corners);
    }
    this.context.drawImage(source, 0, 0, width, height);
    const { data: first } = this.context.getImageData(0, 0, w, h);
    const { data: second } = this.context.getImageData(width - w, height - h, w, h);
    return decode(width, height, (x0, x1, y0, y1) => {
      // What is not of the first corner is of the second.
      const [data, left, top] = x0 < w ? [first, 0, 0] : [second, width - w, height - h];
      let sum = 0;
      for (let y = y0; y < y1; y++) {
        for (let x = x0; x < x1; x++) {
          const at = 4 * ((y - top) * w + x - left);
          sum += 0.2126 * data[at] + 0.7152 * data[at + 1] + 0.0722 * data[at + 2];
        }
      }
      return sum / ((x1 - x0) * (y1 - y0)) / 255 * 2 - 1;
    });
  }
}
