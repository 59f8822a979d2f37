/** Square PNG images by their size in pixels. */
type Images = ReadonlyMap<number, Buffer>;

/** A Windows icon with PNG entries up to 256 px (Vista and later read them). */
export function icoFile(images: Images): Buffer {
  const entries = [...images].filter(([size]) => size <= 256);
  const headerBytes = 6 + 16 * entries.length;
  const header = Buffer.alloc(headerBytes);
  header.writeUInt16LE(1, 2); // type: icon
  header.writeUInt16LE(entries.length, 4);
  let offset = headerBytes;
  for (const [index, [size, image]] of entries.entries()) {
    const at = 6 + 16 * index;
    header.writeUInt8(size % 256, at); // 0 stands for 256
    header.writeUInt8(size % 256, at + 1);
    header.writeUInt16LE(1, at + 4); // colour planes
    header.writeUInt16LE(32, at + 6); // bits per pixel
    header.writeUInt32LE(image.length, at + 8);
    header.writeUInt32LE(offset, at + 12);
    offset += image.length;
  }
  return Buffer.concat([header, ...entries.map(([, image]) => image)]);
}

/** Type of an icns entry that holds PNG → its size; `ic1x` at twice the size are the Retina ones. */
const icnsTypes = [
  ['icp4', 16],
  ['icp5', 32],
  ['icp6', 64],
  ['ic07', 128],
  ['ic08', 256],
  ['ic09', 512],
  ['ic10', 1024],
  ['ic11', 32],
  ['ic12', 64],
  ['ic13', 256],
  ['ic14', 512],
] as const;

/** A macOS icon with PNG entries. */
export function icnsFile(images: Images): Buffer {
  const entries = icnsTypes.flatMap(([type, size]) => {
    const image = images.get(size);
    return image === undefined ? [] : [icnsEntry(type, image)];
  });
  return icnsEntry('icns', Buffer.concat(entries));
}

/** Four characters, the length with this head, the content. */
function icnsEntry(type: string, content: Buffer): Buffer {
  const head = Buffer.alloc(8);
  head.write(type, 'latin1');
  head.writeUInt32BE(content.length + 8, 4);
  return Buffer.concat([head, content]);
}
