import { execFileSync } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { mkdtempSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { Client } from 'ssh2';
import { startSshd } from '../../../bench/sshd.ts';
import { readRemoteFile } from './read-remote-file.ts';
import { SftpSession } from './sftp-session.ts';

const dir = mkdtempSync('/tmp/h3/t-');
await using sshd = await startSshd(dir);
const args = sshd.sshArgs('x');
const port = args[args.indexOf('-p') + 1]!;
const key = args[args.indexOf('-i') + 1]!;
const file = join(dir, 'big');
writeFileSync(file, randomBytes(50 * 1024 * 1024));
for (const cipher of [
  'aes128-gcm@openssh.com',
  'aes256-gcm@openssh.com',
  'chacha20-poly1305@openssh.com',
  'aes128-ctr',
] as any[]) {
  const client = new Client();
  await new Promise((resolve, reject) =>
    client
      .on('ready', resolve)
      .on('error', reject)
      .connect({
        host: '127.0.0.1',
        port: Number(port),
        username: 'root',
        privateKey: readFileSync(key),
        algorithms: { cipher: [cipher] },
      }),
  );
  const ours: number[] = [];
  for (let i = 0; i < 7; i++) {
    const t = performance.now();
    using session = await SftpSession.open(client, { replyTimeoutMs: 10000 });
    const b = await readRemoteFile(session, file, 50 * 1024 * 1024);
    ours.push(Math.round(performance.now() - t));
    if (!b.equals(readFileSync(file))) throw new Error('wrong');
  }
  const theirs: number[] = [];
  for (let i = 0; i < 5; i++) {
    const t = performance.now();
    execFileSync('scp', [
      '-q',
      '-F',
      'none',
      '-P',
      port,
      '-i',
      key,
      ...args.filter((a) => a.includes('=')).flatMap((o) => ['-o', o]),
      '-o',
      `Ciphers=${cipher}`,
      `127.0.0.1:${file}`,
      join(dir, 'copy'),
    ]);
    theirs.push(Math.round(performance.now() - t));
  }
  console.log(
    cipher,
    'ours',
    ours.join(' '),
    'scp',
    theirs.join(' '),
    'rss',
    Math.round(process.memoryUsage().rss / 1e6),
  );
  client.end();
}
